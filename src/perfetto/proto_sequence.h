// SPDX-License-Identifier: MIT
// One packet sequence of a Perfetto trace: the events of one track, or of a stretch of it. Times
// are differences to the packet before, and every text is spelled out once and then told by its
// number. A sequence depends on no other, so that any number can be written at the same time, and
// a trace may hold as many as it likes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "perfetto/proto_fields.h"
#include "perfetto/proto_text.h"
#include "perfetto/proto_writer.h"

namespace nsys::perfetto {

// Which texts a sequence has told so far. Forgetting all is a step of a counter.
class Interner {
 public:
  explicit Interner(size_t texts) : known_(texts) {}
  void Forget() {
    ++sequence_;
    next_ = 1;
  }
  // The number of `text`, and whether it is told now for the first time.
  struct Number {
    uint32_t iid;
    bool first;
  };
  Number Of(uint32_t text) {
    Known& known = known_[text];
    if (known.sequence == sequence_) {
      return {known.iid, false};
    }
    known = {.sequence = sequence_, .iid = next_};
    return {next_++, true};
  }

 private:
  struct Known {
    uint32_t sequence = 0;
    uint32_t iid = 0;
  };
  std::vector<Known> known_;
  uint32_t sequence_ = 0;
  uint32_t next_ = 1;
};

class ProtoSequence {
 public:
  explicit ProtoSequence(const ProtoTexts& texts);

  // Starts the sequence `id` (from 1 on) for the track `uuid`; packets go to `out`.
  void Start(uint32_t id, uint64_t uuid, ProtoBuffer& out);

  // An event: Open, what it says, Close. Times are nanoseconds since the origin of the trace and
  // must not descend within a sequence.
  void OpenSlice(uint32_t category, uint32_t name) { Open(kSliceBegin, category, name); }
  void OpenInstant(uint32_t category, uint32_t name) { Open(kInstant, category, name); }
  void FlowOut(uint64_t id) {
    event_.Reserve(kRoom);
    event_.Fixed64(EventField::kFlow, id);
  }
  void FlowIn(uint64_t id) {
    event_.Reserve(kRoom);
    event_.Fixed64(EventField::kTerminatingFlow, id);
  }
  void Arg(uint32_t name, int64_t value) {
    BeginArg(name, 1 + VarintSize(static_cast<uint64_t>(value)));
    event_.Int(ArgField::kInt, value);
  }
  void ArgUint(uint32_t name, uint64_t value) {
    BeginArg(name, 1 + VarintSize(value));
    event_.Uint(ArgField::kUint, value);
  }
  void ArgDouble(uint32_t name, double value) {
    BeginArg(name, 9);
    event_.Double(ArgField::kDouble, value);
  }
  void ArgTrue(uint32_t name) {
    BeginArg(name, 2);
    event_.Uint(ArgField::kBool, 1);
  }
  // A text that comes again, as a number of ProtoTexts.
  void ArgInterned(uint32_t name, uint32_t text) {
    const uint32_t iid = ValueIid(text);
    BeginArg(name, 2 + VarintSize(iid));
    event_.Uint(ArgField::kTextIid, iid);
  }
  // A text that does not.
  void ArgText(uint32_t name, std::string_view text) {
    BeginArg(name, 1 + VarintSize(text.size()) + text.size());
    event_.Text(ArgField::kText, text);
  }
  void ArgNumbers(uint32_t name, int64_t x, int64_t y, int64_t z);
  // A list of texts that come again: BeginList, Item for each, EndList.
  size_t BeginList(uint32_t name);
  void Item(uint32_t text);
  void EndList(size_t begin);
  void Close(int64_t ts);

  void EndSlice(int64_t ts);
  void Counter(int64_t ts, int64_t value);

  // Packets since Start.
  int64_t packets() const { return packets_; }

 private:
  static constexpr uint32_t kSliceBegin = 1;
  static constexpr uint32_t kSliceEnd = 2;
  static constexpr uint32_t kInstant = 3;
  static constexpr uint32_t kCounter = 4;
  static constexpr size_t kRoom = 64;  // more than any one argument without its text

  void Open(uint32_t type, uint32_t category, uint32_t name);
  // What stands before the value of an argument; makes room for the value, of `bytes`, too.
  void BeginArg(uint32_t name, size_t bytes) {
    const uint32_t iid = ArgIid(name);
    event_.Reserve(kRoom + bytes);
    event_.Length(EventField::kArg, 1 + VarintSize(iid) + bytes);
    event_.Uint(ArgField::kNameIid, iid);
  }
  uint32_t ValueIid(uint32_t text) {
    const auto [iid, first] = values_.Of(text);
    if (first) {
      Tell(InternedField::kArgText, iid, texts_.Get(text));
    }
    return iid;
  }
  uint32_t ArgIid(uint32_t name) {
    const auto [iid, first] = args_.Of(name);
    if (first) {
      Tell(InternedField::kArgName, iid, texts_.ArgName(name));
    }
    return iid;
  }
  void Tell(uint32_t field, uint32_t iid, std::string_view text);
  void BeginPacket(int64_t ts, size_t body);

  const ProtoTexts& texts_;
  Interner names_;
  Interner values_;
  Interner args_;
  Interner categories_;
  ProtoBuffer event_;     // the TrackEvent being written
  ProtoBuffer interned_;  // the texts that it tells for the first time
  ProtoBuffer* out_ = nullptr;
  uint32_t id_ = 0;
  size_t id_bytes_ = 0;
  int64_t now_ = 0;
  int64_t packets_ = 0;
};

}  // namespace nsys::perfetto

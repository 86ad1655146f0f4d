// SPDX-License-Identifier: MIT
#include "perfetto/proto_sequence.h"

namespace nsys::perfetto {
namespace {

constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kNeedsState = 2;

constexpr uint64_t kTraceClock = 6;    // boot time: Perfetto's clock for a trace
constexpr uint64_t kDifferences = 64;  // the first of the clocks that belong to a sequence

void WriteClock(ProtoBuffer& out, uint64_t clock, bool incremental) {
  const size_t part = out.BeginPart(ClockSnapshotField::kClock);
  out.Uint(ClockField::kId, clock);
  out.Uint(ClockField::kTimestamp, 0);
  if (incremental) {
    out.Uint(ClockField::kIsIncremental, 1);
  }
  out.EndPart(part);
}

}  // namespace

ProtoSequence::ProtoSequence(const ProtoTexts& texts)
    : texts_(texts),
      names_(texts.size()),
      values_(texts.size()),
      args_(texts.arg_count()),
      categories_(ProtoTexts::category_count()) {}

// The clock of differences starts at 0 of the trace's clock in every sequence: snapshots that
// agree with each other in whatever order they are read.
void ProtoSequence::Start(uint32_t id, uint64_t uuid, ProtoBuffer& out) {
  out_ = &out;
  id_ = id;
  id_bytes_ = VarintSize(id);
  now_ = 0;
  packets_ = 1;
  names_.Forget();
  values_.Forget();
  args_.Forget();
  categories_.Forget();

  out.Reserve(256);
  const size_t packet = out.BeginPart(TraceField::kPacket);
  out.Uint(PacketField::kSequenceId, id);
  out.Uint(PacketField::kSequenceFlags, kStateCleared | kNeedsState);
  const size_t snapshot = out.BeginPart(PacketField::kClockSnapshot);
  WriteClock(out, kTraceClock, false);
  WriteClock(out, kDifferences, true);
  out.EndPart(snapshot);
  const size_t defaults = out.BeginPart(PacketField::kDefaults);
  const size_t event = out.BeginPart(DefaultsField::kTrackEvent);
  out.Uint(EventField::kTrackUuid, uuid);
  out.EndPart(event);
  out.Uint(DefaultsField::kClock, kDifferences);
  out.EndPart(defaults);
  out.Uint(PacketField::kFirstPacket, 1);
  out.EndPart(packet);
}

void ProtoSequence::Open(uint32_t type, uint32_t category, uint32_t name) {
  event_.Clear();
  interned_.Clear();
  event_.Reserve(kRoom);
  const auto [category_iid, first_category] = categories_.Of(category);
  if (first_category) {
    Tell(InternedField::kCategory, category_iid, ProtoTexts::Category(category));
  }
  event_.Uint(EventField::kCategoryIid, category_iid);
  event_.Uint(EventField::kType, type);
  const auto [name_iid, first_name] = names_.Of(name);
  if (first_name) {
    Tell(InternedField::kEventName, name_iid, texts_.Get(name));
  }
  event_.Uint(EventField::kNameIid, name_iid);
}

void ProtoSequence::Tell(uint32_t field, uint32_t iid, std::string_view text) {
  interned_.Reserve(kRoom + text.size());
  interned_.Length(field, 1 + VarintSize(iid) + 1 + VarintSize(text.size()) + text.size());
  interned_.Uint(InternedTextField::kIid, iid);
  interned_.Text(InternedTextField::kText, text);
}

void ProtoSequence::ArgNumbers(uint32_t name, int64_t x, int64_t y, int64_t z) {
  const size_t sizes[] = {VarintSize(static_cast<uint64_t>(x)),
                          VarintSize(static_cast<uint64_t>(y)),
                          VarintSize(static_cast<uint64_t>(z))};
  BeginArg(name, 3 * 3 + sizes[0] + sizes[1] + sizes[2]);
  const int64_t values[] = {x, y, z};
  for (size_t i = 0; i < 3; ++i) {
    event_.Length(ArgField::kItem, 1 + sizes[i]);
    event_.Int(ArgField::kInt, values[i]);
  }
}

size_t ProtoSequence::BeginList(uint32_t name) {
  const uint32_t iid = ArgIid(name);
  event_.Reserve(kRoom);
  const size_t begin = event_.BeginPart(EventField::kArg);
  event_.Uint(ArgField::kNameIid, iid);
  return begin;
}

void ProtoSequence::Item(uint32_t text) {
  const uint32_t iid = ValueIid(text);
  event_.Reserve(kRoom);
  event_.Length(ArgField::kItem, 2 + VarintSize(iid));
  event_.Uint(ArgField::kTextIid, iid);
}

void ProtoSequence::EndList(size_t begin) {
  event_.Reserve(kRoom);
  event_.EndPart(begin);
}

void ProtoSequence::BeginPacket(int64_t ts, size_t body) {
  const auto step = static_cast<uint64_t>(ts - now_);
  now_ = ts;
  ++packets_;
  const size_t head = 1 + VarintSize(step) + 1 + id_bytes_ + 2;
  out_->Reserve(2 * ProtoBuffer::kFieldBytes + head + body);
  out_->Length(TraceField::kPacket, head + body);
  out_->Uint(PacketField::kTimestamp, step);
  out_->Uint(PacketField::kSequenceId, id_);
  out_->Uint(PacketField::kSequenceFlags, kNeedsState);
}

void ProtoSequence::Close(int64_t ts) {
  const size_t interned =
      interned_.empty() ? 0 : 1 + VarintSize(interned_.size()) + interned_.size();
  BeginPacket(ts, interned + 1 + VarintSize(event_.size()) + event_.size());
  if (interned > 0) {
    out_->Text(PacketField::kInternedData, interned_.view());
  }
  out_->Text(PacketField::kTrackEvent, event_.view());
}

void ProtoSequence::EndSlice(int64_t ts) {
  BeginPacket(ts, 4);
  out_->Length(PacketField::kTrackEvent, 2);
  out_->Uint(EventField::kType, kSliceEnd);
}

void ProtoSequence::Counter(int64_t ts, int64_t value) {
  const size_t event = 2 + 2 + VarintSize(static_cast<uint64_t>(value));
  BeginPacket(ts, 1 + VarintSize(event) + event);
  out_->Length(PacketField::kTrackEvent, event);
  out_->Uint(EventField::kType, kCounter);
  out_->Int(EventField::kCounterValue, value);
}

}  // namespace nsys::perfetto

// SPDX-License-Identifier: MIT
// Tracks of tables drawn on request, while they are made: rows ask for a lane of what they are
// about; at the end tracks get their order and numbers, and slices and samples lie by track.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "perfetto/lanes.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// What a track is about, whatever its lanes. Tracks stand in the order of their subjects.
struct ExtraSubject {
  uint32_t group = 0;
  TrackKind kind = TrackKind::kCounter;
  int64_t first = 0;        // context, thread, or the sort of a counter
  int64_t second = 0;       // stream, or number of a counter
  bool proto_only = false;  // of its tracks; no part of the key
  auto key() const { return std::tie(group, kind, first, second); }
  bool operator<(const ExtraSubject& other) const { return key() < other.key(); }
};

class ExtraTracks {
 public:
  ExtraTracks(const Trace& trace, Layout& layout) : trace_(trace), layout_(layout) {}

  // The number of a subject. `name` says what its tracks are called, without their lane; it is
  // asked once.
  template <typename Name>
  uint32_t Subject(const ExtraSubject& subject, const Name& name) {
    const auto [at, first] = numbers_.try_emplace(subject, static_cast<uint32_t>(subjects_.size()));
    if (first) {
      subjects_.push_back({.about = subject, .name = name(), .lanes = {}, .tracks = {}});
    }
    return at->second;
  }

  // The place of a text in layout.texts.
  uint32_t Text(std::string_view text);

  using Arg = std::pair<uint32_t, int64_t>;  // name as Text, number
  // Slices of a subject come by (start, end), and samples by time.
  void Slice(uint32_t subject, Span span, uint32_t name, std::initializer_list<Arg> args = {});
  void Sample(uint32_t subject, int64_t time_ns, int64_t value);

  // Puts everything into the layout. Once.
  void Finish();

 private:
  struct SubjectState {
    ExtraSubject about;
    std::string name;
    IntervalLanes lanes;
    std::vector<uint32_t> tracks;  // by lane: of planned_
  };
  struct PlannedTrack {
    uint32_t subject = 0;
    uint32_t lane = 0;
  };

  uint32_t TrackOf(uint32_t subject, uint32_t lane);
  std::vector<uint32_t> AddTracks();
  Track Finished(const PlannedTrack& planned) const;
  void SetSortIndices(size_t first);
  void MoveOrigin();

  const Trace& trace_;
  Layout& layout_;
  std::map<ExtraSubject, uint32_t> numbers_;
  std::vector<SubjectState> subjects_;
  std::vector<PlannedTrack> planned_;
  std::map<std::string, uint32_t, std::less<>> texts_;
  std::vector<ExtraSlice> slices_;
  std::vector<CounterSample> samples_;
};

}  // namespace nsys::perfetto

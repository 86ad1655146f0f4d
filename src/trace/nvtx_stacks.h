// SPDX-License-Identifier: MIT
// Which NVTX ranges were open around an API call. Push-pop ranges form one stack per thread and
// domain; one sweep over all ranges and all calls in time order keeps every stack at once, so the
// cost is linear in both and never that of a range join.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace nsys {

inline constexpr int32_t kNvtxPushPop = 59;   // nests per thread and domain
inline constexpr int32_t kNvtxStartEnd = 60;  // may end on another thread and overlap at will

// For each call of a list, the push-pop ranges that enclose it.
class RangePaths {
 public:
  // Rows of trace.nvtx, outermost first: ordered by (duration descending, start, text). Ranges of
  // all domains of the call's thread take part. Empty when nothing encloses the call.
  std::span<const uint32_t> Path(size_t call_position) const {
    return {ranges_.data() + begins_[call_position],
            begins_[call_position + 1] - begins_[call_position]};
  }

 private:
  friend RangePaths EnclosingRanges(const Trace& trace, std::span<const uint32_t> calls);
  std::vector<size_t> begins_ = {0};
  std::vector<uint32_t> ranges_;
};

// The paths of `calls`, which are rows of trace.calls in ascending order. A range encloses a call
// when it is of type 59, has a name and a length, lies on the call's thread, and range.start <=
// call.start and range.end >= call.end. Needs kTime, kThread, kName, kKind of NVTX; kTime, kThread
// of the calls.
RangePaths EnclosingRanges(const Trace& trace, std::span<const uint32_t> calls);

// The same paths one after the other, for what can do with one at a time: `visit` gets the position
// in `calls` and the path, which is valid during the visit only.
void ForEachPath(const Trace& trace, std::span<const uint32_t> calls,
                 const std::function<void(size_t, std::span<const uint32_t>)>& visit);

// For each of `calls`, whether any range encloses it: one byte each, where paths could be long.
// With `counts`, only rows of trace.nvtx for which it holds.
std::vector<uint8_t> AreEnclosed(const Trace& trace, std::span<const uint32_t> calls,
                                 const std::function<bool(uint32_t)>& counts = nullptr);

// The innermost range of `path`, which must not be empty: the shortest; ties go to the earliest,
// then to the first text.
uint32_t InnermostRange(const Trace& trace, std::span<const uint32_t> path);

// The texts of a path joined with " > ".
std::string PathText(const Trace& trace, std::span<const uint32_t> path);

}  // namespace nsys

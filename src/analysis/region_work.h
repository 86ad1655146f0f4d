// SPDX-License-Identifier: MIT
// The GPU work of a named region: of one NVTX range, or of all kernels of a name.
//
// The work of a range are the kernels whose launch call lies wholly inside it on the range's own
// thread (trace/launches.h links calls and kernels per process); they may run after it has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/views.h"
#include "trace/reads.h"

namespace nsys {

enum class TextMatch { kContains, kExact, kStartsWith };
std::optional<TextMatch> ParseTextMatch(std::string_view text);  // contains, exact, startswith

struct WorkQuery {
  std::string name;
  TextMatch match = TextMatch::kContains;  // literal, case-sensitive
  int64_t occurrence = 1;                  // of a range, from 1
  std::optional<int64_t> device = {};      // only kernels on it
};

// Sums are over kernels; unions count overlapping kernels once.
struct DeviceWork {
  int64_t device = 0;
  int64_t kernel_count = 0;
  int64_t sum_ns = 0;
  int64_t union_ns = 0;
};

struct RegionWork {
  std::string matched_text;
  Span span;            // of the range; of kernels, first start to last end
  int64_t wall_ns = 0;  // length of the range; of kernels, that of the span
  int64_t kernel_count = 0;
  int64_t sum_ns = 0;
  int64_t union_ns = 0;             // of all devices and streams together
  std::vector<DeviceWork> devices;  // ascending; kernels without a device number are not in it
  std::vector<int64_t> streams;     // ascending
  std::string note;                 // how the name was matched, where that is not plain
};

// Why there is no such work: a stable code, and a sentence.
struct RegionProblem {
  std::string code;
  std::string message;
};

// What the two functions below read: for any region, and for the ranges that match a name.
Reads RegionReads(RowKind ranges = RowKind::kEvery);
Reads RegionReadsOf(std::string name, TextMatch match);

// Of the ranges of any type with a name and a length that match, ordered by (start, longer first,
// text, thread), the one of that number. An exact name that no text equals is compared with normal
// labels (trace/nvtx_labels.h). Problems: NVTX_NOT_FOUND, INVALID_ARGUMENT (occurrence below 1),
// NVTX_OCCURRENCE_OUT_OF_RANGE, NO_KERNELS_IN_REGION. Needs kTime, kThread, kName of NVTX, kTime,
// kThread, kCorrelation of calls, kTime, kLane, kCorrelation of kernels.
std::variant<RegionWork, RegionProblem> WorkOfRange(Views& views, const WorkQuery& query);

// All kernels with a length whose short name matches; the demangled name where no short one does.
// Problem: KERNEL_NOT_FOUND. Needs kTime, kLane, kCorrelation, kName of kernels.
std::variant<RegionWork, RegionProblem> WorkOfKernels(Views& views, const WorkQuery& query);

}  // namespace nsys

// SPDX-License-Identifier: MIT
// Which annotated range launched each kernel?
//
// A kernel belongs to the push-pop ranges that enclose its launch call on the launching thread
// (trace/nvtx_stacks.h); the innermost names it. Containment is that of the call: the kernel may
// run long after the range has closed. Kernels without a call or a range are left out. Order:
// kernel start, kernel end, kernel name, path.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"
#include "trace/launches.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

std::string EventTypeName(int32_t type) {
  switch (type) {
    case 33:
      return "category";
    case 34:
      return "mark";
    case 39:
      return "thread name";
    case kNvtxStartEnd:
      return "start-end range";
    case 70:
      return "push-pop range from text";
    case 71:
      return "start-end range from text";
    case 75:
      return "domain";
    case 76:
      return "end of a domain";
    default:
      return "other";
  }
}

// An abstention when NVTX rows exist but none is a push-pop range, so that no stack can be built.
std::optional<Answer> AbstainWithoutPushPop(const Trace& trace) {
  const auto& types = trace.nvtx.event_type;
  if (types.empty() || std::find(types.begin(), types.end(), kNvtxPushPop) != types.end()) {
    return std::nullopt;
  }
  const std::set<int32_t> distinct(types.begin(), types.end());
  if (distinct.contains(kNvtxStartEnd)) {
    return Answer::Abstain(
        "This capture annotates with start-end ranges only. They may end on another thread and "
        "overlap at will, so no range can be "
        "said to enclose a launch; annotate with push-pop ranges (nvtxRangePush, "
        "torch.cuda.nvtx.range).",
        {{"nvtx_event_types", std::to_string(kNvtxStartEnd)}});
  }
  std::vector<std::string> numbers;
  std::vector<std::string> words;
  for (const int32_t type : distinct) {
    numbers.push_back(std::to_string(type));
    words.push_back(fmt::format("{} ({})", type, EventTypeName(type)));
  }
  return Answer::Abstain(
      fmt::format("The NVTX rows of this capture are no push-pop ranges, but of type {}.",
                  Join(words, ", ")),
      {{"nvtx_event_types", Join(numbers, ",")}});
}

// A kernel and the API call that launched it.
struct Launch {
  uint32_t kernel;
  uint32_t call;
};

struct Attributed {
  std::vector<Launch> launches;  // enclosed by some range
  size_t outside = 0;            // launched outside of any range
  size_t without_call = 0;       // no call in the capture, mostly launched before it began
};

// The distinct calls of `launches`, ascending.
std::vector<uint32_t> CallsOf(std::span<const Launch> launches) {
  std::vector<uint32_t> calls;
  calls.reserve(launches.size());
  for (const Launch& launch : launches) {
    calls.push_back(launch.call);
  }
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

size_t PositionOf(const std::vector<uint32_t>& calls, uint32_t call) {
  return static_cast<size_t>(std::lower_bound(calls.begin(), calls.end(), call) - calls.begin());
}

// The kernels inside the window, by what is known of their launch.
Attributed Attribute(const Query& query) {
  const Trace& trace = query.trace;
  const std::vector<uint32_t> links = LinkLaunches(trace, trace.kernels);
  Attributed result;
  for (uint32_t kernel = 0; kernel < links.size(); ++kernel) {
    if (!Contains(query.window, trace.kernels.start_ns[kernel], trace.kernels.end_ns[kernel])) {
      continue;
    }
    if (links[kernel] == kNoCall) {
      ++result.without_call;
    } else {
      result.launches.push_back({kernel, links[kernel]});
    }
  }
  const std::vector<uint32_t> calls = CallsOf(result.launches);
  const std::vector<uint8_t> enclosed = AreEnclosed(trace, calls);
  result.outside = std::erase_if(result.launches, [&](const Launch& launch) {
    return enclosed[PositionOf(calls, launch.call)] == 0;
  });
  return result;
}

auto TimeAndName(const Trace& trace, uint32_t kernel) {
  const KernelTable& kernels = trace.kernels;
  return std::tuple(kernels.start_ns[kernel], kernels.end_ns[kernel],
                    trace.Text(kernels.name[kernel]));
}

// Keeps the launches that can be among the first `limit` rows: the first by time and name, and all
// that tie with the last of them. Only these need a path.
void KeepCandidates(const Trace& trace, size_t limit, std::vector<Launch>& launches) {
  if (launches.size() <= limit) {
    return;
  }
  const auto earlier = [&](const Launch& a, const Launch& b) {
    return TimeAndName(trace, a.kernel) < TimeAndName(trace, b.kernel);
  };
  const auto last = launches.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(limit, 1) - 1);
  std::nth_element(launches.begin(), last, launches.end(), earlier);
  const Launch bound = *last;
  std::erase_if(launches, [&](const Launch& launch) { return earlier(bound, launch); });
}

// The order of rows; paths are compared only where all else is equal.
void SortRows(const Trace& trace, const std::vector<uint32_t>& calls, const RangePaths& paths,
              std::vector<Launch>& launches) {
  const auto path_text = [&](const Launch& launch) {
    return PathText(trace, paths.Path(PositionOf(calls, launch.call)));
  };
  std::sort(launches.begin(), launches.end(), [&](const Launch& a, const Launch& b) {
    const auto key_a = TimeAndName(trace, a.kernel);
    const auto key_b = TimeAndName(trace, b.kernel);
    if (key_a != key_b) {
      return key_a < key_b;
    }
    if (a.call != b.call) {
      const std::string path_a = path_text(a);
      const std::string path_b = path_text(b);
      if (path_a != path_b) {
        return path_a < path_b;
      }
    }
    return std::tuple(trace.kernels.lane[a.kernel], a.call) <
           std::tuple(trace.kernels.lane[b.kernel], b.call);
  });
}

Object MakeRow(const Trace& trace, uint32_t kernel, std::span<const uint32_t> path) {
  const KernelTable& kernels = trace.kernels;
  const double start_ms = static_cast<double>(kernels.start_ns[kernel]) / 1e6;
  const double end_ms = static_cast<double>(kernels.end_ns[kernel]) / 1e6;
  const Lane& lane = trace.LaneOf(kernels, kernel);
  return {{"nvtx_text", trace.Text(trace.nvtx.text[InnermostRange(trace, path)])},
          {"nvtx_path", PathText(trace, path)},
          {"kernel_name", trace.Text(kernels.name[kernel])},
          {"start_ms", RoundHalfEven(start_ms, 3)},
          {"end_ms", RoundHalfEven(end_ms, 3)},
          {"start_ns", kernels.start_ns[kernel]},
          {"end_ns", kernels.end_ns[kernel]},
          {"device_id", lane.device}};
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  if (auto abstention = AbstainWithoutPushPop(trace)) {
    return *std::move(abstention);
  }
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Attributed attributed = Attribute(query);
  const size_t total = attributed.launches.size();
  KeepCandidates(trace, limit, attributed.launches);
  const std::vector<uint32_t> calls = CallsOf(attributed.launches);
  const RangePaths paths = EnclosingRanges(trace, calls);
  SortRows(trace, calls, paths, attributed.launches);
  Answer answer;
  for (size_t i = 0; i < attributed.launches.size() && i < limit; ++i) {
    const Launch& launch = attributed.launches[i];
    answer.rows.push_back(
        MakeRow(trace, launch.kernel, paths.Path(PositionOf(calls, launch.call))));
  }
  answer.notes.push_back(
      fmt::format("{} of {} attributed kernels, all GPUs; {} more were launched outside of any "
                  "range, {} have no "
                  "launch call in the capture.",
                  answer.rows.size(), total, attributed.outside, attributed.without_call));
  const auto start_end =
      std::count(trace.nvtx.event_type.begin(), trace.nvtx.event_type.end(), kNvtxStartEnd);
  if (start_end > 0) {
    answer.notes.push_back(
        fmt::format("{} left out: they need not nest.", Counted(start_end, "start-end range")));
  }
  return answer;
}

std::string DurationOfRow(const Object& row) {
  return FormatDuration(*row.Find("end_ns")->AsInt() - *row.Find("start_ns")->AsInt());
}

}  // namespace

Skill skill_nvtx_kernel_map() {
  return {
      .name = "nvtx_kernel_map",
      .category = Category::kNvtx,
      .title = "NVTX → Kernel Mapping",
      .doc =
          "Attributes kernels to the innermost NVTX range that encloses their launch: from a "
          "kernel back to the code.",
      .needs = {TableId::kNvtx, TableId::kRuntime, TableId::kKernel, TableId::kStringIds},
      .reads = {{TableId::kKernel,
                 {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
                {TableId::kRuntime, {Column::kTime, Column::kThread, Column::kCorrelation}},
                {TableId::kNvtx, {Column::kTime, Column::kThread, Column::kName, Column::kKind}}},
      .params = {Param::Count("limit", 50, "largest number of kernels to list")},
      .columns = {{"nvtx_text", Unit::kText, "innermost range around the launch", "Range"},
                  {"nvtx_path", Unit::kText,
                   "all ranges around the launch, outermost first, joined with ' > '"},
                  {"kernel_name", Unit::kText, "demangled name, else short name", "Kernel"},
                  {"start_ms", Unit::kMs, "kernel start on the capture's clock"},
                  {"end_ms", Unit::kMs, "kernel end on the capture's clock"},
                  {"start_ns", Unit::kTimeNs, "kernel start, exact", "Kernel start ns"},
                  {"end_ns", Unit::kTimeNs, "kernel end, exact", "Duration", DurationOfRow},
                  {"device_id", Unit::kId, "CUDA device", "Device"}},
      .empty_text = "no kernel was launched inside a range",
      .run = Run};
}

}  // namespace nsys

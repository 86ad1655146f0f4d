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

struct Attribution {
  uint32_t kernel;
  size_t call_position;  // in the list of calls, and so in the paths
};

// Kernels inside the window with a launch call, and the distinct calls that launched them.
struct Launched {
  std::vector<uint32_t> calls;  // ascending
  std::vector<Attribution> kernels;
};

Launched LaunchedKernels(const Query& query) {
  const Trace& trace = query.trace;
  const std::vector<uint32_t> links = LinkLaunches(trace, trace.kernels);
  Launched launched;
  for (uint32_t kernel = 0; kernel < links.size(); ++kernel) {
    if (links[kernel] == kNoCall ||
        !Contains(query.window, trace.kernels.start_ns[kernel], trace.kernels.end_ns[kernel])) {
      continue;
    }
    launched.calls.push_back(links[kernel]);
    launched.kernels.push_back({kernel, 0});
  }
  std::sort(launched.calls.begin(), launched.calls.end());
  launched.calls.erase(std::unique(launched.calls.begin(), launched.calls.end()),
                       launched.calls.end());
  for (Attribution& one : launched.kernels) {
    const auto at =
        std::lower_bound(launched.calls.begin(), launched.calls.end(), links[one.kernel]);
    one.call_position = static_cast<size_t>(at - launched.calls.begin());
  }
  return launched;
}

// The order of rows; paths are compared as joined texts, and only where all else is equal.
bool Before(const Trace& trace, const Launched& launched, const RangePaths& paths,
            const Attribution& a, const Attribution& b) {
  const KernelTable& kernels = trace.kernels;
  if (kernels.start_ns[a.kernel] != kernels.start_ns[b.kernel]) {
    return kernels.start_ns[a.kernel] < kernels.start_ns[b.kernel];
  }
  if (kernels.end_ns[a.kernel] != kernels.end_ns[b.kernel]) {
    return kernels.end_ns[a.kernel] < kernels.end_ns[b.kernel];
  }
  const auto name_a = trace.Text(kernels.name[a.kernel]);
  const auto name_b = trace.Text(kernels.name[b.kernel]);
  if (name_a != name_b) {
    return name_a < name_b;
  }
  const std::string path_a = PathText(trace, paths.Path(a.call_position));
  const std::string path_b = PathText(trace, paths.Path(b.call_position));
  if (path_a != path_b) {
    return path_a < path_b;
  }
  if (kernels.lane[a.kernel] != kernels.lane[b.kernel]) {
    return kernels.lane[a.kernel] < kernels.lane[b.kernel];
  }
  return launched.calls[a.call_position] < launched.calls[b.call_position];
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
          {"device_id", lane.device ? Value(*lane.device) : Value()}};
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  if (auto abstention = AbstainWithoutPushPop(trace)) {
    return *std::move(abstention);
  }
  Launched launched = LaunchedKernels(query);
  const RangePaths paths = EnclosingRanges(trace, launched.calls);
  const size_t linked = launched.kernels.size();
  std::erase_if(launched.kernels,
                [&](const Attribution& one) { return paths.Path(one.call_position).empty(); });
  const size_t shown =
      std::min(launched.kernels.size(), static_cast<size_t>(query.params.Int("limit")));
  std::partial_sort(launched.kernels.begin(),
                    launched.kernels.begin() + static_cast<std::ptrdiff_t>(shown),
                    launched.kernels.end(), [&](const Attribution& a, const Attribution& b) {
                      return Before(trace, launched, paths, a, b);
                    });
  Answer answer;
  for (size_t i = 0; i < shown; ++i) {
    const Attribution& one = launched.kernels[i];
    answer.rows.push_back(MakeRow(trace, one.kernel, paths.Path(one.call_position)));
  }
  answer.notes.push_back(fmt::format(
      "{} of {} attributed kernels, all GPUs; {} more were launched outside of any range.", shown,
      launched.kernels.size(), linked - launched.kernels.size()));
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

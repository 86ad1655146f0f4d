// SPDX-License-Identifier: MIT
// Which annotated range launched each kernel?
//
// A kernel belongs to the push-pop ranges that enclose its launch call on the launching thread
// (trace/nvtx_stacks.h); the innermost names it. Containment is that of the call: the kernel may
// run long after the range has closed. Kernels without a call or a range are left out; with `name`,
// also those with no range of such a text around their launch. Order: kernel start, kernel end,
// kernel name, path.
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>

#include <fmt/core.h>

#include "analysis/attribution.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

// The kernels inside the window, by what is known of their launch.
struct Attributed {
  std::vector<Launch> launches;  // enclosed by some range, and by a range of the wanted name
  size_t outside = 0;            // launched outside of any range
  size_t without_call = 0;       // no call in the capture, mostly launched before it began
};

// Whether the text of a range holds `name`, letters compared without case; once per text.
std::function<bool(uint32_t)> HoldsName(const Trace& trace, const std::string& name) {
  auto known = std::make_shared<std::unordered_map<uint32_t, bool>>();
  return [&trace, name, known](uint32_t range) {
    const StringId text = trace.nvtx.text[range];
    const auto [at, is_new] = known->try_emplace(Index(text), false);
    if (is_new) {
      at->second = ContainsIgnoreCase(trace.Text(text), name);
    }
    return at->second;
  };
}

// Leaves out the launches that `counts` of the ranges around them does not hold for.
size_t EraseOutside(const Trace& trace, const std::function<bool(uint32_t)>& counts,
                    std::vector<Launch>& launches) {
  const std::vector<uint32_t> calls = CallsOf(launches);
  const std::vector<uint8_t> enclosed = AreEnclosed(trace, calls, counts);
  std::vector<uint8_t> kept(trace.calls.size());  // by call
  for (size_t i = 0; i < calls.size(); ++i) {
    kept[calls[i]] = enclosed[i];
  }
  return std::erase_if(launches, [&](const Launch& launch) { return kept[launch.call] == 0; });
}

Attributed FindAttributed(const Query& query) {
  Launches inside = LaunchesInside(query.views, query.window);
  Attributed result{.launches = std::move(inside.launches), .without_call = inside.without_call};
  result.outside = EraseOutside(query.trace, nullptr, result.launches);
  if (const std::string& name = query.params.Text("name"); !name.empty()) {
    EraseOutside(query.trace, HoldsName(query.trace, name), result.launches);
  }
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
  Attributed attributed = FindAttributed(query);
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
  const std::string& name = query.params.Text("name");
  answer.notes.push_back(fmt::format(
      "{} of {} attributed kernels{}, all GPUs; {} more were launched outside of any range, {} "
      "have no launch call in the capture.",
      answer.rows.size(), total, name.empty() ? "" : fmt::format(" in ranges that hold '{}'", name),
      attributed.outside, attributed.without_call));
  if (auto note = StartEndNote(trace)) {
    answer.notes.push_back(*std::move(note));
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
      .reads = AttributionReads(),
      .reads_for = AttributionReadsIn,
      .params = {Param::Count("limit", 50, "largest number of kernels to list"),
                 Param::Text("name", "",
                             "only kernels with a range around their launch whose text holds this, "
                             "literally, case ignored; empty: all")},
      .columns = {{"nvtx_text", Unit::kText, "innermost range around the launch", "Range"},
                  {"nvtx_path", Unit::kText,
                   "all ranges around the launch, outermost first, joined with ' > '"},
                  {"kernel_name", Unit::kText, "demangled name, else short name", "Kernel"},
                  {"start_ms", Unit::kMs, "kernel start on the capture's clock"},
                  {"end_ms", Unit::kMs, "kernel end on the capture's clock"},
                  {"start_ns", Unit::kTimeNs, "kernel start, exact", "Kernel start ns"},
                  {"end_ns", Unit::kTimeNs, "kernel end, exact", "Duration", DurationOfRow},
                  {"device_id", Unit::kId, "CUDA device", "Device"}},
      .empty_text = "no kernel was launched inside such a range",
      .run = Run};
}

}  // namespace nsys

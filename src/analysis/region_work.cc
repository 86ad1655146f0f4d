// SPDX-License-Identifier: MIT
#include "analysis/region_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "trace/launches.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

bool Matches(std::string_view text, const WorkQuery& query) {
  switch (query.match) {
    case TextMatch::kContains:
      return text.find(query.name) != std::string_view::npos;
    case TextMatch::kExact:
      return text == query.name;
    case TextMatch::kStartsWith:
      return text.starts_with(query.name);
  }
  return false;
}

// Rows of trace.nvtx with a length whose text passes, in no order.
template <typename Test>
std::vector<uint32_t> RangesWith(const Trace& trace, Test test) {
  OncePerText<Test> passes(std::move(test));
  std::vector<uint32_t> found;
  for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
    if (trace.nvtx.end_ns[row] > trace.nvtx.start_ns[row] && passes(trace.nvtx.text[row])) {
      found.push_back(row);
    }
  }
  return found;
}

ThreadId ThreadOf(const Trace& trace, uint32_t range) {
  const NvtxLaneId lane = trace.nvtx.lane[range];
  return lane == NvtxLaneId::kNone ? ThreadId::kNone : trace.nvtx_lanes[Index(lane)].thread;
}

// Adds up the kernels of a region.
class WorkSum {
 public:
  explicit WorkSum(const Trace& trace) : trace_(trace) {}

  void Add(uint32_t kernel) {
    const Span span = trace_.kernels.span(kernel);
    const Lane& lane = trace_.LaneOf(trace_.kernels, kernel);
    spans_.push_back(span);
    hull_.Add(span);
    work_.sum_ns += span.length_ns();
    if (lane.stream) {
      streams_.insert(*lane.stream);
    }
    if (lane.device) {
      auto& [device, spans] = devices_[*lane.device];
      ++device.kernel_count;
      device.sum_ns += span.length_ns();
      spans.push_back(span);
    }
  }

  bool empty() const { return spans_.empty(); }

  // Everything but the text and the note; `wall` is that of a range, else of the kernels.
  RegionWork Finish(std::optional<Span> wall) {
    work_.kernel_count = std::ssize(spans_);
    work_.union_ns = Length(Union(std::move(spans_)));
    work_.span = wall ? *wall : *hull_.span();
    work_.wall_ns = work_.span.length_ns();
    work_.streams.assign(streams_.begin(), streams_.end());
    for (auto& [number, found] : devices_) {
      found.first.device = number;
      found.first.union_ns = Length(Union(std::move(found.second)));
      work_.devices.push_back(found.first);
    }
    return std::move(work_);
  }

 private:
  const Trace& trace_;
  std::vector<Span> spans_;
  Hull hull_;
  std::set<int64_t> streams_;
  std::map<int64_t, std::pair<DeviceWork, std::vector<Span>>> devices_;
  RegionWork work_;
};

bool IsWanted(const Trace& trace, uint32_t kernel, const WorkQuery& query) {
  return trace.kernels.end_ns[kernel] > trace.kernels.start_ns[kernel] &&
         (!query.device || trace.DeviceOf(trace.kernels, kernel) == query.device);
}

std::string OnDevice(const WorkQuery& query) {
  return query.device ? fmt::format(" on device {}", *query.device) : "";
}

std::string_view MatchWords(TextMatch match) {
  switch (match) {
    case TextMatch::kContains:
      return "contains";
    case TextMatch::kExact:
      return "is exactly";
    case TextMatch::kStartsWith:
      return "starts with";
  }
  return "";
}

// Moves the range of that number, from 1, to its place.
uint32_t Occurrence(const Trace& trace, std::vector<uint32_t>& ranges, int64_t number) {
  const NvtxTable& nvtx = trace.nvtx;
  const auto at = ranges.begin() + (number - 1);
  std::nth_element(ranges.begin(), at, ranges.end(), [&](uint32_t a, uint32_t b) {
    if (nvtx.start_ns[a] != nvtx.start_ns[b]) {
      return nvtx.start_ns[a] < nvtx.start_ns[b];
    }
    if (nvtx.end_ns[a] != nvtx.end_ns[b]) {
      return nvtx.end_ns[a] > nvtx.end_ns[b];
    }
    return std::tuple(trace.Text(nvtx.text[a]), ThreadOf(trace, a)) <
           std::tuple(trace.Text(nvtx.text[b]), ThreadOf(trace, b));
  });
  return *at;
}

// Adds the kernels with a length on the wanted device for which `is_of_region(kernel)` holds.
template <typename IsOfRegion>
WorkSum SumOf(const Trace& trace, const WorkQuery& query, IsOfRegion is_of_region) {
  WorkSum sum(trace);
  for (uint32_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    if (IsWanted(trace, kernel, query) && is_of_region(kernel)) {
      sum.Add(kernel);
    }
  }
  return sum;
}

// The kernels launched inside `range` on its thread; on any where the range does not tell it.
WorkSum SumOfRange(Views& views, const WorkQuery& query, uint32_t range) {
  const Trace& trace = views.trace();
  const ThreadId thread = ThreadOf(trace, range);
  const Span span = trace.nvtx.span(range);
  const std::vector<uint32_t>& links = views.KernelCalls();
  return SumOf(trace, query, [&](uint32_t kernel) {
    const uint32_t call = links[kernel];
    return call != kNoCall && trace.calls.start_ns[call] >= span.begin_ns &&
           trace.calls.end_ns[call] <= span.end_ns &&
           (thread == ThreadId::kNone || trace.calls.thread[call] == thread);
  });
}

// The name of the first kernel by (start, end, correlation, name) that `name_of` gives a name.
template <typename NameOf>
std::string_view EarliestName(const Trace& trace, const WorkQuery& query, NameOf name_of) {
  const KernelTable& kernels = trace.kernels;
  std::string_view earliest;
  std::optional<std::tuple<int64_t, int64_t, int64_t, std::string_view>> least;
  for (uint32_t kernel = 0; kernel < kernels.size(); ++kernel) {
    // Kernels are sorted by (start, end).
    if (least && std::tuple(kernels.start_ns[kernel], kernels.end_ns[kernel]) >
                     std::tuple(std::get<0>(*least), std::get<1>(*least))) {
      break;
    }
    const StringId id = IsWanted(trace, kernel, query) ? name_of(kernel) : StringId::kNone;
    if (id == StringId::kNone) {
      continue;
    }
    const std::tuple key(kernels.start_ns[kernel], kernels.end_ns[kernel],
                         kernels.correlation[kernel], trace.Text(id));
    if (!least || key < *least) {
      least = key;
      earliest = trace.Text(id);
    }
  }
  return earliest;
}

}  // namespace

Reads RegionReads(RowKind ranges) {
  return {{TableId::kKernel, {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
          {TableId::kRuntime,
           {Column::kTime, Column::kThread, Column::kCorrelation},
           RowKind::kLaunches},
          {TableId::kNvtx, {Column::kTime, Column::kThread, Column::kName}, ranges}};
}

Reads RegionReadsOf(std::string name, TextMatch match) {
  if (match == TextMatch::kExact) {
    return RegionReads();  // other texts may have the name as their normal label
  }
  Reads reads = RegionReads(RowKind::kTexts);
  reads.Narrow({.text = [query = WorkQuery{.name = std::move(name), .match = match}](
                            std::string_view text) { return Matches(text, query); }});
  return reads;
}

std::optional<TextMatch> ParseTextMatch(std::string_view text) {
  if (text == "contains") {
    return TextMatch::kContains;
  }
  if (text == "exact") {
    return TextMatch::kExact;
  }
  return text == "startswith" ? std::optional(TextMatch::kStartsWith) : std::nullopt;
}

std::variant<RegionWork, RegionProblem> WorkOfRange(Views& views, const WorkQuery& query) {
  const Trace& trace = views.trace();
  std::vector<uint32_t> ranges =
      RangesWith(trace, [&](StringId id) { return Matches(trace.Text(id), query); });
  std::string note;
  if (ranges.empty() && query.match == TextMatch::kExact) {
    NormalLabels& labels = views.labels();
    ranges =
        RangesWith(trace, [&](StringId id) { return labels.Get(labels.Of(id)) == query.name; });
    note =
        "No range text is exactly that name; it was compared without the running ids that "
        "libraries append.";
  }
  if (ranges.empty()) {
    return RegionProblem{.code = "NVTX_NOT_FOUND",
                         .message = fmt::format("no NVTX range has a text that {} '{}'",
                                                MatchWords(query.match), query.name)};
  }
  if (query.occurrence < 1) {
    return RegionProblem{
        .code = "INVALID_ARGUMENT",
        .message = fmt::format("occurrence_index counts from 1, not {}", query.occurrence)};
  }
  if (query.occurrence > std::ssize(ranges)) {
    return RegionProblem{
        .code = "NVTX_OCCURRENCE_OUT_OF_RANGE",
        .message = fmt::format(
            "occurrence_index is {}, but {} that name", query.occurrence,
            ranges.size() == 1 ? "1 range has" : fmt::format("{} ranges have", ranges.size()))};
  }
  const uint32_t range = Occurrence(trace, ranges, query.occurrence);
  WorkSum sum = SumOfRange(views, query, range);
  const std::string_view text = trace.Text(trace.nvtx.text[range]);
  if (sum.empty()) {
    return RegionProblem{.code = "NO_KERNELS_IN_REGION",
                         .message = fmt::format(
                             "no kernel{} was launched inside occurrence {} of the range, '{}', by "
                             "its thread",
                             OnDevice(query), query.occurrence, text)};
  }
  RegionWork work = sum.Finish(trace.nvtx.span(range));
  work.matched_text = text;
  work.note = std::move(note);
  return work;
}

std::variant<RegionWork, RegionProblem> WorkOfKernels(Views& views, const WorkQuery& query) {
  const Trace& trace = views.trace();
  const auto matches = [&](StringId id) { return Matches(trace.Text(id), query); };
  OncePerText<decltype(matches)> passes(matches);
  for (const bool demangled : {false, true}) {
    const auto name_of = [&](uint32_t kernel) {
      const StringId id =
          demangled ? trace.kernels.demangled_name[kernel] : trace.kernels.name_to_classify(kernel);
      return passes(id) ? id : StringId::kNone;
    };
    WorkSum sum =
        SumOf(trace, query, [&](uint32_t kernel) { return name_of(kernel) != StringId::kNone; });
    if (sum.empty()) {
      continue;
    }
    RegionWork work = sum.Finish(std::nullopt);
    work.matched_text = EarliestName(trace, query, name_of);
    if (demangled) {
      work.note = "No short kernel name matches; the demangled names were compared.";
    }
    return work;
  }
  return RegionProblem{
      .code = "KERNEL_NOT_FOUND",
      .message = fmt::format("no kernel{} has a name that {} '{}'", OnDevice(query),
                             MatchWords(query.match), query.name)};
}

}  // namespace nsys

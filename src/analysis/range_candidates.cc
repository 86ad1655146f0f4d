// SPDX-License-Identifier: MIT
#include "analysis/range_candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/attribution.h"
#include "analysis/window.h"
#include "base/number.h"
#include "base/sort_runs.h"
#include "trace/launches.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

// The figures of a range that overlaps the selection.
struct Measured {
  uint32_t range = 0;
  uint32_t depth = 0;
  bool launching_thread = false;
  double overlap_pct = 0;
  double confidence = 0;
  int64_t overlap_ns = 0;
  int64_t kernels = 0;
  int64_t communication_kernels = 0;
  int64_t kernel_ns = 0;

  auto rank() const {
    return std::tuple(!launching_thread, -confidence, -overlap_pct, -kernels,
                      -static_cast<int64_t>(depth));
  }
};

bool RanksBefore(const Measured& a, const Measured& b) { return a.rank() < b.rank(); }

class Search {
 public:
  Search(Views& views, const RangeSelection& selection)
      : views_(views), trace_(views.trace()), selection_(selection) {
    FindLaunches();
    FindRanges();
  }

  RangeCandidates Run(size_t limit, size_t top_kernels) {
    RangeCandidates result{.overlapping = ranges_.size(), .launches = launches_.size()};
    result.launched_elsewhere = Measure();
    std::vector<Measured> wanted = ranges_;
    std::erase_if(wanted, [&](const Measured& one) {
      return one.overlap_pct < selection_.least_overlap_pct;
    });
    result.wanted = wanted.size();
    KeepFirst(limit, wanted);
    for (const Measured& one : wanted) {
      result.first.push_back({.range = one.range,
                              .depth = one.depth,
                              .launching_thread = one.launching_thread,
                              .contains = one.overlap_ns == selection_.length_ns(),
                              .overlap_ns = one.overlap_ns,
                              .overlap_pct = one.overlap_pct,
                              .confidence = one.confidence,
                              .kernels = one.kernels,
                              .communication_kernels = one.communication_kernels,
                              .kernel_ns = one.kernel_ns});
    }
    AddPaths(result.first);
    Sort(result.first);
    result.first.resize(std::min(result.first.size(), limit));
    AddTopKernels(result.first, top_kernels);
    return result;
  }

 private:
  ThreadId ThreadOf(uint32_t range) const {
    return trace_.nvtx_lanes[Index(trace_.nvtx.lane[range])].thread;
  }

  // The kernels of the selection whose call is known, by call.
  void FindLaunches() {
    const KernelTable& kernels = trace_.kernels;
    const std::vector<uint32_t>& links = views_.KernelCalls();
    for (uint32_t kernel = 0; kernel < links.size(); ++kernel) {
      const bool inside = kernels.start_ns[kernel] < selection_.end_ns &&
                          kernels.end_ns[kernel] > selection_.begin_ns;
      const bool wanted =
          !selection_.device || trace_.DeviceOf(kernels, kernel) == selection_.device;
      if (inside && wanted && links[kernel] != kNoCall) {
        launches_.push_back({kernel, links[kernel]});
      }
    }
    SortByCall(launches_);
    calls_ = CallsOf(launches_);
  }

  // The push-pop ranges that overlap the selection, by row. What encloses one of them does too.
  void FindRanges() {
    const NvtxTable& nvtx = trace_.nvtx;
    const Window window{selection_.begin_ns, selection_.end_ns};
    for (uint32_t row = 0; row < nvtx.size() && nvtx.start_ns[row] < selection_.end_ns; ++row) {
      if (nvtx.event_type[row] != kNvtxPushPop || nvtx.text[row] == StringId::kNone ||
          nvtx.end_ns[row] <= nvtx.start_ns[row] || nvtx.end_ns[row] <= selection_.begin_ns ||
          ThreadOf(row) == ThreadId::kNone) {
        continue;
      }
      const int64_t overlap = Clip(window, nvtx.start_ns[row], nvtx.end_ns[row]).length_ns();
      ranges_.push_back({.range = row,
                         .overlap_pct = Percent(overlap, selection_.length_ns(), 1).value_or(0.0),
                         .overlap_ns = overlap});
    }
  }

  // Position of `range` in ranges_, or nothing.
  std::optional<size_t> Find(uint32_t range) const {
    const auto at =
        std::lower_bound(ranges_.begin(), ranges_.end(), range,
                         [](const Measured& one, uint32_t row) { return one.range < row; });
    return at != ranges_.end() && at->range == range
               ? std::optional(static_cast<size_t>(at - ranges_.begin()))
               : std::nullopt;
  }

  // `visit(position in ranges_, the ranges around it)`, so that whatever encloses
  // a range comes before it: by start, the longer first; of equal intervals the first text is the
  // outer.
  template <typename Visit>
  void SweepRanges(const Visit& visit) const {
    const NvtxTable& nvtx = trace_.nvtx;
    std::vector<uint32_t> order(ranges_.size());
    std::iota(order.begin(), order.end(), 0U);
    SortByRuns(order, [&](uint32_t x, uint32_t y) {
      const uint32_t a = ranges_[x].range;
      const uint32_t b = ranges_[y].range;
      return std::tuple(nvtx.start_ns[a], -nvtx.end_ns[a], trace_.Text(nvtx.text[a]), a) <
             std::tuple(nvtx.start_ns[b], -nvtx.end_ns[b], trace_.Text(nvtx.text[b]), b);
    });
    std::vector<std::vector<uint32_t>> open(trace_.threads.size());
    std::vector<uint32_t> around;
    for (const uint32_t at : order) {
      const uint32_t range = ranges_[at].range;
      auto& stack = open[Index(ThreadOf(range))];
      std::erase_if(stack,
                    [&](uint32_t other) { return nvtx.end_ns[other] < nvtx.start_ns[range]; });
      around.clear();
      std::copy_if(stack.begin(), stack.end(), std::back_inserter(around),
                   [&](uint32_t other) { return nvtx.end_ns[other] >= nvtx.end_ns[range]; });
      visit(at, around);
      stack.push_back(range);
    }
  }

  // Fills in what ranks the ranges; how many launches no range of the selection holds.
  size_t Measure() {
    SweepRanges([&](size_t at, const std::vector<uint32_t>& around) {
      ranges_[at].depth = static_cast<uint32_t>(around.size());
    });
    size_t elsewhere = 0;
    auto next = launches_.begin();
    ForEachPath(trace_, calls_, [&](size_t position, std::span<const uint32_t> path) {
      for (; next != launches_.end() && next->call == calls_[position]; ++next) {
        bool held = false;
        for (const uint32_t range : path) {
          if (const auto at = Find(range)) {
            Credit(next->kernel, ranges_[*at]);
            held = true;
          }
        }
        elsewhere += held ? 0 : 1;
      }
    });
    std::vector<uint8_t> launching(trace_.threads.size(), 0);
    for (const uint32_t call : calls_) {
      if (trace_.calls.thread[call] != ThreadId::kNone) {
        launching[Index(trace_.calls.thread[call])] = 1;
      }
    }
    for (Measured& one : ranges_) {
      one.launching_thread = launching[Index(ThreadOf(one.range))] == 1;
      one.confidence = Confidence(one);
    }
    return elsewhere;
  }

  void Credit(uint32_t kernel, Measured& one) {
    ++one.kernels;
    one.kernel_ns += trace_.kernels.duration_ns(kernel);
    if (views_.communication().IsCommunication(trace_.kernels.name_to_classify(kernel))) {
      ++one.communication_kernels;
    }
  }

  double Confidence(const Measured& one) const {
    const double ratio =
        static_cast<double>(one.overlap_ns) / static_cast<double>(selection_.length_ns());
    const double sum = 0.55 * ratio + (one.overlap_ns == selection_.length_ns() ? 0.15 : 0.0) +
                       (one.kernels > 0 ? 0.2 : 0.0) + 0.025 * std::min<uint32_t>(one.depth, 4);
    return RoundHalfEven(std::min(0.95, sum), 2);
  }

  // Leaves the first `limit` by rank, and all that tie with the last of them.
  static void KeepFirst(size_t limit, std::vector<Measured>& ranges) {
    if (limit == 0) {
      ranges.clear();
    }
    if (ranges.size() <= limit) {
      return;
    }
    const auto last = ranges.begin() + static_cast<std::ptrdiff_t>(limit - 1);
    std::nth_element(ranges.begin(), last, ranges.end(), RanksBefore);
    const Measured bound = *last;
    std::erase_if(ranges, [&](const Measured& one) { return RanksBefore(bound, one); });
  }

  // As trace/nvtx_stacks.h orders paths.
  std::vector<uint32_t> InPathOrder(std::vector<uint32_t> ranges) const {
    const NvtxTable& nvtx = trace_.nvtx;
    const auto key = [&](uint32_t range) {
      return std::tuple(-nvtx.duration_ns(range), nvtx.start_ns[range],
                        trace_.Text(nvtx.text[range]));
    };
    std::sort(ranges.begin(), ranges.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    return ranges;
  }

  void AddPaths(std::vector<RangeCandidate>& candidates) const {
    std::map<uint32_t, RangeCandidate*> wanted;
    for (RangeCandidate& candidate : candidates) {
      wanted[candidate.range] = &candidate;
    }
    SweepRanges([&](size_t position, const std::vector<uint32_t>& around) {
      const auto at = wanted.find(ranges_[position].range);
      if (at == wanted.end()) {
        return;
      }
      for (const uint32_t range : InPathOrder(around)) {
        at->second->path += trace_.Text(trace_.nvtx.text[range]);
        at->second->path += " > ";
      }
      at->second->path += trace_.Text(trace_.nvtx.text[at->first]);
    });
  }

  void Sort(std::vector<RangeCandidate>& candidates) const {
    const auto key = [&](const RangeCandidate& one) {
      return std::tuple(!one.launching_thread, -one.confidence, -one.overlap_pct, -one.kernels,
                        -static_cast<int64_t>(one.depth), std::string_view(one.path),
                        trace_.nvtx.start_ns[one.range], ThreadOf(one.range), one.range);
    };
    std::sort(candidates.begin(), candidates.end(),
              [&](const RangeCandidate& a, const RangeCandidate& b) { return key(a) < key(b); });
  }

  void AddTopKernels(std::vector<RangeCandidate>& candidates, size_t most) const {
    std::map<uint32_t, std::map<StringId, KernelSum>> sums;  // by range, by name
    for (const RangeCandidate& candidate : candidates) {
      sums[candidate.range];
    }
    auto next = launches_.begin();
    ForEachPath(trace_, calls_, [&](size_t position, std::span<const uint32_t> path) {
      for (; next != launches_.end() && next->call == calls_[position]; ++next) {
        const StringId name = trace_.kernels.name[next->kernel];
        for (const uint32_t range : path) {
          if (const auto at = sums.find(range); at != sums.end()) {
            KernelSum& sum = at->second[name];
            sum.name = name;
            ++sum.kernels;
            sum.total_ns += trace_.kernels.duration_ns(next->kernel);
          }
        }
      }
    });
    for (RangeCandidate& candidate : candidates) {
      for (const auto& [name, sum] : sums[candidate.range]) {
        candidate.top_kernels.push_back(sum);
      }
      KeepTop(trace_, most, candidate.top_kernels);
    }
  }

  Views& views_;
  const Trace& trace_;
  const RangeSelection& selection_;
  std::vector<Launch> launches_;  // by call
  std::vector<uint32_t> calls_;
  std::vector<Measured> ranges_;  // by row
};

}  // namespace

RangeCandidates FindRangeCandidates(Views& views, const RangeSelection& selection, size_t limit,
                                    size_t top_kernels) {
  return Search(views, selection).Run(limit, top_kernels);
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "analysis/launch_overhead.h"

#include <algorithm>
#include <string_view>

#include "analysis/selection.h"
#include "trace/launches.h"

namespace nsys {
namespace {

enum class CallKind : uint8_t { kUnread, kKernelLaunch, kGraphLaunch, kOther };

// What a call does, decided once per distinct name.
class CallKinds {
 public:
  explicit CallKinds(const Trace& trace) : trace_(trace), kinds_(trace.strings.size()) {}

  CallKind Of(uint32_t call) {
    const StringId name = trace_.calls.name[call];
    if (name == StringId::kNone) {
      return CallKind::kOther;
    }
    CallKind& kind = kinds_[Index(name)];
    if (kind == CallKind::kUnread) {
      kind = Read(trace_.Text(name));
    }
    return kind;
  }

 private:
  static CallKind Read(std::string_view name) {
    if (name.starts_with("cudaLaunch") || name.starts_with("cuLaunch")) {
      return CallKind::kKernelLaunch;
    }
    const bool graph = name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch");
    return graph ? CallKind::kGraphLaunch : CallKind::kOther;
  }

  const Trace& trace_;
  std::vector<CallKind> kinds_;  // by StringId
};

class Sweep {
 public:
  Sweep(Views& views, int64_t device, const std::optional<Window>& window)
      : views_(views),
        trace_(views.trace()),
        window_(window),
        on_device_(trace_, device),
        kinds_(trace_),
        counted_(trace_.calls.size(), 0),
        position_(trace_.strings.size(), kNoPosition) {}

  void AddKernels() {
    const KernelTable& kernels = trace_.kernels;
    const std::vector<uint32_t>& calls = views_.KernelCalls();
    for (uint32_t row = 0; row < kernels.size(); ++row) {
      if (!Selected(kernels, row)) {
        continue;
      }
      uint32_t call = calls[row];
      if (call != kNoCall && kinds_.Of(call) == CallKind::kOther) {
        call = LaunchBehind(row);
      }
      if (call == kNoCall) {
        ++result_.unknown;
      } else if (kinds_.Of(call) == CallKind::kGraphLaunch) {
        ++result_.graphs.kernels;
        AddGraphCall(call);
      } else {
        AddKernel(row, call);
      }
    }
  }

  void AddWholeGraphs() {
    const GpuEvents& graphs = trace_.graphs;
    if (graphs.size() == 0) {
      return;
    }
    const std::vector<uint32_t>& calls = views_.GraphCalls();
    for (size_t row = 0; row < graphs.size(); ++row) {
      if (!Selected(graphs, row)) {
        continue;
      }
      ++result_.graphs.whole_graphs;
      if (calls[row] != kNoCall && kinds_.Of(calls[row]) == CallKind::kGraphLaunch) {
        AddGraphCall(calls[row]);
      }
    }
  }

  LaunchOverhead Finish(int64_t min_launches) && {
    for (const LaunchedKernel& one : groups_) {
      if (one.kernels >= min_launches && one.kernel_ns < kSmallKernelNs * one.kernels) {
        result_.small.push_back(one);
      }
    }
    std::sort(result_.small.begin(), result_.small.end(),
              [&](const LaunchedKernel& a, const LaunchedKernel& b) {
                if (a.api_ns != b.api_ns) {
                  return a.api_ns > b.api_ns;
                }
                if (a.kernels != b.kernels) {
                  return a.kernels > b.kernels;
                }
                return trace_.Text(a.name) < trace_.Text(b.name);
              });
    return std::move(result_);
  }

 private:
  static constexpr uint32_t kNoPosition = 0xFFFFFFFF;

  bool Selected(const GpuEvents& events, size_t row) const {
    return on_device_(events.lane[row]) &&
           Contains(window_, events.start_ns[row], events.end_ns[row]);
  }

  // The launch of a kernel behind another call of the same id: a synchronization that reuses it,
  // say. Rare, so the calls are searched again only when it happens.
  uint32_t LaunchBehind(uint32_t row) {
    if (launches_.empty()) {
      std::vector<uint8_t> wanted(trace_.calls.size());
      for (uint32_t call = 0; call < wanted.size(); ++call) {
        wanted[call] = kinds_.Of(call) == CallKind::kOther ? 0 : 1;
      }
      launches_ = LinkLaunches(trace_, trace_.kernels, wanted);
    }
    return launches_[row];
  }

  void AddGraphCall(uint32_t call) {
    if (counted_[call] == 0) {
      counted_[call] = 1;
      ++result_.graphs.calls;
      result_.graphs.api_ns += trace_.calls.duration_ns(call);
    }
  }

  void AddKernel(uint32_t row, uint32_t call) {
    const KernelTable& kernels = trace_.kernels;
    const StringId name = kernels.name_to_classify(row);
    uint32_t& at = position_[Index(name)];
    if (at == kNoPosition) {
      at = static_cast<uint32_t>(groups_.size());
      groups_.push_back({.name = name, .first_ns = kernels.start_ns[row]});
    }
    LaunchedKernel& group = groups_[at];
    ++result_.launched;
    ++group.kernels;
    group.kernel_ns += kernels.duration_ns(row);
    group.last_ns = std::max(group.last_ns, kernels.end_ns[row]);
    if (counted_[call] == 0) {
      counted_[call] = 1;
      const int64_t api_ns = trace_.calls.duration_ns(call);
      ++group.calls;
      group.api_ns += api_ns;
      group.max_api_ns = std::max(group.max_api_ns, api_ns);
    }
    const int64_t queue_ns = kernels.start_ns[row] - trace_.calls.end_ns[call];
    if (queue_ns > 0) {
      ++group.queued;
      group.queue_ns += queue_ns;
    }
  }

  Views& views_;
  const Trace& trace_;
  const std::optional<Window>& window_;
  LanesOnDevice on_device_;
  CallKinds kinds_;
  std::vector<uint8_t> counted_;    // by call: whether its time is counted already
  std::vector<uint32_t> position_;  // by StringId: where its group is
  std::vector<uint32_t> launches_;  // by kernel, once needed
  std::vector<LaunchedKernel> groups_;
  LaunchOverhead result_;
};

}  // namespace

LaunchOverhead FindSmallKernels(Views& views, int64_t device, const std::optional<Window>& window,
                                int64_t min_launches) {
  Sweep sweep(views, device, window);
  sweep.AddKernels();
  sweep.AddWholeGraphs();
  return std::move(sweep).Finish(min_launches);
}

}  // namespace nsys

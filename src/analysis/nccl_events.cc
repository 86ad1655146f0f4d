// SPDX-License-Identifier: MIT
#include "analysis/nccl_events.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "trace/launches.h"
#include "trace/nvtx_payload.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

constexpr std::string_view kPrefix = "nccl";

// Part of a text → operation; the first hit counts, so longer names stand before their parts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOperations = {{
    {"allgather", "allgather"},
    {"reducescatter", "reducescatter"},
    {"allreduce", "allreduce"},
    {"alltoall", "alltoall"},
    {"broadcast", "broadcast"},
    {"bcast", "broadcast"},
    {"sendrecv", "sendrecv"},
    {"send", "sendrecv"},
    {"recv", "sendrecv"},
    {"reduce", "reduce"},
    {"gather", "gather"},
    {"scatter", "scatter"},
}};

enum class Kind : uint8_t { kUnknown, kOther, kGroupStart, kGroupEnd, kOperation, kForeign };

struct TextClass {
  Kind kind = Kind::kUnknown;
  std::string_view operation;
};

TextClass Classify(std::string_view text) {
  const std::string_view rest = text.substr(std::min(text.size(), kPrefix.size()));
  if (!text.starts_with(kPrefix)) {
    return {.kind = Kind::kOther, .operation = {}};
  }
  if (rest.starts_with("GroupStart")) {
    return {.kind = Kind::kGroupStart, .operation = {}};
  }
  if (rest.starts_with("GroupEnd")) {
    return {.kind = Kind::kGroupEnd, .operation = {}};
  }
  const std::string_view operation = NcclOperation(text);
  if (operation.empty()) {
    return {.kind = Kind::kOther, .operation = {}};
  }
  const bool own = rest.front() >= 'A' && rest.front() <= 'Z';
  return {.kind = own ? Kind::kOperation : Kind::kForeign, .operation = operation};
}

// The classes of texts, each looked at once.
class TextClasses {
 public:
  explicit TextClasses(const Trace& trace) : trace_(trace), known_(trace.strings.size()) {}

  const TextClass& Of(StringId text) {
    static constexpr TextClass kNameless{.kind = Kind::kOther, .operation = {}};
    if (text == StringId::kNone) {
      return kNameless;
    }
    TextClass& known = known_[Index(text)];
    if (known.kind == Kind::kUnknown) {
      known = Classify(trace_.strings.Get(text));
    }
    return known;
  }

 private:
  const Trace& trace_;
  std::vector<TextClass> known_;
};

// What is open on one thread while the sweep moves forward.
struct ThreadState {
  std::vector<uint32_t> open;        // ranges that may still enclose a launch
  std::vector<uint32_t> group;       // operations of the group under way
  int64_t depth = 0;                 // of groups
  uint32_t group_end = kNoNcclCall;  // the latest ncclGroupEnd, and the operations it launches
  std::vector<uint32_t> ended;
};

class Sweep {
 public:
  explicit Sweep(const Trace& trace)
      : trace_(trace),
        texts_(trace),
        threads_(trace.threads.size()),
        call_of_range_(trace.nvtx.size(), kNoNcclCall) {}

  // Takes in every range that starts by `time_ns`.
  void AdvanceTo(int64_t time_ns) {
    const NvtxTable& nvtx = trace_.nvtx;
    for (; next_ < nvtx.size() && nvtx.start_ns[next_] <= time_ns; ++next_) {
      Enter(next_);
    }
  }

  // The call that a launch at [start_ns, end_ns] of `thread` belongs to.
  uint32_t CallAround(ThreadId thread, int64_t start_ns, int64_t end_ns) {
    ThreadState& state = threads_[Index(thread)];
    const NvtxTable& nvtx = trace_.nvtx;
    std::erase_if(state.open, [&](uint32_t range) { return nvtx.end_ns[range] < start_ns; });
    const auto inner_first = [&](uint32_t range) {
      return std::tuple(nvtx.duration_ns(range), -nvtx.start_ns[range]);
    };
    uint32_t best = kNoNcclCall;
    for (const uint32_t range : state.open) {
      if (nvtx.end_ns[range] < end_ns) {
        continue;
      }
      const bool first = best == kNoNcclCall;
      if (first || inner_first(range) < inner_first(best) ||
          (inner_first(range) == inner_first(best) &&
           trace_.Text(nvtx.text[range]) > trace_.Text(nvtx.text[best]))) {
        best = range;
      }
    }
    return best == kNoNcclCall ? kNoNcclCall : CallOf(best, state);
  }

  NcclCalls Take(std::vector<uint32_t> of_kernel) {
    found_.of_kernel = std::move(of_kernel);
    return std::move(found_);
  }

 private:
  void Enter(uint32_t range) {
    const NvtxTable& nvtx = trace_.nvtx;
    const ThreadId thread = trace_.nvtx_lanes[Index(nvtx.lane[range])].thread;
    if (nvtx.event_type[range] != kNvtxPushPop || thread == ThreadId::kNone) {
      return;
    }
    const TextClass& text = texts_.Of(nvtx.text[range]);
    ThreadState& state = threads_[Index(thread)];
    switch (text.kind) {
      case Kind::kGroupStart:
        if (state.depth++ == 0) {
          state.group.clear();
        }
        return;
      case Kind::kGroupEnd:
        state.depth = std::max<int64_t>(state.depth - 1, 0);
        if (state.depth > 0 || state.group.empty()) {
          return;
        }
        state.group_end = range;
        state.ended = std::exchange(state.group, {});
        break;
      case Kind::kOperation:
        if (state.depth > 0) {
          state.group.push_back(range);
        }
        break;
      case Kind::kForeign:
        break;
      default:
        return;
    }
    if (nvtx.end_ns[range] > nvtx.start_ns[range]) {
      std::erase_if(state.open,
                    [&](uint32_t other) { return nvtx.end_ns[other] < nvtx.start_ns[range]; });
      state.open.push_back(range);
    }
  }

  uint32_t CallOf(uint32_t range, const ThreadState& state) {
    uint32_t& known = call_of_range_[range];
    if (known != kNoNcclCall) {
      return known;
    }
    const TextClass& text = texts_.Of(trace_.nvtx.text[range]);
    NcclCall call{.operation = text.operation,
                  .first_range = static_cast<uint32_t>(found_.ranges.size()),
                  .range_count = 0};
    if (text.kind == Kind::kOperation) {
      found_.ranges.push_back(range);
    } else if (state.group_end == range) {
      call.operation = CommonOperation(state.ended);
      found_.ranges.insert(found_.ranges.end(), state.ended.begin(), state.ended.end());
    }
    call.range_count = static_cast<uint32_t>(found_.ranges.size()) - call.first_range;
    known = static_cast<uint32_t>(found_.calls.size());
    found_.calls.push_back(call);
    return known;
  }

  std::string_view CommonOperation(std::span<const uint32_t> ranges) {
    const std::string_view first = texts_.Of(trace_.nvtx.text[ranges.front()]).operation;
    const bool same = std::all_of(ranges.begin(), ranges.end(), [&](uint32_t range) {
      return texts_.Of(trace_.nvtx.text[range]).operation == first;
    });
    return same ? first : std::string_view();
  }

  const Trace& trace_;
  TextClasses texts_;
  std::vector<ThreadState> threads_;
  std::vector<uint32_t> call_of_range_;
  uint32_t next_ = 0;
  NcclCalls found_;
};

}  // namespace

std::string_view NcclOperation(std::string_view text) {
  if (!text.starts_with(kPrefix)) {
    return {};
  }
  const std::string rest = NormalFieldName(text.substr(kPrefix.size()));
  if (rest.starts_with("group") || rest.starts_with("comm")) {
    return {};
  }
  for (const auto& [part, operation] : kOperations) {
    if (rest.find(part) != std::string::npos) {
      return operation;
    }
  }
  return {};
}

NcclCalls FindNcclCalls(const Trace& trace, const std::vector<uint32_t>& kernel_calls,
                        CommunicationClasses& classes) {
  const KernelTable& kernels = trace.kernels;
  std::vector<Launch> launches;
  for (uint32_t kernel = 0; kernel < kernel_calls.size(); ++kernel) {
    const bool known = kernel_calls[kernel] != kNoCall &&
                       trace.calls.thread[kernel_calls[kernel]] != ThreadId::kNone;
    if (known && IsNcclKernel(classes, kernels.name_to_classify(kernel))) {
      launches.push_back({.kernel = kernel, .call = kernel_calls[kernel]});
    }
  }
  SortByCall(launches);
  std::vector<uint32_t> of_kernel(kernels.size(), kNoNcclCall);
  Sweep sweep(trace);
  for (const Launch& launch : launches) {
    const int64_t start = trace.calls.start_ns[launch.call];
    sweep.AdvanceTo(start);
    of_kernel[launch.kernel] =
        sweep.CallAround(trace.calls.thread[launch.call], start, trace.calls.end_ns[launch.call]);
  }
  return sweep.Take(std::move(of_kernel));
}

const NcclCalls& NcclCallsOf(Views& views) {
  return views.Once<NcclCalls>(
      {}, [&] { return FindNcclCalls(views.trace(), views.KernelCalls(), views.communication()); });
}

void AddNcclReads(Reads& reads) {
  reads.Add(TableId::kKernel, {Column::kTime, Column::kLane, Column::kName, Column::kCorrelation});
  Reads nccl = {{TableId::kRuntime,
                 {Column::kTime, Column::kThread, Column::kCorrelation},
                 RowKind::kLaunches},
                {TableId::kNvtx,
                 {Column::kTime, Column::kThread, Column::kName, Column::kKind},
                 RowKind::kNccl}};
  nccl.Narrow({.communication_only = true});
  reads.Add(nccl);
}

bool IsNcclKernel(CommunicationClasses& classes, StringId name) {
  const std::string_view operation = classes.Operation(name);
  return !operation.empty() && !operation.starts_with("custom_");
}

}  // namespace nsys

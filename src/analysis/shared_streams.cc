// SPDX-License-Identifier: MIT
#include "analysis/shared_streams.h"

#include <vector>

#include "analysis/selection.h"
#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

constexpr double kLeastPct = 5.0;

}  // namespace

bool SharedStreams::matter() const {
  return compute_pct >= kLeastPct && communication_pct >= kLeastPct;
}

std::string SharedStreams::StreamList() const {
  std::vector<std::string> names;
  for (const int64_t stream : streams) {
    names.push_back(std::to_string(stream));
  }
  return Join(names, ", ");
}

SharedStreams FindSharedStreams(Views& views, int64_t device, const std::optional<Window>& window,
                                const Overlap& overlap) {
  const Trace& trace = views.trace();
  const KernelTable& kernels = trace.kernels;
  const LanesOnDevice on_device(trace, device);
  std::vector<int64_t> compute(trace.lanes.size(), 0);
  std::vector<int64_t> communication(trace.lanes.size(), 0);
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!on_device(kernels.lane[row]) ||
        !Contains(window, kernels.start_ns[row], kernels.end_ns[row])) {
      continue;
    }
    const bool communicates = views.communication().IsCommunication(kernels.name_to_classify(row));
    ++(communicates ? communication : compute)[Index(kernels.lane[row])];
  }
  SharedStreams shared;
  int64_t shared_compute = 0;
  int64_t shared_communication = 0;
  for (size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    if (compute[lane] == 0 || communication[lane] == 0) {
      continue;
    }
    if (trace.lanes[lane].stream) {
      shared.streams.insert(*trace.lanes[lane].stream);
    }
    shared_compute += compute[lane];
    shared_communication += communication[lane];
  }
  shared.compute_pct = Percent(shared_compute, overlap.compute_kernels, 1).value_or(0);
  shared.communication_pct =
      Percent(shared_communication, overlap.communication_kernels, 1).value_or(0);
  return shared;
}

}  // namespace nsys

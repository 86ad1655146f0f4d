// SPDX-License-Identifier: MIT
// Which communication kernels took far longer than others of their kind?
//
// Communication kernels of all devices inside the window. Kind = (device, operation as the kernel
// is named). mean = Σ duration / number of the kind, outliers included; listed: duration >
// threshold · mean. ratio_to_avg = duration / mean, which never exceeds the number of the kind, so
// that a kind of few operations cannot show an outlier; the notes tell.
// Order: duration descending, start, stream, name, device.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "analysis/cells.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

struct Kind {
  std::optional<int64_t> device;
  std::string_view operation;
  int64_t count = 0;
  int64_t total_ns = 0;
};

struct Operation {
  uint32_t row = 0;  // of the kernels
  const Kind* kind = nullptr;
};

struct Collected {
  std::map<std::pair<std::optional<int64_t>, std::string_view>, Kind> kinds;
  std::vector<Operation> operations;
  int64_t straddling = 0;  // at an edge of the window
};

Collected Collect(const Query& query) {
  const Trace& trace = query.trace;
  const KernelTable& kernels = trace.kernels;
  Collected found;
  for (uint32_t row = 0; row < kernels.size(); ++row) {
    const std::string_view operation =
        query.views.communication().Operation(kernels.name_to_classify(row));
    if (operation.empty()) {
      continue;
    }
    if (!Contains(query.window, kernels.start_ns[row], kernels.end_ns[row])) {
      const Span inside = Clip(query.window, kernels.start_ns[row], kernels.end_ns[row]);
      found.straddling += inside.end_ns > inside.begin_ns ? 1 : 0;
      continue;
    }
    const auto device = trace.DeviceOf(kernels, row);
    Kind& kind = found.kinds[{device, operation}];
    kind.device = device;
    kind.operation = operation;
    ++kind.count;
    kind.total_ns += kernels.duration_ns(row);
    found.operations.push_back({.row = row, .kind = &kind});
  }
  return found;
}

// Whether duration > threshold · mean, without a rounded mean in between.
bool IsOutlier(int64_t duration_ns, const Kind& kind, double threshold) {
  return kind.total_ns > 0 &&
         static_cast<long double>(duration_ns) * static_cast<long double>(kind.count) >
             static_cast<long double>(threshold) * static_cast<long double>(kind.total_ns);
}

void Sort(const Trace& trace, std::vector<Operation>& operations) {
  const KernelTable& kernels = trace.kernels;
  std::sort(operations.begin(), operations.end(), [&](const Operation& a, const Operation& b) {
    if (kernels.duration_ns(a.row) != kernels.duration_ns(b.row)) {
      return kernels.duration_ns(a.row) > kernels.duration_ns(b.row);
    }
    if (kernels.start_ns[a.row] != kernels.start_ns[b.row]) {
      return kernels.start_ns[a.row] < kernels.start_ns[b.row];
    }
    const Lane& lane_a = trace.LaneOf(kernels, a.row);
    const Lane& lane_b = trace.LaneOf(kernels, b.row);
    if (lane_a.stream != lane_b.stream) {
      return lane_a.stream < lane_b.stream;
    }
    const std::string_view name_a = trace.Text(kernels.name_to_classify(a.row));
    const std::string_view name_b = trace.Text(kernels.name_to_classify(b.row));
    return name_a != name_b ? name_a < name_b : kernels.lane[a.row] < kernels.lane[b.row];
  });
}

Object MakeRow(const Trace& trace, const Operation& one) {
  const KernelTable& kernels = trace.kernels;
  const Lane& lane = trace.LaneOf(kernels, one.row);
  const int64_t duration_ns = kernels.duration_ns(one.row);
  const double mean_ns = Ratio(one.kind->total_ns, one.kind->count);
  return {{"op_type", one.kind->operation},
          {"name", trace.Text(kernels.name_to_classify(one.row))},
          {"dur_ns", duration_ns},
          {"dur_ms", NsToMs(duration_ns, 3)},
          {"avg_ms", MeanMs(one.kind->total_ns, one.kind->count, 3)},
          {"ratio_to_avg", RoundHalfEven(static_cast<double>(duration_ns) / mean_ns, 1)},
          {"start", kernels.start_ns[one.row]},
          {"streamId", lane.stream},
          {"total_count", one.kind->count},
          {"deviceId", lane.device},
          {"pid", PidCell(lane)}};
}

std::string DeviceWord(std::optional<int64_t> device) {
  return device ? std::to_string(*device) : "?";
}

void AddNotes(const Collected& found, size_t outliers, double threshold, Answer& answer) {
  if (!found.operations.empty()) {
    answer.notes.push_back(fmt::format(
        "{} of {} ran longer than {:.4g} times the mean of their device and operation.", outliers,
        Counted(static_cast<int64_t>(found.operations.size()), "communication kernel"), threshold));
  }
  std::vector<std::string> few;
  for (const auto& [key, kind] : found.kinds) {
    if (static_cast<double>(kind.count) <= threshold) {
      few.push_back(
          fmt::format("{} on device {} ({})", kind.operation, DeviceWord(kind.device), kind.count));
    }
  }
  if (!few.empty()) {
    answer.notes.push_back(
        fmt::format("Too few operations to show an outlier: {}.", Join(few, ", ")));
  }
  if (found.straddling > 0) {
    answer.notes.push_back(fmt::format("{} at an edge of the window left out.",
                                       Counted(found.straddling, "communication kernel")));
  }
  if (outliers > 0) {
    answer.notes.emplace_back(
        "A long collective is often a wait for another rank: compare what each rank did before "
        "its start. Message sizes are not known here.");
  }
}

Result<Answer> Run(const Query& query) {
  const double threshold = query.params.Real("threshold");
  const Collected found = Collect(query);
  std::vector<Operation> outliers;
  std::copy_if(found.operations.begin(), found.operations.end(), std::back_inserter(outliers),
               [&](const Operation& one) {
                 return IsOutlier(query.trace.kernels.duration_ns(one.row), *one.kind, threshold);
               });
  Sort(query.trace, outliers);
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Answer answer;
  for (size_t i = 0; i < outliers.size() && i < limit; ++i) {
    answer.rows.push_back(MakeRow(query.trace, outliers[i]));
  }
  AddNotes(found, outliers.size(), threshold, answer);
  return answer;
}

std::string MeanCell(const Object& row) {
  return FormatDuration(std::llround(*row.Find("avg_ms")->AsDouble() * 1e6));
}

Param Threshold() {
  Param param = Param::Real("threshold", 3.0, "list kernels longer than this many times the mean");
  param.positive = true;
  return param;
}

}  // namespace

Skill skill_nccl_anomaly() {
  return {.name = "nccl_anomaly",
          .category = Category::kCommunication,
          .title = "NCCL Anomaly Detection",
          .doc =
              "Communication kernels that took far longer than the mean of their device and "
              "operation.",
          .needs = {TableId::kKernel, TableId::kStringIds},
          .reads = {{TableId::kKernel, {Column::kTime, Column::kLane, Column::kName}}},
          .params = {Threshold(), Param::Count("limit", 20, "largest number of kernels to list")},
          .columns = {{"op_type", Unit::kText, "operation as the kernel is named", "Operation"},
                      {"name", Unit::kText, "short name of the kernel, else demangled name"},
                      {"dur_ns", Unit::kNs, "duration"},
                      {"dur_ms", Unit::kMs, "duration", "Time", DurationCell("dur_ns")},
                      {"avg_ms", Unit::kMs, "mean duration of this operation on this device",
                       "Mean", MeanCell},
                      {"ratio_to_avg", Unit::kCount, "duration / that mean, at most total_count",
                       "x mean"},
                      {"start", Unit::kTimeNs, "start of the kernel", "Start ns"},
                      {"streamId", Unit::kId, "CUDA stream", "Stream"},
                      {"total_count", Unit::kCount,
                       "kernels of this operation on this device, the listed "
                       "included",
                       "Of"},
                      {"deviceId", Unit::kId, "CUDA device", "Device"},
                      {"pid", Unit::kId, "process id, null when the capture does not tell", "PID"}},
          .example = "-p threshold=1.01",
          .empty_text = "no communication kernel in the window is that much longer than its mean",
          .run = Run};
}

}  // namespace nsys

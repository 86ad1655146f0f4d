// SPDX-License-Identifier: MIT
#include "perfetto/extra_counters.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "perfetto/copy_kinds.h"

namespace nsys::perfetto {
namespace {

// Numbers of counters: those of memory stand before those of metrics.
constexpr int64_t kMemory = -1;

constexpr int32_t kAllocation = 0;
constexpr int32_t kRelease = 1;

// The memory of one kind in use by one process on one device.
struct InUse {
  uint32_t group = 0;
  int32_t kind = 0;
  int64_t bytes = 0;
  int64_t last_ns = 0;  // of the change before
  bool changed = false;
  uint32_t subject = kNone;
};

class MemoryCounters {
 public:
  MemoryCounters(const Trace& trace, const Layout& layout, const ExtraGroups& groups,
                 ExtraTracks& tracks)
      : trace_(trace), layout_(layout), groups_(groups), tracks_(tracks) {}

  void Add() {
    const MemoryUsageTable& rows = trace_.memory_usage;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      const int32_t operation = rows.operation[row];
      const uint32_t group = groups_.OfLane(rows.lane[row]);
      if (group != kNone && (operation == kAllocation || operation == kRelease)) {
        Change(Find(group, rows.kind[row]), rows.start_ns[row],
               operation == kAllocation ? rows.bytes[row] : -rows.bytes[row]);
      }
    }
    for (InUse& use : uses_) {
      Carry(use, INT64_MAX);
    }
  }

 private:
  InUse& Find(uint32_t group, int32_t kind) {
    const auto at = std::find_if(uses_.begin(), uses_.end(), [&](const InUse& use) {
      return use.group == group && use.kind == kind;
    });
    if (at != uses_.end()) {
      return *at;
    }
    uses_.push_back({.group = group, .kind = kind});
    return uses_.back();
  }

  void Change(InUse& use, int64_t time_ns, int64_t bytes) {
    Carry(use, time_ns);
    use.bytes += bytes;
    use.last_ns = time_ns;
    use.changed = true;
    if (IsInTrim(layout_.options, {time_ns, time_ns})) {
      Sample(use, time_ns);
    }
  }

  // What was in use before the trim stands at its beginning.
  void Carry(InUse& use, int64_t until_ns) {
    const std::optional<Span>& trim = layout_.options.trim;
    if (trim && use.changed && use.last_ns < trim->begin_ns && until_ns > trim->begin_ns) {
      Sample(use, trim->begin_ns);
    }
  }

  void Sample(InUse& use, int64_t time_ns) {
    if (use.subject == kNone) {
      use.subject = tracks_.Subject(
          {.group = use.group,
           .kind = TrackKind::kCounter,
           .first = kMemory,
           .second = use.kind,
           .proto_only = !layout_.options.extras.memory},
          [&] { return "GPU Memory / " + std::string(MemoryKindName(use.kind)) + " (bytes)"; });
    }
    tracks_.Sample(use.subject, time_ns, use.bytes);
  }

  const Trace& trace_;
  const Layout& layout_;
  const ExtraGroups& groups_;
  ExtraTracks& tracks_;
  std::vector<InUse> uses_;  // few
};

// The GPU that a process means by a device, when there is no doubt.
std::optional<int64_t> GpuOfDevice(const Trace& trace, const Group& group) {
  if (trace.cuda_devices.empty()) {
    return group.device;
  }
  std::optional<int64_t> found;
  for (const CudaDevice& device : trace.cuda_devices) {
    if (device.ordinal != group.device || !device.gpu ||
        device.pid.value_or(group.pid) != group.pid) {
      continue;
    }
    if (found.value_or(*device.gpu) != *device.gpu) {
      return std::nullopt;
    }
    found = device.gpu;
  }
  return found;
}

std::string MetricName(const Trace& trace, int64_t type, int32_t metric) {
  const auto at = std::lower_bound(
      trace.gpu_metric_names.begin(), trace.gpu_metric_names.end(), std::tuple(type, metric),
      [](const GpuMetricName& name, const std::tuple<int64_t, int64_t>& wanted) {
        return std::tuple(name.type, name.metric) < wanted;
      });
  const bool known = at != trace.gpu_metric_names.end() && at->type == type && at->metric == metric;
  return known ? at->name : "Metric " + std::to_string(metric);
}

class MetricCounters {
 public:
  MetricCounters(const Trace& trace, Layout& layout, const ExtraGroups& groups, ExtraTracks& tracks)
      : trace_(trace), layout_(layout), groups_(groups), tracks_(tracks) {}

  void Add() {
    const GpuMetricTable& rows = trace_.gpu_metrics;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (!IsInTrim(layout_.options, rows.span(row))) {
        continue;
      }
      for (const uint32_t subject : Subjects(rows.type[row], rows.metric[row])) {
        tracks_.Sample(subject, rows.start_ns[row], rows.value[row]);
      }
    }
  }

 private:
  // The tracks of a metric. Sources take their samples in turns, so there is a map.
  const std::vector<uint32_t>& Subjects(int64_t type, int32_t metric) {
    const auto [at, first] = subjects_.try_emplace({type, metric});
    if (first) {
      for (const uint32_t group : GroupsOf(type)) {
        at->second.push_back(tracks_.Subject(
            {.group = group, .kind = TrackKind::kCounter, .first = type, .second = metric},
            [&] { return MetricName(trace_, type, metric); }));
      }
    }
    return at->second;
  }

  const std::vector<uint32_t>& GroupsOf(int64_t type) {
    const auto [at, first] = groups_of_.try_emplace(type);
    if (!first) {
      return at->second;
    }
    constexpr int64_t kGpuBits = 0xFF;
    for (uint32_t group = 0; group < layout_.groups.size(); ++group) {
      const Group& about = layout_.groups[group];
      if (!about.host && GpuOfDevice(trace_, about) == (type & kGpuBits)) {
        at->second.push_back(group);
      }
    }
    if (at->second.empty()) {
      layout_.warnings.push_back("GPU metrics of source " + std::to_string(type) +
                                 ": no device of the trace is known to be that GPU; left out");
    }
    return at->second;
  }

  const Trace& trace_;
  Layout& layout_;
  const ExtraGroups& groups_;
  ExtraTracks& tracks_;
  std::map<std::pair<int64_t, int32_t>, std::vector<uint32_t>> subjects_;
  std::map<int64_t, std::vector<uint32_t>> groups_of_;
};

}  // namespace

void AddMemoryCounters(const Trace& trace, const Layout& layout, const ExtraGroups& groups,
                       ExtraTracks& tracks) {
  if (layout.options.extras.memory || layout.options.proto_memory) {
    MemoryCounters(trace, layout, groups, tracks).Add();
  }
}

void AddMetricCounters(const Trace& trace, Layout& layout, const ExtraGroups& groups,
                       ExtraTracks& tracks) {
  if (layout.options.extras.metrics) {
    MetricCounters(trace, layout, groups, tracks).Add();
  }
}

}  // namespace nsys::perfetto

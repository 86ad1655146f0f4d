// SPDX-License-Identifier: MIT
// What bounds one GPU: its compute, communication, copies, or the CPU?
//
// The window (without one: first start to last end of the device's kernels and graphs) in the parts
// of analysis/device_time.h: compute, communication alone, copies alone, idle; graphs traced as a
// whole are compute for the verdict. share = part / sum of the parts. margin = largest share −
// second largest. The class is that of the largest part when its share is at least 0.5 and the
// margin at least 0.15, else `mixed`; `mixed` as well below 1 ms. Idle time is the CPU's only as
// far as no copy runs: a GPU that copies does not wait for the CPU.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include "analysis/device_busy.h"
#include "analysis/device_time.h"
#include "analysis/dispatch.h"
#include "analysis/selection.h"
#include "analysis/sync_cost.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr size_t kTopNames = 5;
constexpr double kLeastMargin = 0.15;
constexpr double kLeastShare = 0.5;
constexpr double kClearMargin = 0.25;  // below it the verdict is worded as a tendency
constexpr int64_t kShortestPathNs = 1'000'000;

struct Part {
  std::string_view bound_class;
  std::string_view words;
  int64_t ns = 0;
};

struct Verdict {
  std::string_view bound_class = "n/a";
  double margin = 0;
  Part largest;
  Part second;
};

double Share(int64_t ns, int64_t total_ns) { return Ratio(ns, total_ns); }

Verdict Judge(const DeviceTime& time) {
  std::array<Part, 4> parts{{{"gpu-compute-bound", "compute", time.compute_ns + time.graph_ns},
                             {"comm-bound", "exposed communication", time.communication_ns},
                             {"cpu-bound", "an idle GPU", time.idle_ns},
                             {"copy-bound", "copies alone", time.copy_ns}}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.ns > b.ns; });
  const int64_t total_ns = time.span.length_ns();
  Verdict verdict{.largest = parts[0], .second = parts[1]};
  verdict.margin = Share(parts[0].ns, total_ns) - Share(parts[1].ns, total_ns);
  const bool clear = total_ns >= kShortestPathNs && verdict.margin >= kLeastMargin &&
                     Share(parts[0].ns, total_ns) >= kLeastShare;
  verdict.bound_class = clear ? parts[0].bound_class : "mixed";
  return verdict;
}

std::string Note(const Verdict& verdict, const DeviceTime& time) {
  const int64_t total_ns = time.span.length_ns();
  if (total_ns < kShortestPathNs) {
    return "Less than 1 ms: too short for a verdict.";
  }
  const std::string figures = fmt::format(
      "{:.0f} % of the time is {}, {:.0f} % is {}", 100 * Share(verdict.largest.ns, total_ns),
      verdict.largest.words, 100 * Share(verdict.second.ns, total_ns), verdict.second.words);
  if (verdict.bound_class == "mixed") {
    return "No part stands out: " + figures + ".";
  }
  return fmt::format("{}{}: {}.", verdict.margin < kClearMargin ? "Tends to be " : "",
                     verdict.bound_class, figures);
}

Object Breakdown(const DeviceTime& time) {
  const int64_t total_ns = time.span.length_ns();
  const auto share = [&](int64_t ns) { return RoundHalfEven(Share(ns, total_ns), 4); };
  return {{"gpu_compute_ms", NsToMs(time.compute_ns, 3)},
          {"comm_ms", NsToMs(time.communication_ns, 3)},
          {"cpu_ms", NsToMs(time.idle_ns, 3)},
          {"gpu_compute_share", share(time.compute_ns)},
          {"comm_share", share(time.communication_ns)},
          {"cpu_share", share(time.idle_ns)},
          {"copy_ms", NsToMs(time.copy_ns, 3)},
          {"graph_ms", NsToMs(time.graph_ns, 3)},
          {"copy_share", share(time.copy_ns)},
          {"graph_share", share(time.graph_ns)}};
}

struct NameTotal {
  std::string_view name;
  int64_t instances = 0;
  int64_t total_ns = 0;
  Hull hull;
};

List TopList(std::vector<NameTotal> totals) {
  std::sort(totals.begin(), totals.end(), [](const NameTotal& a, const NameTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  List list;
  for (size_t i = 0; i < totals.size() && i < kTopNames; ++i) {
    const NameTotal& one = totals[i];
    list.emplace_back(Object{{"name", one.name},
                             {"instances", one.instances},
                             {"total_ms", NsToMs(one.total_ns, 3)},
                             {"start_ns", one.hull.span()->begin_ns},
                             {"end_ns", one.hull.span()->end_ns}});
  }
  return list;
}

struct TopLists {
  List compute;
  List communication;
};

// Kernels of the device that overlap the span, by name; the parts inside count.
TopLists FindTop(Views& views, int64_t device, const Span& span) {
  const Trace& trace = views.trace();
  const KernelTable& kernels = trace.kernels;
  const LanesOnDevice on_device(trace, device);
  std::map<StringId, NameTotal> by_name;
  for (size_t row = 0; row < kernels.size() && kernels.start_ns[row] < span.end_ns; ++row) {
    const int64_t ns = ClippedLength(kernels.span(row), span.begin_ns, span.end_ns);
    if (ns == 0 || !on_device(kernels.lane[row])) {
      continue;
    }
    NameTotal& total = by_name[kernels.name_to_classify(row)];
    ++total.instances;
    total.total_ns += ns;
    total.hull.Add(kernels.span(row));
  }
  std::vector<NameTotal> compute;
  std::vector<NameTotal> communication;
  for (auto& [name, total] : by_name) {
    total.name = trace.Text(name);
    (views.communication().IsCommunication(name) ? communication : compute).push_back(total);
  }
  return {.compute = TopList(std::move(compute)),
          .communication = TopList(std::move(communication))};
}

// What the CPU did about this device; null where the capture does not tell.
Object CpuCell(const Query& query, int64_t device, const std::optional<Span>& span) {
  Object cell{{"sync_wall_ms", nullptr}, {"dispatch_starvation_events", nullptr}};
  if (span) {
    if (const auto& cost = SyncCostOf(query.views, device, *span)) {
      cell.Set("sync_wall_ms", NsToMs(cost->all.blocked_ns, 3));
    }
  }
  if (query.trace.schema.Has(TableId::kRuntime)) {
    cell.Set("dispatch_starvation_events",
             DispatchesOf(query.views, device, query.window).starved());
  }
  return cell;
}

Object MakeRow(const Query& query, int64_t device, const std::optional<DeviceTime>& found) {
  const DeviceTime time = found.value_or(DeviceTime{});
  const Verdict verdict = found ? Judge(time) : Verdict{};
  TopLists top;
  std::optional<Span> span;
  if (found) {
    top = FindTop(query.views, device, time.span);
    span = time.span;
  } else if (query.window) {
    span = RecordedPart(query.trace, *query.window);
  }
  return {{"bound_class", verdict.bound_class},
          {"confidence", RoundHalfEven(verdict.margin, 3)},
          {"margin", RoundHalfEven(verdict.margin, 4)},
          {"critical_path_ms", NsToMs(time.span.length_ns(), 3)},
          {"device", device},
          {"breakdown", Breakdown(time)},
          {"top_compute_kernels", std::move(top.compute)},
          {"top_collectives", std::move(top.communication)},
          {"cpu_attribution", CpuCell(query, device, span)},
          {"note", found ? Note(verdict, time)
                         : fmt::format("No kernel ran on device {} in the window.", device)},
          {"span_start_ns", found ? Value(time.span.begin_ns) : Value()},
          {"span_end_ns", found ? Value(time.span.end_ns) : Value()}};
}

// Says which device was taken when none was asked for.
void NoteDevice(const Query& query, int64_t device, Answer& answer) {
  std::vector<std::string> others;
  for (const int64_t other : DevicesWithKernels(query.trace)) {
    if (other != device) {
      others.push_back(std::to_string(other));
    }
  }
  if (!others.empty() && !query.params.OptionalInt("device")) {
    answer.notes.push_back(
        fmt::format("Device {} has the most kernel time; kernels also ran on device {} "
                    "(-p device=N).",
                    device, Join(others, ", ")));
  }
}

Result<Answer> Run(const Query& query) {
  const auto asked = query.params.OptionalInt("device");
  const auto device = asked ? asked : BusiestDevice(query.trace, query.window);
  if (!device) {
    return Answer::Abstain("The kernels of this capture carry no device number.");
  }
  Answer answer;
  answer.rows.push_back(MakeRow(query, *device, DeviceTimeOf(query.views, *device, query.window)));
  NoteDevice(query, *device, answer);
  answer.notes.emplace_back(
      "How the time divides, not what could be saved: parts that shrink let others grow.");
  return answer;
}

// ---- text form

std::string PartLine(const Object& parts, std::string_view title, std::string_view key) {
  const double ms = *parts.Find(fmt::format("{}_ms", key))->AsDouble();
  const double share = *parts.Find(fmt::format("{}_share", key))->AsDouble();
  return fmt::format("{:<20}{:>12.2f} ms{:>8.1f} %\n", title, ms, 100 * share);
}

std::string TopLines(const Object& row, std::string_view title, std::string_view key) {
  constexpr size_t kNameWidth = 76;
  const List& list = *row.Find(key)->AsList();
  std::string text = list.empty() ? "" : fmt::format("\n{}\n", title);
  for (const Value& one : list) {
    const Object& kernel = *one.AsObject();
    text += fmt::format("{:>12.2f} ms {:>8}  {}\n", *kernel.Find("total_ms")->AsDouble(),
                        FormatCount(*kernel.Find("instances")->AsInt()),
                        CutMiddle(Printable(*kernel.Find("name")->AsText()), kNameWidth));
  }
  return text;
}

std::string CpuLine(const Object& row) {
  const Object& cpu = *row.Find("cpu_attribution")->AsObject();
  const double* sync = cpu.Find("sync_wall_ms")->AsDouble();
  const int64_t* starved = cpu.Find("dispatch_starvation_events")->AsInt();
  const std::string blocked = sync == nullptr
                                  ? "host synchronization was not recorded"
                                  : fmt::format("the host waits for this GPU for {:.2f} ms", *sync);
  const std::string late = starved == nullptr ? "API calls were not recorded"
                                              : fmt::format("this GPU waited for the launch of {}",
                                                            Counted(*starved, "kernel"));
  return fmt::format("\nCPU: {}; {}.\n", blocked, late);
}

std::string Report(const Answer& answer) {
  const Object& row = answer.rows.front();
  const Object& parts = *row.Find("breakdown")->AsObject();
  std::string text =
      fmt::format("Device {}, {:.2f} ms. {}\n\n", *row.Find("device")->AsInt(),
                  *row.Find("critical_path_ms")->AsDouble(), *row.Find("note")->AsText());
  text += PartLine(parts, "Compute", "gpu_compute");
  text += PartLine(parts, "Communication alone", "comm");
  text += PartLine(parts, "Copies alone", "copy");
  text += *parts.Find("graph_ms")->AsDouble() > 0 ? PartLine(parts, "Whole CUDA graphs", "graph")
                                                  : std::string();
  text += PartLine(parts, "Idle", "cpu");
  text += TopLines(row, "Kernels: time, count, name", "top_compute_kernels");
  text += TopLines(row, "Communication: time, count, name", "top_collectives");
  return text + CpuLine(row);
}

Reads SkillReads() {
  Reads reads;
  AddDeviceBusyReads(reads);
  AddDispatchReads(reads);
  AddSyncCostReads(reads);
  reads.Add(TableId::kKernel, {Column::kName});
  return reads;
}

}  // namespace

Skill skill_critical_path() {
  return {
      .name = "critical_path",
      .category = Category::kSystem,
      .title = "Critical Path",
      .doc =
          "What bounds one GPU: compute, exposed communication, copies, or the CPU that leaves it "
          "idle.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = SkillReads(),
      .params = {Param::Optional("device", ParamType::kInt,
                                 "GPU device id; without it the device with the most kernel time")},
      .window_rule = WindowRule::kClip,
      .columns =
          {{"bound_class", Unit::kText,
            "gpu-compute-bound, comm-bound, copy-bound, cpu-bound, mixed, or n/a without kernels"},
           {"confidence", Unit::kCount, "the margin, to three decimals"},
           {"margin", Unit::kCount, "largest share − second largest share, 0 to 1"},
           {"critical_path_ms", Unit::kMs,
            "the window as far as anything was recorded, else first start to last end of the "
            "device's kernels and graphs; the sum of the parts"},
           {"device", Unit::kId, "CUDA device"},
           {"breakdown", Unit::kNested,
            "ms and share (0 to 1 of critical_path_ms) of: compute kernels, communication without "
            "compute, nothing at all (cpu), copies or memsets alone, whole-traced graphs alone"},
           {"top_compute_kernels", Unit::kNested,
            "five names with the most summed time inside the window; first start, last end"},
           {"top_collectives", Unit::kNested, "the same of communication kernels"},
           {"cpu_attribution", Unit::kNested,
            "of this device: time the host is blocked in synchronization, and kernels for which "
            "the "
            "GPU waited (cpu_gpu_pipeline); null where not recorded"},
           {"note", Unit::kText, "the verdict in words"},
           {"span_start_ns", Unit::kTimeNs, "begin of the time looked at; null without kernels"},
           {"span_end_ns", Unit::kTimeNs, "its end; null without kernels"}},
      .report = Report,
      .run = Run};
}

}  // namespace nsys

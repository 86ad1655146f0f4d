// SPDX-License-Identifier: MIT
#include "analysis/manifest_report.h"

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

const Object& Section(const Object& row, std::string_view key) {
  return *row.Find(key)->AsObject();
}

double Real(const Object& object, std::string_view key) {
  const Value* value = object.Find(key);
  if (value == nullptr) {
    return 0;
  }
  const double* real = value->AsDouble();
  const int64_t* integer = value->AsInt();
  return real != nullptr ? *real : integer != nullptr ? static_cast<double>(*integer) : 0;
}

int64_t Count(const Object& object, std::string_view key) { return *object.Find(key)->AsInt(); }

std::string Words(const Object& object, std::string_view key) {
  return Printable(*object.Find(key)->AsText());
}

class ReportText {
 public:
  void Line(std::string_view heading, const std::string& words) {
    text_ += fmt::format("{:<15}{}\n", heading, words);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string WorkloadWords(const Object& fingerprint) {
  std::string words = Words(fingerprint, "framework");
  if (*fingerprint.Find("distributed")->AsBool()) {
    words += ", distributed";
  }
  const std::string evidence = Words(fingerprint, "framework_evidence");
  return evidence.empty() ? words : fmt::format("{} ({})", words, evidence);
}

void ReportTime(const Object& row, ReportText& report) {
  const Object& overlap = Section(row, "overlap");
  if (overlap.Find("error") != nullptr) {
    report.Line("Device time", Words(overlap, "error") + ": " + Words(overlap, "hint"));
    return;
  }
  report.Line("Device time",
              fmt::format("{:.2f} ms compute, {:.2f} ms compute and communication, {:.2f} ms "
                          "communication alone, {:.2f} ms no kernel",
                          Real(overlap, "compute_only_ms"), Real(overlap, "overlap_ms"),
                          Real(overlap, "nccl_only_ms"), Real(overlap, "idle_ms")));
  const Object& idle = Section(row, "idle");
  report.Line("Idle", fmt::format("{:.2f} ms ({:.1f} %) nothing at all runs, no kernel and no copy",
                                  Real(idle, "device_idle_ms"), Real(idle, "device_idle_pct")));
}

void ReportCommunication(const Object& row, ReportText& report) {
  const Object& nccl = Section(row, "nccl");
  if (Count(nccl, "collectives") == 0) {
    report.Line("Communication", "none");
    return;
  }
  report.Line("Communication",
              fmt::format("{} on {}, {:.1f} ms, {:.1f} % of it {}; {:.1f} % hidden behind compute",
                          Counted(Count(nccl, "collectives"), "kernel"),
                          Counted(Count(nccl, "streams"), "stream"), Real(nccl, "total_nccl_ms"),
                          Real(nccl, "dominant_pct"), Words(nccl, "dominant_type"),
                          Real(Section(row, "overlap"), "overlap_pct")));
}

void ReportHost(const Object& row, ReportText& report) {
  const Object& sync = Section(row, "sync");
  if (!sync.empty()) {
    report.Line("Host waits",
                fmt::format("{:.2f} ms in synchronization ({:.1f} % of the span)",
                            Real(sync, "total_sync_wall_ms"), Real(sync, "sync_density_pct")));
  }
  const Object& nvtx = Section(row, "nvtx");
  if (!*nvtx.Find("has_nvtx")->AsBool()) {
    report.Line("NVTX", "no ranges");
    return;
  }
  if (nvtx.Find("iteration_count") != nullptr) {
    report.Line("Iterations",
                fmt::format("{}, median {:.1f} ms, slowest {:.1f} ms",
                            FormatCount(Count(nvtx, "iteration_count")),
                            Real(nvtx, "median_iter_ms"), Real(nvtx, "slowest_iter_ms")));
  }
  std::string_view heading = "Ranges (host)";
  for (const Value& value : *nvtx.Find("top_regions")->AsList()) {
    const Object& range = *value.AsObject();
    report.Line(heading, fmt::format("{:>10.1f} ms  {:>7} x  {}", Real(range, "total_ms"),
                                     FormatCount(Count(range, "count")), Words(range, "name")));
    heading = "";
  }
}

void ReportCauses(const Object& row, ReportText& report) {
  std::string_view heading = "Causes";
  for (const Value& value : *row.Find("root_causes")->AsList()) {
    const Object& cause = *value.AsObject();
    const double recoverable = Real(cause, "recoverable_ms");
    report.Line(heading, fmt::format("{} ({}){}", Words(cause, "pattern"), Words(cause, "severity"),
                                     recoverable > 0 ? fmt::format(", up to {:.2f} ms", recoverable)
                                                     : std::string()));
    heading = "";
  }
  const int64_t count = Count(row, "root_cause_count");
  const int64_t listed = std::ssize(*row.Find("root_causes")->AsList());
  if (count == 0) {
    report.Line("Causes", "none of the known ones");
  } else if (count > listed) {
    report.Line("", fmt::format("and {} more", count - listed));
  }
}

}  // namespace

std::string ManifestReport(const Answer& answer) {
  const Object& row = answer.rows.front();
  ReportText report;
  const std::string gpu = Words(row, "gpu");
  report.Line("GPU", fmt::format("{}, device {}", gpu == "unknown" ? "not recorded" : gpu,
                                 Count(row, "device")));
  report.Line("Workload", WorkloadWords(Section(row, "fingerprint")));
  for (const Value& note : *Section(row, "fingerprint").Find("precision_notes")->AsList()) {
    report.Line("Precision", *note.AsText());
  }
  report.Line("Span", fmt::format("{:.1f} ms, first to last kernel of all GPUs",
                                  Real(row, "profile_span_ms")));
  ReportTime(row, report);
  std::string_view heading = "Top kernels";
  for (const Value& value : *row.Find("top_kernels")->AsList()) {
    const Object& kernel = *value.AsObject();
    report.Line(heading, fmt::format("{:>10.2f} ms  {:>7} x  {}", Real(kernel, "total_ms"),
                                     FormatCount(Count(kernel, "count")), Words(kernel, "name")));
    heading = "";
  }
  ReportCommunication(row, report);
  ReportHost(row, report);
  const Object& quality = Section(row, "data_quality");
  if (Real(quality, "overhead_pct") >= 0.1) {
    report.Line("Profiler",
                fmt::format("cost {:.1f} ms ({:.1f} % of the span)",
                            Real(quality, "profiler_overhead_ms"), Real(quality, "overhead_pct")));
  }
  ReportCauses(row, report);
  report.Line("Bottleneck", row.Find("suspected_bottleneck") != nullptr
                                ? Words(row, "suspected_bottleneck")
                                : "nothing that stands out by itself");
  return report.Take() + "\nNext: nsys-ai skill run root_cause_matcher PROFILE says what to do.\n";
}

}  // namespace nsys

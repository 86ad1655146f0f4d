// SPDX-License-Identifier: MIT
// How close does one region of the program come to the peak of its GPUs?
//
// achieved = theoretical_flops / time, in 10^12 operations per second;
// MFU % = 100 · achieved / (peak of one GPU · num_gpus).
// Three times: wall = length of the range on the host (of a kernel name: first start to last end);
// sum = summed kernel durations; union = time in which at least one of the kernels ran, over all
// devices. Which kernels: analysis/region_work.h. The peak is given, or that of the GPUs the
// kernels ran on (analysis/gpu_peaks.h). A figure above 100 % is no result: the answer is then a
// problem with numerator and denominator. One row.
#include <algorithm>

#include <fmt/core.h>

#include "analysis/gpu_of_device.h"
#include "analysis/gpu_peaks.h"
#include "analysis/mfu.h"
#include "analysis/region_work.h"
#include "analysis/runner.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

Answer Refuse(std::string_view code, std::string message, const Object& figures = {}) {
  Object row{{"error", Object{{"code", code}, {"message", std::move(message)}}}};
  for (const auto& [key, value] : figures.entries()) {
    row.Set(key, value);
  }
  return Answer::Problem(std::move(row));
}

// A problem when the capture knows devices, but not the wanted one.
std::optional<Answer> RefuseUnknownDevice(const Query& query) {
  const auto device = query.params.OptionalInt("device_id");
  const Object available = AvailableDevices(query.trace);
  if (!device || available.empty() || available.Find(std::to_string(*device)) != nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> options;
  for (const auto& [number, count] : available.entries()) {
    options.push_back("-p device_id=" + number);
  }
  return Answer::Problem({{"error", "no kernels found"},
                          {"requested_device", *device},
                          {"available_devices", available},
                          {"hint", fmt::format("no kernel ran on device {}; try {}", *device,
                                               Join(options, " or "))}});
}

std::optional<Answer> CheckArguments(const Query& query) {
  const std::string& source = query.params.Text("source");
  if (source != "nvtx" && source != "kernel") {
    return Refuse("INVALID_ARGUMENT",
                  fmt::format("source is 'nvtx' or 'kernel', not '{}'", source));
  }
  for (const TableId table : {TableId::kNvtx, TableId::kRuntime}) {
    if (source == "nvtx" && !query.trace.schema.Has(table)) {
      return Answer::Abstain(
          fmt::format("This capture has no {} table, so no kernel can be placed in an NVTX range. "
                      "Capture again with nsys profile --trace=cuda,nvtx, or measure kernels by "
                      "name: -p source=kernel.",
                      CanonicalName(table)),
          {{"missing_tables", List{std::string(CanonicalName(table))}}});
    }
  }
  if (query.params.Text("name").empty()) {
    return Refuse("INVALID_ARGUMENT", "name is empty; it would match everything");
  }
  if (const double flops = query.params.Real("theoretical_flops"); flops <= 0) {
    return Refuse(
        "INVALID_ARGUMENT",
        fmt::format("theoretical_flops is {}; work that ran has more than 0", FormatDouble(flops)));
  }
  if (!ParseTextMatch(query.params.Text("match_mode"))) {
    return Refuse("INVALID_ARGUMENT",
                  fmt::format("match_mode is 'contains', 'exact' or 'startswith', not '{}'",
                              query.params.Text("match_mode")));
  }
  if (!ParseDataType(query.params.Text("precision"))) {
    return Refuse("INVALID_ARGUMENT",
                  fmt::format("precision is fp64, fp32, tf32, fp16, fp8 or int8, not '{}'",
                              query.params.Text("precision")));
  }
  return std::nullopt;
}

// The peak of one GPU: given, or that of all GPUs the region ran on, when they agree.
GpuPeak PeakOfRegion(const Query& query, const RegionWork& work) {
  if (const auto given = query.params.OptionalReal("peak_tflops")) {
    return {.tflops = given, .words = "given as peak_tflops"};
  }
  const DataType type = *ParseDataType(query.params.Text("precision"));
  std::optional<GpuPeak> agreed;
  for (const DeviceWork& device : work.devices) {
    const Gpu* gpu = GpuOfDevice(query.trace, device.device);
    GpuPeak peak = PeakOf(gpu, type);
    if (!peak.tflops) {
      return peak;
    }
    if (agreed && agreed->tflops != peak.tflops) {
      return {.words = "the devices of the region are GPUs with different peaks"};
    }
    agreed = std::move(peak);
  }
  return agreed.value_or(GpuPeak{.words = "the kernels of the region carry no device number"});
}

// One rate for each basis of time.
struct Rates {
  Rate wall, sum, busy;
  bool possible() const { return wall.possible() && sum.possible() && busy.possible(); }
};

Rates RatesOf(const RegionWork& work, double flops, double peak_tflops) {
  return {.wall = RateOf(flops, work.wall_ns, peak_tflops),
          .sum = RateOf(flops, work.sum_ns, peak_tflops),
          .busy = RateOf(flops, work.union_ns, peak_tflops)};
}

double Seconds(int64_t ns) { return RoundHalfEven(static_cast<double>(ns) / 1e9, 6); }

std::string ImpossibleText(const RegionWork& work, const Rates& rates, double flops, double peak,
                           const GpuPeak& source) {
  if (rates.busy.possible()) {
    return ImpossibleRateText(flops, work.wall_ns, "wall time", peak, source) +
           fmt::format(
               " The range ended on the host before its kernels had run: they took {}, and "
               "by that it is {:.2f} %. Let the range enclose the wait for them.",
               FormatDuration(work.union_ns), rates.busy.mfu_pct);
  }
  return ImpossibleRateText(flops, work.union_ns, "GPU time", peak, source) +
         fmt::format(
             " Check theoretical_flops (the total of this region, not a rate or a whole "
             "job), num_gpus (kernels ran on {}), and {}.",
             Counted(std::ssize(work.devices), "GPU"), OtherPeaksText(source));
}

// Above 100 %: the figures under other names, so that none can be taken for a result.
Answer RefuseImpossible(const RegionWork& work, const Rates& rates, double flops, double peak,
                        const GpuPeak& source) {
  return Refuse("MFU_OUT_OF_RANGE", ImpossibleText(work, rates, flops, peak, source),
                {{"implied_mfu_pct_wall", RoundHalfEven(rates.wall.mfu_pct, 2)},
                 {"implied_mfu_pct_kernel_sum", RoundHalfEven(rates.sum.mfu_pct, 2)},
                 {"implied_mfu_pct_kernel_union", RoundHalfEven(rates.busy.mfu_pct, 2)},
                 {"theoretical_flops", flops},
                 {"effective_peak_tflops", peak},
                 {"wall_ns", work.wall_ns},
                 {"gpu_kernel_sum_ns", work.sum_ns},
                 {"gpu_kernel_union_ns", work.union_ns},
                 {"kernel_count", work.kernel_count},
                 {"matched_text", work.matched_text}});
}

List DeviceRows(const RegionWork& work) {
  List rows;
  for (const DeviceWork& device : work.devices) {
    rows.emplace_back(Object{{"device_id", device.device},
                             {"kernel_count", device.kernel_count},
                             {"gpu_kernel_sum_ns", device.sum_ns},
                             {"gpu_kernel_union_ns", device.union_ns}});
  }
  return rows;
}

List DeviceIds(const RegionWork& work) {
  List ids;
  for (const DeviceWork& device : work.devices) {
    ids.emplace_back(device.device);
  }
  return ids;
}

Object MakeRow(const Query& query, const RegionWork& work, const Rates& rates,
               const GpuPeak& per_gpu, int64_t num_gpus) {
  const Params& params = query.params;
  const double peak = *per_gpu.tflops * static_cast<double>(num_gpus);
  const bool by_kernel = params.Text("source") == "kernel";
  const auto r2 = [](double value) { return RoundHalfEven(value, 2); };
  const double headroom_ms =
      static_cast<double>(work.union_ns) / 1e6 * (1 - rates.busy.mfu_pct / 100);
  return {{"source", params.Text("source")},
          {"name", params.Text("name")},
          {"matched_text", work.matched_text},
          {"match_mode", params.Text("match_mode")},
          {"occurrence_index", by_kernel ? Value() : Value(params.Int("occurrence_index"))},
          {"device_id", params.OptionalInt("device_id")},
          {"profile_path", query.profile.empty() ? Value() : Value(query.profile)},
          {"num_gpus", num_gpus},
          {"peak_tflops_per_gpu", *per_gpu.tflops},
          {"effective_peak_tflops", peak},
          {"wall_time_s", Seconds(work.wall_ns)},
          {"gpu_kernel_sum_s", Seconds(work.sum_ns)},
          {"gpu_kernel_union_s", Seconds(work.union_ns)},
          {"time_basis_used", "wall"},
          {"kernel_count", work.kernel_count},
          {"device_ids", DeviceIds(work)},
          {"stream_ids", List(work.streams.begin(), work.streams.end())},
          {"theoretical_flops", params.Real("theoretical_flops")},
          {"peak_tflops", peak},
          {"achieved_tflops_wall", r2(rates.wall.tflops)},
          {"achieved_tflops_kernel_sum", r2(rates.sum.tflops)},
          {"achieved_tflops_kernel_union", r2(rates.busy.tflops)},
          {"mfu_pct_wall", r2(rates.wall.mfu_pct)},
          {"mfu_pct_kernel_sum", r2(rates.sum.mfu_pct)},
          {"mfu_pct_kernel_union", r2(rates.busy.mfu_pct)},
          {"headroom_ms", r2(headroom_ms)},
          {"wall_ns", work.wall_ns},
          {"gpu_kernel_sum_ns", work.sum_ns},
          {"gpu_kernel_union_ns", work.union_ns},
          {"start_ns", work.span.begin_ns},
          {"end_ns", work.span.end_ns},
          {"per_device", DeviceRows(work)},
          {"peak_source", per_gpu.words}};
}

void AddNotes(const Query& query, const RegionWork& work, int64_t num_gpus, Answer& answer) {
  if (!work.note.empty()) {
    answer.notes.push_back(work.note);
  }
  if (query.params.Int("num_gpus") < 1) {
    answer.notes.emplace_back("num_gpus below 1 counts as 1.");
  }
  if (std::ssize(work.devices) > num_gpus) {
    answer.notes.push_back(fmt::format(
        "The kernels ran on {} GPUs, the peak is that of {}: pass -p num_gpus={} if the "
        "FLOPs are those of all of them, or -p device_id=N.",
        work.devices.size(), num_gpus, work.devices.size()));
  }
  if (work.devices.size() > 1) {
    for (const DeviceWork& device : work.devices) {
      answer.notes.push_back(fmt::format("Device {}: {}, {} busy, {} summed.", device.device,
                                         Counted(device.kernel_count, "kernel"),
                                         FormatDuration(device.union_ns),
                                         FormatDuration(device.sum_ns)));
    }
  }
  answer.notes.emplace_back(
      query.params.Text("source") == "nvtx"
          ? "Kernels that other threads launched meanwhile (a backward pass, say) are not counted; "
            "--trim does not matter here."
          : "All kernels of that name in the whole capture; --trim does not matter here.");
}

Result<Answer> Run(const Query& query) {
  for (const auto& check : {RefuseUnknownDevice, CheckArguments}) {
    if (auto answer = check(query)) {
      return *std::move(answer);
    }
  }
  const Params& params = query.params;
  const WorkQuery wanted{.name = params.Text("name"),
                         .match = *ParseTextMatch(params.Text("match_mode")),
                         .occurrence = params.Int("occurrence_index"),
                         .device = params.OptionalInt("device_id")};
  const auto found = params.Text("source") == "kernel" ? WorkOfKernels(query.views, wanted)
                                                       : WorkOfRange(query.views, wanted);
  if (const auto* problem = std::get_if<RegionProblem>(&found)) {
    return Refuse(problem->code, problem->message);
  }
  const RegionWork& work = std::get<RegionWork>(found);
  const GpuPeak per_gpu = PeakOfRegion(query, work);
  if (!per_gpu.tflops) {
    return Refuse("GPU_PEAK_UNKNOWN",
                  fmt::format("The peak is unknown: {}. Pass it: -p peak_tflops=…", per_gpu.words));
  }
  if (*per_gpu.tflops <= 0) {
    return Refuse("INVALID_ARGUMENT", fmt::format("peak_tflops is {}; a peak is greater than 0",
                                                  FormatDouble(*per_gpu.tflops)));
  }
  const int64_t num_gpus = std::max<int64_t>(params.Int("num_gpus"), 1);
  const double flops = params.Real("theoretical_flops");
  const double peak = *per_gpu.tflops * static_cast<double>(num_gpus);
  const Rates rates = RatesOf(work, flops, peak);
  if (!rates.possible()) {
    return RefuseImpossible(work, rates, flops, peak, per_gpu);
  }
  Answer answer;
  answer.rows.push_back(MakeRow(query, work, rates, per_gpu, num_gpus));
  AddNotes(query, work, num_gpus, answer);
  return answer;
}

std::vector<Param> RegionParams() {
  return {
      Param::Required("name", ParamType::kText, "text of an NVTX range, or name of kernels"),
      Param::Required("theoretical_flops", ParamType::kFloat,
                      "operations that the region has to do in all (see theoretical_flops)"),
      Param::Text("source", "nvtx", "nvtx: one range; kernel: all kernels of a name"),
      Param::Optional(
          "peak_tflops", ParamType::kFloat,
          "peak of one GPU in TFLOP/s; without it, the GPU of the capture is looked up"),
      Param::Count("num_gpus", 1, "GPUs whose peaks add up; at least 1"),
      Param::Int("occurrence_index", 1, "which of the matching ranges, from 1 in order of start"),
      Param::Optional("device_id", ParamType::kInt, "only kernels on this CUDA device"),
      Param::Text("match_mode", "contains",
                  "contains, exact or startswith; literal and case-sensitive"),
      Param::Text("precision", "fp16",
                  "data type of the looked-up peak: fp64, fp32, tf32, fp16 (or bf16), fp8, int8")};
}

std::string PercentOf(const Object& row, std::string_view mfu, std::string_view achieved,
                      std::string_view ns) {
  return fmt::format("{:.2f} %  ({:.2f} TFLOP/s in {})", *row.Find(mfu)->AsDouble(),
                     *row.Find(achieved)->AsDouble(), FormatDuration(*row.Find(ns)->AsInt()));
}
std::string WallCell(const Object& row) {
  return PercentOf(row, "mfu_pct_wall", "achieved_tflops_wall", "wall_ns");
}
std::string SumCell(const Object& row) {
  return PercentOf(row, "mfu_pct_kernel_sum", "achieved_tflops_kernel_sum", "gpu_kernel_sum_ns");
}
std::string UnionCell(const Object& row) {
  return PercentOf(row, "mfu_pct_kernel_union", "achieved_tflops_kernel_union",
                   "gpu_kernel_union_ns");
}
std::string PeakCell(const Object& row) {
  return fmt::format("{} TFLOP/s x {}  ({})",
                     FormatDouble(*row.Find("peak_tflops_per_gpu")->AsDouble()),
                     *row.Find("num_gpus")->AsInt(), *row.Find("peak_source")->AsText());
}
std::string FlopsCell(const Object& row) {
  return fmt::format("{:.6g}", *row.Find("theoretical_flops")->AsDouble());
}

std::vector<ColumnSpec> RegionColumns() {
  return {
      {"source", Unit::kText, "nvtx or kernel"},
      {"name", Unit::kText, "the name asked for"},
      {"matched_text", Unit::kText, "text of the range, or name of the earliest kernel", "Region"},
      {"match_mode", Unit::kText, "how the name was compared"},
      {"occurrence_index", Unit::kCount, "which of the matching ranges; null for kernels",
       "Occurrence"},
      {"device_id", Unit::kId, "the device asked for, or null for all"},
      {"profile_path", Unit::kText, "the capture as it was named"},
      {"num_gpus", Unit::kCount, "GPUs whose peaks add up"},
      {"peak_tflops_per_gpu", Unit::kCount, "peak of one GPU, TFLOP/s", "Peak", PeakCell},
      {"effective_peak_tflops", Unit::kCount, "that times num_gpus: the denominator of every MFU"},
      {"wall_time_s", Unit::kSeconds,
       "range: its length on the host; kernels: first start to last "
       "end"},
      {"gpu_kernel_sum_s", Unit::kSeconds, "summed kernel durations"},
      {"gpu_kernel_union_s", Unit::kSeconds, "time in which at least one kernel ran, all devices"},
      {"time_basis_used", Unit::kText, "always wall; all three bases are given"},
      {"kernel_count", Unit::kCount, "kernels of the region", "Kernels"},
      {"device_ids", Unit::kNested, "devices they ran on", "Devices"},
      {"stream_ids", Unit::kNested, "streams they ran on"},
      {"theoretical_flops", Unit::kCount, "operations, as given: the numerator", "FLOPs",
       FlopsCell},
      {"peak_tflops", Unit::kCount, "same as effective_peak_tflops"},
      {"achieved_tflops_wall", Unit::kCount, "FLOPs / wall time / 10^12"},
      {"achieved_tflops_kernel_sum", Unit::kCount, "FLOPs / summed durations / 10^12"},
      {"achieved_tflops_kernel_union", Unit::kCount, "FLOPs / union / 10^12"},
      {"mfu_pct_wall", Unit::kPct, "100 · achieved in wall time / peak", "MFU by wall time",
       WallCell},
      {"mfu_pct_kernel_sum", Unit::kPct, "100 · achieved in summed durations / peak",
       "MFU by kernel sum", SumCell},
      {"mfu_pct_kernel_union", Unit::kPct, "100 · achieved in the union / peak",
       "MFU by kernel union", UnionCell},
      {"headroom_ms", Unit::kMs, "union · (1 - MFU by union): what running at the peak would save",
       "Headroom"},
      {"wall_ns", Unit::kNs, "wall time, exact"},
      {"gpu_kernel_sum_ns", Unit::kNs, "summed durations, exact"},
      {"gpu_kernel_union_ns", Unit::kNs, "union, exact"},
      {"start_ns", Unit::kTimeNs, "start of the range, or of the first kernel"},
      {"end_ns", Unit::kTimeNs, "end of the range, or of the last kernel"},
      {"per_device", Unit::kNested, "kernels, sum and union of each device alone"},
      {"peak_source", Unit::kText, "where the peak comes from"}};
}

Reads ReadsOf(const Params& params, const std::optional<Window>& /*window*/) {
  const auto match = ParseTextMatch(params.Text("match_mode"));
  return WithGpuReads(match ? RegionReadsOf(params.Text("name"), *match) : RegionReads());
}

}  // namespace

Skill skill_region_mfu() {
  return {.name = "region_mfu",
          .category = Category::kKernels,
          .title = "Region-Level MFU",
          .doc =
              "Model FLOPs utilization of one NVTX range or kernel name: by wall time, by summed "
              "and by busy kernel time.",
          .needs = {TableId::kKernel, TableId::kStringIds},
          .reads = WithGpuReads(RegionReads()),
          .reads_for = ReadsOf,
          .params = RegionParams(),
          .window_rule = WindowRule::kIgnored,
          .columns = RegionColumns(),
          .example = "-p name=forward -p theoretical_flops=1e11 -p occurrence_index=3",
          .text_form = TextForm::kFields,
          .run = Run};
}

}  // namespace nsys

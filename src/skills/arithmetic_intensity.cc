// SPDX-License-Identifier: MIT
// Is the work of one GPU bound by its memory or by its arithmetic, and how far from the peak is it?
//
// time = union of the device's kernels, cut to the window; achieved = theoretical_flops / time;
// MFU % = 100 · achieved / peak. ridge = peak / memory bandwidth, in operations per byte: with
// bytes_moved, work below the ridge (theoretical_flops / bytes_moved) is bound by memory.
// Peak and bandwidth are given, else those of the GPU (analysis/gpu_peaks.h), the bandwidth else
// what the capture says. An impossible or unknown denominator is an abstention. One row.
#include <fmt/core.h>

#include "analysis/gpu_of_device.h"
#include "analysis/gpu_peaks.h"
#include "analysis/mfu.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

struct KernelTime {
  int64_t count = 0;
  int64_t union_ns = 0;
};

// The kernels of the device of which a part lies in the window.
KernelTime TimeOnDevice(const Query& query, int64_t device) {
  const KernelTable& kernels = query.trace.kernels;
  const LanesOnDevice on_device(query.trace, device);
  std::vector<Span> spans;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const Span span = Clip(query.window, kernels.start_ns[row], kernels.end_ns[row]);
    if (span.end_ns > span.begin_ns && on_device(kernels.lane[row])) {
      spans.push_back(span);
    }
  }
  const int64_t count = std::ssize(spans);
  return {.count = count, .union_ns = Length(Union(std::move(spans)))};
}

// What the work is measured against.
struct Roof {
  const Gpu* gpu = nullptr;
  GpuPeak peak;
  double gbps = 0;  // 0: unknown
  std::string gpu_name() const { return gpu ? gpu->name.value_or("Unknown GPU") : "Unknown GPU"; }
  std::string chip_name() const { return gpu ? gpu->chip.value_or("") : ""; }
  double ridge() const { return gbps > 0 ? *peak.tflops * 1e12 / (gbps * 1e9) : 0; }
};

Roof RoofOf(const Query& query, int64_t device, DataType type) {
  Roof roof{.gpu = GpuOfDevice(query.trace, device)};
  const auto given_peak = query.params.OptionalReal("peak_tflops");
  roof.peak = given_peak ? GpuPeak{.tflops = given_peak, .words = "given as peak_tflops"}
                         : PeakOf(roof.gpu, type);
  if (const auto given = query.params.OptionalReal("hbm_bw_gbps")) {
    roof.gbps = *given;
  } else if (roof.gpu != nullptr) {
    const auto listed = MatchGpu(*roof.gpu).Agreed(&GpuSpec::memory_gbps);
    const int64_t captured = roof.gpu->bytes_per_second.value_or(0);
    roof.gbps = listed ? *listed : captured > 0 ? static_cast<double>(captured) / 1e9 : 0;
  }
  return roof;
}

double R1(double value) { return RoundHalfEven(value, 1); }

// An abstention when a denominator is unknown or impossible; in this order.
std::optional<Answer> Refuse(const Query& query, const Roof& roof, int64_t device,
                             const KernelTime& time) {
  const double flops = query.params.Real("theoretical_flops");
  if (!roof.peak.tflops) {
    return Answer::Abstain(
        fmt::format("MFU has no denominator: {}. Pass the peak, -p peak_tflops=… (and for the "
                    "ridge point -p hbm_bw_gbps=…).",
                    roof.peak.words),
        {{"gpu_name", roof.gpu_name()}, {"chip_name", roof.chip_name()}});
  }
  const double peak = *roof.peak.tflops;
  if (peak <= 0) {
    return Answer::Abstain(
        fmt::format("peak_tflops is {}; a peak is greater than 0.", FormatDouble(peak)),
        {{"gpu_name", roof.gpu_name()}, {"peak_fp16_tflops", peak}});
  }
  if (time.union_ns <= 0) {
    return Answer::Abstain(
        fmt::format("No kernel ran on device {}{}, so there is no time to divide by.", device,
                    query.window ? " in the window" : ""),
        {{"gpu_name", roof.gpu_name()}, {"device", device}});
  }
  if (flops <= 0) {
    return Answer::Abstain(
        fmt::format("theoretical_flops is {}; work that ran has more than 0.", FormatDouble(flops)),
        {{"gpu_name", roof.gpu_name()}, {"theoretical_flops", flops}});
  }
  const Rate rate = RateOf(flops, time.union_ns, peak);
  if (rate.possible()) {
    return std::nullopt;
  }
  return Answer::Abstain(
      ImpossibleRateText(flops, time.union_ns, "GPU time", peak, roof.peak) +
          fmt::format(" Check theoretical_flops (the total of what device {} did{}, not a rate or "
                      "a whole job), and {}.",
                      device, query.window ? " in the window" : "", OtherPeaksText(roof.peak)),
      {{"gpu_name", roof.gpu_name()},
       {"implied_achieved_tflops", R1(rate.tflops)},
       {"peak_fp16_tflops", R1(peak)},
       {"implied_mfu_pct", R1(rate.mfu_pct)},
       {"theoretical_flops", flops},
       {"kernel_union_ms", NsToMs(time.union_ns, 2)},
       {"kernel_count", time.count},
       {"kernel_union_ns", time.union_ns}});
}

struct Verdict {
  std::string classification;
  std::string_view severity;
  std::string_view recommendation;
};

Verdict VerdictOf(double mfu_pct, std::optional<double> intensity, double ridge) {
  if (intensity && ridge > 0) {
    if (*intensity < ridge) {
      return {fmt::format("Memory-bound (AI={:.1f} < Ridge={:.1f})", *intensity, ridge), "warning",
              "Move fewer bytes per operation: fuse kernels, raise the batch size, use smaller "
              "data types."};
    }
    return {fmt::format("Compute-bound (AI={:.1f} >= Ridge={:.1f})", *intensity, ridge), "info",
            "Memory is not the limit: look at Tensor Core use (tensor_core_usage) and at the "
            "kernels themselves with Nsight Compute."};
  }
  if (mfu_pct >= 50) {
    return {"High kernel throughput (likely compute-bound)", "info",
            "The kernels do well; what is left lies inside single kernels (Nsight Compute)."};
  }
  if (mfu_pct >= 15) {
    return {"Moderate kernel throughput (mixed bound)", "warning",
            "Pass bytes_moved to see which limit it is; top_kernels names the kernels to begin "
            "with."};
  }
  if (mfu_pct >= 5) {
    return {"Low kernel throughput (likely memory-bound)", "warning",
            "Small or memory-bound kernels are likely: see top_kernels, and fuse or enlarge them."};
  }
  return {"Severely low kernel throughput", "critical",
          "Check first that theoretical_flops covers all that ran here; then top_kernels for "
          "kernels that do no matrix products."};
}

Object MakeRow(const Roof& roof, const KernelTime& time, double flops,
               std::optional<double> intensity) {
  const double peak = *roof.peak.tflops;
  const Rate rate = RateOf(flops, time.union_ns, peak);
  const Verdict verdict = VerdictOf(rate.mfu_pct, intensity, roof.ridge());
  return {{"gpu_name", roof.gpu_name()},
          {"chip_name", roof.chip_name()},
          {"peak_fp16_tflops", R1(peak)},
          {"hbm_bw_gbps", R1(roof.gbps)},
          {"ridge_point_flop_per_byte", R1(roof.ridge())},
          {"kernel_union_ms", NsToMs(time.union_ns, 2)},
          {"kernel_count", time.count},
          {"theoretical_flops", flops},
          {"achieved_tflops", R1(rate.tflops)},
          {"mfu_pct", R1(rate.mfu_pct)},
          {"classification", verdict.classification},
          {"severity", verdict.severity},
          {"recommendation", verdict.recommendation},
          {"arithmetic_intensity", intensity ? Value(RoundHalfEven(*intensity, 4)) : Value()},
          {"kernel_union_ns", time.union_ns},
          {"peak_source", roof.peak.words}};
}

Answer InvalidArgument(std::string message) {
  return Answer::Problem(
      {{"error", Object{{"code", "INVALID_ARGUMENT"}, {"message", std::move(message)}}}});
}

Result<Answer> Run(const Query& query) {
  const Params& params = query.params;
  const auto type = ParseDataType(params.Text("precision"));
  if (!type) {
    return InvalidArgument(fmt::format("precision is fp64, fp32, tf32, fp16, fp8 or int8, not '{}'",
                                       params.Text("precision")));
  }
  const auto given_gbps = params.OptionalReal("hbm_bw_gbps");
  if (given_gbps && *given_gbps <= 0) {
    return InvalidArgument(
        fmt::format("hbm_bw_gbps is {}; leave it out where it is unknown, or give more than 0",
                    FormatDouble(*given_gbps)));
  }
  const int64_t device = params.Int("device");
  const KernelTime time = TimeOnDevice(query, device);
  const Roof roof = RoofOf(query, device, *type);
  if (auto answer = Refuse(query, roof, device, time)) {
    return *std::move(answer);
  }
  const double flops = params.Real("theoretical_flops");
  const auto bytes = params.OptionalReal("bytes_moved");
  const auto intensity =
      bytes && *bytes >= 1 ? std::optional(flops / *bytes) : std::optional<double>();
  Answer answer;
  answer.rows.push_back(MakeRow(roof, time, flops, intensity));
  if (bytes && *bytes < 1) {
    answer.notes.push_back(
        fmt::format("bytes_moved is {} and was left aside: work that ran moved at least 1 byte.",
                    FormatDouble(*bytes)));
  }
  if (intensity && roof.gbps <= 0) {
    answer.notes.emplace_back(
        "The memory bandwidth of this GPU is unknown, so there is no ridge point; pass "
        "-p hbm_bw_gbps=….");
  }
  answer.notes.emplace_back(
      "FLOPs are those you gave for the work of this device; time is that of kernels alone, idle "
      "time does not count.");
  return answer;
}

std::string AchievedCell(const Object& row) {
  return fmt::format("{:.1f} TFLOP/s, {:.1f} % of the peak",
                     *row.Find("achieved_tflops")->AsDouble(), *row.Find("mfu_pct")->AsDouble());
}
std::string PeakCell(const Object& row) {
  return fmt::format("{:.1f} TFLOP/s  ({})", *row.Find("peak_fp16_tflops")->AsDouble(),
                     *row.Find("peak_source")->AsText());
}
std::string BandwidthCell(const Object& row) {
  const double gbps = *row.Find("hbm_bw_gbps")->AsDouble();
  return gbps > 0 ? fmt::format("{:.1f} GB/s", gbps) : "unknown";
}
std::string RidgeCell(const Object& row) {
  const double ridge = *row.Find("ridge_point_flop_per_byte")->AsDouble();
  return ridge > 0 ? fmt::format("{:.1f} FLOP/byte", ridge) : "unknown";
}
std::string FlopsCell(const Object& row) {
  return fmt::format("{:.6g}", *row.Find("theoretical_flops")->AsDouble());
}
std::string RecommendationCell(const Object& row) { return *row.Find("recommendation")->AsText(); }

std::vector<ColumnSpec> RooflineColumns() {
  return {
      {"gpu_name", Unit::kText, "product name in the capture", "GPU"},
      {"chip_name", Unit::kText, "chip in the capture; empty when it does not tell"},
      {"peak_fp16_tflops", Unit::kCount,
       "peak, TFLOP/s: as given, else of this GPU: dense FP16 with FP32 accumulation, or the "
       "precision asked for",
       "Peak", PeakCell},
      {"hbm_bw_gbps", Unit::kGbps, "memory bandwidth, 10^9 bytes/s; 0 when unknown",
       "Memory bandwidth", BandwidthCell},
      {"ridge_point_flop_per_byte", Unit::kCount,
       "peak / memory bandwidth, operations per byte; 0 when unknown", "Ridge point", RidgeCell},
      {"kernel_union_ms", Unit::kMs, "time in which at least one kernel ran, cut to the window",
       "Kernel time", DurationCell("kernel_union_ns")},
      {"kernel_count", Unit::kCount, "kernels of which a part lies in the window", "Kernels"},
      {"theoretical_flops", Unit::kCount, "operations, as given", "FLOPs", FlopsCell},
      {"achieved_tflops", Unit::kCount, "theoretical_flops / kernel time / 10^12", "Achieved",
       AchievedCell},
      {"mfu_pct", Unit::kPct, "100 · achieved / peak"},
      {"classification", Unit::kText,
       "with bytes_moved and bandwidth: side of the ridge; else a class of MFU (50, 15, 5 %)",
       "Class"},
      {"severity", Unit::kText, "info, warning or critical"},
      {"recommendation", Unit::kNested, "what to do next", "Next", RecommendationCell},
      {"arithmetic_intensity", Unit::kCount,
       "theoretical_flops / bytes_moved, operations per byte; null without bytes_moved"},
      {"kernel_union_ns", Unit::kNs, "kernel time, exact"},
      {"peak_source", Unit::kText, "where the peak comes from"}};
}

}  // namespace

Skill skill_arithmetic_intensity() {
  return {
      .name = "arithmetic_intensity",
      .category = Category::kKernels,
      .title = "Arithmetic Intensity vs. GPU Peak (Roofline)",
      .doc =
          "Places the work of one GPU on its roofline: achieved FLOP/s, MFU, and whether "
          "memory or arithmetic limits it.",
      .needs = {TableId::kKernel},
      .reads = {{TableId::kKernel, {Column::kTime, Column::kLane}},
                {TableId::kGpu, {Column::kWhole}},
                {TableId::kCudaDevice, {Column::kWhole}}},
      .params = {Param::Required("theoretical_flops", ParamType::kFloat,
                                 "operations of the device's work in all (see theoretical_flops)"),
                 Param::Optional("bytes_moved", ParamType::kFloat,
                                 "bytes that the work read and wrote in GPU memory"),
                 Param::Device(),
                 Param::Optional(
                     "peak_tflops", ParamType::kFloat,
                     "peak in TFLOP/s; without it, the GPU of the capture is looked up"),
                 Param::Optional("hbm_bw_gbps", ParamType::kFloat,
                                 "memory bandwidth in GB/s; without it, looked up"),
                 Param::Text("precision", "fp16",
                             "data type of the looked-up peak: fp64, fp32, tf32, fp16 (or bf16), "
                             "fp8, int8")},
      .window_rule = WindowRule::kClip,
      .columns = RooflineColumns(),
      .example = "-p theoretical_flops=1e12 -p bytes_moved=1e10",
      .text_form = TextForm::kFields,
      .run = Run};
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// How much shorter would an iteration be, if one cause of lost time went away?
//
// From times that you measured: saved = min(iteration, time lost to the cause);
// new iteration = iteration - saved; speedup = iteration / new iteration, null when nothing is
// left.
//   idle: all of idle_ms. NCCL: its exposed part, nccl_ms · (1 - overlap_pct / 100).
//   Tensor parallelism, where tp_degree > 1 and model_params_b is given: a model takes about 10 GB
//   per 10^9 parameters (2 bytes of weights and four times that for the optimizer) and must stay
//   below 85 % of a GPU's memory. TP=1 saves 90 % of nccl_ms where it fits; else half the degree,
//   at least 2, saves 40 % where its share fits; else no row.
// The rows do not add up: they remove parts of the same iteration. Reads nothing.
#include <algorithm>

#include <fmt/core.h>

#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr double kGbPerBillionParams = 10;
constexpr double kUsableMemory = 0.85;

// Why the inputs cannot be, or nothing.
std::optional<std::string> ImpossibleInput(const Params& params) {
  if (params.Real("iteration_ms") <= 0) {
    return fmt::format("iteration_ms is {}; an iteration takes more than 0",
                       FormatDouble(params.Real("iteration_ms")));
  }
  for (const char* name : {"compute_ms", "nccl_ms", "idle_ms", "overlap_pct", "model_params_b"}) {
    if (params.Real(name) < 0) {
      return fmt::format("{} is {}; it cannot be negative", name, FormatDouble(params.Real(name)));
    }
  }
  if (params.Real("overlap_pct") > 100) {
    return fmt::format("overlap_pct is {}; it is at most 100",
                       FormatDouble(params.Real("overlap_pct")));
  }
  if (params.Real("gpu_memory_gb") <= 0) {
    return fmt::format("gpu_memory_gb is {}; a GPU has more than 0",
                       FormatDouble(params.Real("gpu_memory_gb")));
  }
  if (params.Int("tp_degree") < 1) {
    return fmt::format("tp_degree is {}; it is at least 1", params.Int("tp_degree"));
  }
  return std::nullopt;
}

// Adds saved_ms, new_iteration_ms and speedup to a row that begins with what is saved and how.
Object Saving(double iteration_ms, double lost_ms, Object row) {
  const double saved = std::min(lost_ms, iteration_ms);
  const double rest = iteration_ms - saved;
  row.Set("saved_ms", RoundHalfEven(saved, 1));
  row.Set("new_iteration_ms", RoundHalfEven(rest, 1));
  row.Set("speedup", rest > 0 ? Value(RoundHalfEven(iteration_ms / rest, 3)) : Value());
  return row;
}

Object IdleRow(double iteration_ms, double idle_ms) {
  Object row = Saving(iteration_ms, idle_ms,
                      {{"optimization", "Eliminate GPU Idle Gaps"},
                       {"method", "CUDA graphs, asynchronous data loading, fewer explicit waits"},
                       {"current_ms", idle_ms}});
  row.Set("confidence", "medium");
  return row;
}

Object OverlapRow(double iteration_ms, double exposed_ms) {
  Object row = Saving(iteration_ms, exposed_ms,
                      {{"optimization", "Perfect Compute/NCCL Overlap"},
                       {"method", "run all communication beside compute, on streams of its own"},
                       {"current_exposed_nccl_ms", RoundHalfEven(exposed_ms, 1)}});
  row.Set("confidence", "medium");
  return row;
}

// The row about a smaller tensor-parallel degree, or nothing where none is known to fit.
std::optional<Object> TensorParallelRow(const Params& params) {
  const double nccl_ms = params.Real("nccl_ms");
  const int64_t degree = params.Int("tp_degree");
  const double billions = params.Real("model_params_b");
  if (degree <= 1 || nccl_ms <= 0 || billions <= 0) {
    return std::nullopt;
  }
  const double needed_gb = kGbPerBillionParams * billions;
  const double memory_gb = params.Real("gpu_memory_gb");
  const bool fits_one = needed_gb < kUsableMemory * memory_gb;
  const int64_t target = fits_one ? 1 : degree / 2;
  const double share_gb = needed_gb / static_cast<double>(std::max<int64_t>(target, 1));
  if (!fits_one && (target < 2 || share_gb >= kUsableMemory * memory_gb)) {
    return std::nullopt;
  }
  const double lost_ms = (fits_one ? 0.9 : 0.4) * nccl_ms;
  Object row = Saving(
      params.Real("iteration_ms"), lost_ms,
      {{"optimization", fmt::format("Reduce TP={} → TP={}", degree, target)},
       {"method", fmt::format("{:.1f}B parameters take about {:.4g} GB per GPU, of {:.4g} GB",
                              billions, share_gb, memory_gb)},
       {"nccl_savings_ms", RoundHalfEven(lost_ms, 1)}});
  row.Set("confidence", fits_one ? "high" : "low");
  row.Set("feasibility",
          fits_one ? "HIGH: the model fits one GPU" : "MEDIUM: the model needs more than one GPU");
  return row;
}

Result<Answer> Run(const Query& query) {
  const Params& params = query.params;
  if (auto words = ImpossibleInput(params)) {
    return Answer::Problem({{"error", *std::move(words)}});
  }
  const double iteration_ms = params.Real("iteration_ms");
  const double idle_ms = params.Real("idle_ms");
  const double exposed_ms = params.Real("nccl_ms") * (1 - params.Real("overlap_pct") / 100);
  Answer answer;
  if (idle_ms > 0) {
    answer.rows.push_back(IdleRow(iteration_ms, idle_ms));
  }
  if (exposed_ms > 0) {
    answer.rows.push_back(OverlapRow(iteration_ms, exposed_ms));
  }
  if (auto row = TensorParallelRow(params)) {
    answer.rows.push_back(*std::move(row));
  }
  if (answer.rows.empty()) {
    answer.rows.push_back({{"optimization", "No clear optimization path"},
                           {"method", "none of the given times can be saved; look into kernels"},
                           {"saved_ms", 0},
                           {"speedup", 1.0},
                           {"confidence", "n/a"}});
  }
  for (Object& row : answer.rows) {
    row.Set("additive", false);
  }
  if (idle_ms > iteration_ms || exposed_ms > iteration_ms) {
    answer.notes.emplace_back(
        "More time is given as lost than the iteration takes; savings are cut to the iteration. "
        "Are all times of one iteration and one GPU?");
  }
  if (params.Int("tp_degree") > 1 && params.Real("model_params_b") <= 0) {
    answer.notes.emplace_back(
        "Without model_params_b nothing can be said about a smaller tensor-parallel degree.");
  }
  answer.notes.emplace_back(
      "Each row alone is an upper bound from the times you gave; the rows do not add up.");
  return answer;
}

std::string SpeedupCell(const Object& row) {
  const double* speedup = row.Find("speedup")->AsDouble();
  return speedup == nullptr ? "-" : fmt::format("{:.3f}x", *speedup);
}

std::vector<ColumnSpec> EstimateColumns() {
  return {{"optimization", Unit::kText, "what would change", "Change"},
          {"method", Unit::kText, "how, or on what grounds", "How"},
          {"current_ms", Unit::kMs, "idle time, as given"},
          {"current_exposed_nccl_ms", Unit::kMs, "nccl_ms · (1 - overlap_pct / 100)"},
          {"nccl_savings_ms", Unit::kMs, "90 % of nccl_ms for TP=1, 40 % for half the degree"},
          {"saved_ms", Unit::kMs, "time saved, at most the whole iteration", "Saves"},
          {"new_iteration_ms", Unit::kMs, "iteration_ms - saved_ms", "New iteration"},
          {"speedup", Unit::kCount,
           "iteration_ms / new_iteration_ms; null when nothing of the iteration is left", "Speedup",
           SpeedupCell},
          {"confidence", Unit::kText, "how sure the premise is", "Confidence"},
          {"feasibility", Unit::kText, "of a smaller degree: what stands in its way"},
          {"additive", Unit::kFlag, "always false: savings of several rows overlap"}};
}

}  // namespace

Skill skill_speedup_estimator() {
  return {.name = "speedup_estimator",
          .category = Category::kAnalysis,
          .title = "Speedup Estimation Framework",
          .doc =
              "What an iteration would gain without idle time, exposed NCCL time or tensor "
              "parallelism, from times you give.",
          .needs_capture = false,
          .params = {Param::Required("iteration_ms", ParamType::kFloat, "time of one iteration"),
                     Param::Real("compute_ms", 0, "compute time in it; not used"),
                     Param::Real("nccl_ms", 0, "NCCL time in it"),
                     Param::Real("idle_ms", 0, "GPU idle time in it"),
                     Param::Real("overlap_pct", 0, "share of NCCL time beside compute, 0 to 100"),
                     Param::Int("tp_degree", 1, "tensor-parallel degree"),
                     Param::Real("model_params_b", 0, "10^9 parameters of the model; 0: unknown"),
                     Param::Real("gpu_memory_gb", 80, "memory of one GPU in GB")},
          .window_rule = WindowRule::kIgnored,
          .columns = EstimateColumns(),
          .example = "-p iteration_ms=500 -p nccl_ms=120 -p idle_ms=30 -p overlap_pct=40",
          .run = Run};
}

}  // namespace nsys

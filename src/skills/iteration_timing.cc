// SPDX-License-Identifier: MIT
// How long does each iteration take on the GPU?
//
// Iterations as defined in analysis/iterations.h. duration = last end − first start of its kernels;
// compute = Σ of their durations, communication included, so it may exceed the duration.
#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "analysis/iterations.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

void AddNotes(const Query& query, const std::vector<Iteration>& iterations, Answer& answer) {
  if (iterations.empty()) {
    return;
  }
  if (iterations.front().heuristic) {
    answer.notes.push_back(
        fmt::format("No NVTX range holds the marker '{}': these are stretches between GPU pauses "
                    "of more than 2 ms, "
                    "not proven iterations. Name a marker with -p marker=TEXT.",
                    query.params.Text("marker")));
  }
  std::vector<double> durations;
  for (const Iteration& iteration : iterations) {
    if (iteration.real) {
      durations.push_back(static_cast<double>(iteration.gpu_end_ns - iteration.gpu_start_ns) / 1e6);
    }
  }
  const size_t noise = iterations.size() - durations.size();
  if (noise > 0) {
    answer.notes.push_back(fmt::format(
        "{} of {} have less than a tenth of the largest kernel time and are not counted below.",
        noise, iterations.size()));
  }
  if (durations.size() < 2) {
    return;
  }
  double sum = 0;
  for (const double ms : durations) {
    sum += ms;
  }
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  answer.notes.push_back(fmt::format("{}: mean {:.2f} ms, min {:.2f} ms, max {:.2f} ms.",
                                     Counted(std::ssize(durations), "iteration"),
                                     sum / static_cast<double>(durations.size()), *least, *most));
}

double Seconds(int64_t ns) { return RoundHalfEven(static_cast<double>(ns) / 1e9, 4); }

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const auto iterations = DetectIterations(
      query.trace,
      {.device = device, .marker = query.params.Text("marker"), .window = query.window});
  Answer answer;
  int64_t number = 0;
  for (const Iteration& iteration : iterations) {
    answer.rows.push_back(
        {{"iteration", number++},
         {"text", iteration.text},
         {"heuristic", iteration.heuristic},
         {"gpu_start_ns", iteration.gpu_start_ns},
         {"gpu_end_ns", iteration.gpu_end_ns},
         {"gpu_start_s", Seconds(iteration.gpu_start_ns)},
         {"gpu_end_s", Seconds(iteration.gpu_end_ns)},
         {"duration_ms", NsToMs(iteration.gpu_end_ns - iteration.gpu_start_ns, 2)},
         {"compute_ms", NsToMs(iteration.kernel_ns, 2)},
         {"kernel_count", iteration.kernels},
         {"nccl_count", iteration.communication_kernels},
         {"is_real_iteration", iteration.real},
         {"device_id", device}});
  }
  AddNotes(query, iterations, answer);
  return answer;
}

}  // namespace

Skill skill_iteration_timing() {
  return {
      .name = "iteration_timing",
      .category = Category::kNvtx,
      .title = "Per-Iteration Timing Analysis",
      .doc =
          "Finds repeating iterations by an NVTX marker and times each on the GPU, with its kernel "
          "counts.",
      .needs = {TableId::kNvtx, TableId::kKernel, TableId::kRuntime, TableId::kStringIds},
      .reads = IterationReads(),
      .params = {Param::Device(),
                 Param::NonEmptyText(
                     "marker", std::string(kDefaultMarker),
                     "literal part of the NVTX text that opens an iteration, case ignored")},
      .columns = {{"iteration", Unit::kCount,
                   "position in this list; the number that --iteration takes", "#"},
                  {"text", Unit::kText, "text of the marker range, or heuristic_step_<n>", "Range"},
                  {"heuristic", Unit::kFlag, "whether pauses, not marker ranges, bound it"},
                  {"gpu_start_ns", Unit::kTimeNs, "first start of its kernels"},
                  {"gpu_end_ns", Unit::kTimeNs, "last end of its kernels"},
                  {"gpu_start_s", Unit::kSeconds, "the same in seconds", "From"},
                  {"gpu_end_s", Unit::kSeconds, "the same in seconds", "To"},
                  {"duration_ms", Unit::kMs, "last end − first start", "Duration"},
                  {"compute_ms", Unit::kMs, "summed duration of all its kernels", "Kernel time"},
                  {"kernel_count", Unit::kCount,
                   "kernels that its process launched within it on this device", "Kernels"},
                  {"nccl_count", Unit::kCount, "communication kernels among them", "Comm."},
                  {"is_real_iteration", Unit::kFlag,
                   "whether its kernel time is at least a tenth of the largest", "Counted"},
                  {"device_id", Unit::kId, "CUDA device"}},
      .empty_text = "no iterations: no launch on this GPU lies in a marker range or between pauses",
      .run = Run};
}

}  // namespace nsys

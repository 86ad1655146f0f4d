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

// Mean, least and most of some durations.
struct Spread {
  int64_t count = 0;
  int64_t sum_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;

  void Add(int64_t ns) {
    min_ns = count == 0 ? ns : std::min(min_ns, ns);
    max_ns = count == 0 ? ns : std::max(max_ns, ns);
    sum_ns += ns;
    ++count;
  }
  void Tell(std::string_view what, Answer& answer) const {
    if (count > 1) {
      answer.notes.push_back(fmt::format("{}: mean {}, min {}, max {} of {}.", what,
                                         FormatDuration(sum_ns / count), FormatDuration(min_ns),
                                         FormatDuration(max_ns), count));
    }
  }
};

void AddNotes(const Query& query, const std::vector<Iteration>& iterations, Answer& answer) {
  if (iterations.empty()) {
    return;
  }
  if (iterations.front().heuristic) {
    answer.notes.push_back(fmt::format(
        "No NVTX range holds the marker '{}': these are stretches between GPU pauses "
        "of more than {} ms, not proven iterations. Name the text of a range with -p marker=TEXT "
        "(nvtx_kernel_map shows range texts).",
        query.params.Text("marker"), kIterationPauseNs / 1'000'000));
  }
  const auto real = std::count_if(iterations.begin(), iterations.end(),
                                  [](const Iteration& iteration) { return iteration.real; });
  if (real < std::ssize(iterations)) {
    answer.notes.push_back(
        fmt::format("{} of {} have less than a tenth of the largest kernel time and do not count.",
                    std::ssize(iterations) - real, iterations.size()));
  }
  if (iterations.front().heuristic) {
    return;
  }
  Spread duration;
  Spread step;
  for (size_t i = 0; i < iterations.size(); ++i) {
    if (iterations[i].real) {
      duration.Add(iterations[i].gpu_end_ns - iterations[i].gpu_start_ns);
    }
    if (i + 1 < iterations.size() && iterations[i].real && iterations[i + 1].real) {
      step.Add(iterations[i + 1].gpu_start_ns - iterations[i].gpu_start_ns);
    }
  }
  duration.Tell("On the GPU, first kernel to last", answer);
  step.Tell("From start to start, what the host takes included", answer);
}

double Seconds(int64_t ns) { return RoundHalfEven(static_cast<double>(ns) / 1e9, 4); }

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const auto& iterations = DetectIterations(
      query.views,
      {.device = device, .marker = query.params.Text("marker"), .window = query.window});
  Answer answer;
  for (size_t number = 0; number < iterations.size(); ++number) {
    const Iteration& iteration = iterations[number];
    const bool last = number + 1 == iterations.size();
    const Value step_ms =
        last ? Value() : NsToMs(iterations[number + 1].gpu_start_ns - iteration.gpu_start_ns, 2);
    answer.rows.push_back(
        {{"iteration", number},
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
         {"device_id", device},
         {"step_ms", step_ms}});
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
      .reads_for =
          [](const Params& params, const std::optional<Window>&) {
            return IterationReadsOf(params.Text("marker"));
          },
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
                  {"device_id", Unit::kId, "CUDA device"},
                  {"step_ms", Unit::kMs,
                   "from its first kernel to that of the next; null for the last", "Step"}},
      .example = "-p marker=iteration_",
      .empty_text = "no iterations: no launch on this GPU lies in a marker range or between pauses",
      .run = Run};
}

}  // namespace nsys

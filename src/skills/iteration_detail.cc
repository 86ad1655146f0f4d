// SPDX-License-Identifier: MIT
// Where did one iteration spend its GPU time?
//
// Iterations and their numbers as in analysis/iterations.h. All figures are of one set of kernels:
// those that the iteration launched. duration = last end − first start; vs_median = duration /
// median − 1, where the median is that of the real iterations (of all when none is); pct of a name
// = its summed duration / that of all kernels of the iteration. Names by total descending, then
// short name, then demangled name; the first five.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "analysis/iterations.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr size_t kTopKernels = 5;

struct NameSum {
  StringId short_name;
  StringId name;
  int64_t kernels = 0;
  int64_t total_ns = 0;
};

std::vector<NameSum> SumByName(const Trace& trace, const std::vector<uint32_t>& kernels) {
  std::map<std::pair<StringId, StringId>, NameSum> sums;
  for (const uint32_t kernel : kernels) {
    const StringId short_name = trace.kernels.short_name[kernel];
    const StringId name = trace.kernels.name[kernel];
    NameSum& sum = sums[{short_name, name}];
    sum.short_name = short_name;
    sum.name = name;
    ++sum.kernels;
    sum.total_ns += trace.kernels.duration_ns(kernel);
  }
  std::vector<NameSum> names;
  for (const auto& [key, sum] : sums) {
    names.push_back(sum);
  }
  std::sort(names.begin(), names.end(), [&](const NameSum& a, const NameSum& b) {
    return std::tuple(-a.total_ns, trace.Text(a.short_name), trace.Text(a.name)) <
           std::tuple(-b.total_ns, trace.Text(b.short_name), trace.Text(b.name));
  });
  return names;
}

// The middle duration of the real iterations in ns, of all when none is real.
double MedianNs(const std::vector<Iteration>& iterations) {
  const bool any_real = std::any_of(iterations.begin(), iterations.end(),
                                    [](const Iteration& iteration) { return iteration.real; });
  std::vector<int64_t> durations;
  for (const Iteration& iteration : iterations) {
    if (iteration.real || !any_real) {
      durations.push_back(iteration.gpu_end_ns - iteration.gpu_start_ns);
    }
  }
  std::sort(durations.begin(), durations.end());
  const size_t middle = durations.size() / 2;
  const auto upper = static_cast<double>(durations[middle]);
  return durations.size() % 2 == 1 ? upper
                                   : (static_cast<double>(durations[middle - 1]) + upper) / 2;
}

// "+12.5%"; of two durations of 0 "+0%".
std::string SignedPercent(int64_t duration_ns, double median_ns) {
  if (median_ns == 0) {
    return "+0%";
  }
  const double percent =
      RoundHalfEven(100 * (static_cast<double>(duration_ns) - median_ns) / median_ns, 1);
  return fmt::format("{:+.1f}%", percent == 0 ? 0.0 : percent);
}

List TopList(const Trace& trace, const std::vector<NameSum>& names, int64_t all_ns) {
  List list;
  for (size_t i = 0; i < names.size() && i < kTopKernels; ++i) {
    list.push_back(Object{{"name", trace.Text(names[i].name)},
                          {"total_ms", NsToMs(names[i].total_ns, 2)},
                          {"count", names[i].kernels},
                          {"pct", Percent(names[i].total_ns, all_ns, 1).value_or(0.0)},
                          {"total_ns", names[i].total_ns}});
  }
  return list;
}

Object MakeRow(const Query& query, const std::vector<Iteration>& iterations, int64_t number) {
  const int64_t device = query.params.Int("device");
  const Iteration& iteration = iterations[static_cast<size_t>(number)];
  const int64_t duration_ns = iteration.gpu_end_ns - iteration.gpu_start_ns;
  const double median_ns = MedianNs(iterations);
  const std::vector<NameSum> names =
      SumByName(query.trace, KernelsOf(query.views, device, iteration));
  return {{"iteration", number},
          {"total_iterations", iterations.size()},
          {"duration_ms", NsToMs(duration_ns, 2)},
          {"gpu_start_ns", iteration.gpu_start_ns},
          {"gpu_end_ns", iteration.gpu_end_ns},
          {"top_kernels", TopList(query.trace, names, iteration.kernel_ns)},
          {"kernel_count", iteration.kernels},
          {"nccl_count", iteration.communication_kernels},
          {"compute_ms", NsToMs(iteration.kernel_ns, 2)},
          {"vs_median", SignedPercent(duration_ns, median_ns)},
          {"median_ms", RoundHalfEven(median_ns / 1e6, 2)},
          {"text", iteration.text},
          {"heuristic", iteration.heuristic},
          {"is_real_iteration", iteration.real},
          {"device_id", device},
          {"kernel_names", names.size()}};
}

void AddNotes(const Query& query, const Iteration& iteration, Answer& answer) {
  if (iteration.heuristic) {
    answer.notes.push_back(fmt::format(
        "No NVTX range holds the marker '{}': this is a stretch between GPU pauses of more than {} "
        "ms, not a proven iteration. Name the text of a range with -p marker=TEXT.",
        query.params.Text("marker"), kIterationPauseNs / 1'000'000));
  }
  if (!iteration.real) {
    answer.notes.emplace_back(
        "It has less than a tenth of the largest kernel time, and does not count for the median.");
  }
}

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const std::string& marker = query.params.Text("marker");
  const int64_t number = query.params.Int("iteration");
  const auto& iterations =
      DetectIterations(query.views, {.device = device, .marker = marker, .window = query.window});
  if (iterations.empty()) {
    return Answer::Problem(
        {{"error", fmt::format("no iterations on device {}: no launch of its kernels is in a range "
                               "'{}' or between pauses",
                               device, marker)}});
  }
  const auto count = std::ssize(iterations);
  if (number < 0 || number >= count) {
    return Answer::Problem(
        {{"error", fmt::format("iteration {} does not exist: device {} has iterations 0 to {}",
                               number, device, count - 1)}});
  }
  Answer answer;
  answer.rows.push_back(MakeRow(query, iterations, number));
  AddNotes(query, iterations[static_cast<size_t>(number)], answer);
  return answer;
}

// ---- text form

std::string ReportText(const Answer& answer) {
  const Object& row = answer.rows.front();
  const auto number = [&](std::string_view key) { return *row.Find(key)->AsInt(); };
  const auto seconds = [&](std::string_view key) { return static_cast<double>(number(key)) / 1e9; };
  std::string text = fmt::format(
      "Iteration   {} of 0 to {}: {}\n"
      "Duration    {}, {} against the median of {:.2f} ms\n"
      "On the GPU  {:.4f} s to {:.4f} s, device {}\n"
      "Kernels     {} ({} communication), {:.2f} ms added up\n\n",
      number("iteration"), number("total_iterations") - 1,
      CutMiddle(Printable(*row.Find("text")->AsText()), 80),
      FormatDuration(number("gpu_end_ns") - number("gpu_start_ns")),
      *row.Find("vs_median")->AsText(), *row.Find("median_ms")->AsDouble(), seconds("gpu_start_ns"),
      seconds("gpu_end_ns"), number("device_id"), FormatCount(number("kernel_count")),
      FormatCount(number("nccl_count")), *row.Find("compute_ms")->AsDouble());
  text += fmt::format("{:>9}  {:>7}  {:>7}  Kernel\n{:->9}  {:->7}  {:->7}  {:-<60}\n", "Total",
                      "Share", "Kernels", "", "", "", "");
  const List& kernels = *row.Find("top_kernels")->AsList();
  for (const Value& kernel : kernels) {
    const Object& cells = *kernel.AsObject();
    text += fmt::format("{:>9}  {:>5.1f} %  {:>7}  {}\n",
                        FormatDuration(*cells.Find("total_ns")->AsInt()),
                        *cells.Find("pct")->AsDouble(), FormatCount(*cells.Find("count")->AsInt()),
                        CutMiddle(Printable(*cells.Find("name")->AsText()), 80));
  }
  if (const int64_t more = number("kernel_names") - std::ssize(kernels); more > 0) {
    text += fmt::format("{:>27}  and {} more\n", "", Counted(more, "kernel name"));
  }
  return text;
}

std::vector<ColumnSpec> Columns() {
  return {{"iteration", Unit::kCount, "its number in iteration_timing", "Iteration"},
          {"total_iterations", Unit::kCount, "number of iterations; the last has one less"},
          {"duration_ms", Unit::kMs, "last end − first start of its kernels", "Duration"},
          {"gpu_start_ns", Unit::kTimeNs, "first start of its kernels"},
          {"gpu_end_ns", Unit::kTimeNs, "last end of its kernels"},
          {"top_kernels", Unit::kNested,
           "five names with most time; pct = time / summed time of all kernels of the iteration"},
          {"kernel_count", Unit::kCount, "kernels it launched on this device", "Kernels"},
          {"nccl_count", Unit::kCount, "communication kernels among them", "Comm."},
          {"compute_ms", Unit::kMs, "summed duration of its kernels, communication included",
           "Kernel time"},
          {"vs_median", Unit::kText, "duration / median − 1", "Against median"},
          {"median_ms", Unit::kMs, "median duration of the real iterations", "Median"},
          {"text", Unit::kText, "text of the marker range, or heuristic_step_<n>"},
          {"heuristic", Unit::kFlag, "whether pauses, not marker ranges, bound it"},
          {"is_real_iteration", Unit::kFlag,
           "whether its kernel time is at least a tenth of the largest"},
          {"device_id", Unit::kId, "CUDA device"},
          {"kernel_names", Unit::kCount, "distinct kernel names of the iteration"}};
}

}  // namespace

Skill skill_iteration_detail() {
  return {.name = "iteration_detail",
          .category = Category::kNvtx,
          .title = "Per-Iteration Kernel Breakdown",
          .doc = "One iteration: its time on the GPU against the median, and its heaviest kernels.",
          .needs = {TableId::kNvtx, TableId::kKernel, TableId::kRuntime, TableId::kStringIds},
          .reads = IterationReads(),
          .reads_for =
              [](const Params& params, const std::optional<Window>&) {
                return IterationReadsOf(params.Text("marker"));
              },
          .params = {Param::Required("iteration", ParamType::kInt,
                                     "number of the iteration, from 0, as in iteration_timing"),
                     Param::Device(),
                     Param::NonEmptyText(
                         "marker", std::string(kDefaultMarker),
                         "literal part of the NVTX text that opens an iteration, case ignored")},
          .columns = Columns(),
          .example = "-p iteration=2 -p marker=iteration_",
          .report = ReportText,
          .run = Run};
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// Which kinds of GPU work run at the same time?
//
// Kernels and copies of one device inside the window, in categories: compute, each operation of
// communication, each direction of copies. The time of a category is the union of its intervals,
// that of a pair the intersection of both unions. pct_of_a = 100 · pair / time of a.
// Several kernels of one category at once count once: the diagonal is no sum.
// Order: category_a, category_b (a before b), by bytes.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/runner.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "skills/skills.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

constexpr std::string_view kCompute = "compute";

struct Categories {
  std::map<std::string, SpanSet> sets;
  SpanSet communication;  // all operations together
  bool has_kernels = false;
};

std::string CopyCategory(int32_t kind) {
  switch (kind) {
    case 1:
      return "memcpy_h2d";
    case 2:
      return "memcpy_d2h";
    case 8:
      return "memcpy_d2d";
    case 10:
      return "memcpy_p2p";
    default:
      return "memcpy_" + std::to_string(kind);
  }
}

// Operations of NCCL and of others: "nccl_allreduce", "custom_alltoall".
std::string CommunicationCategory(std::string_view operation) {
  return operation.starts_with("custom_") ? std::string(operation)
                                          : "nccl_" + std::string(operation);
}

Categories Collect(const Query& query) {
  const Trace& trace = query.trace;
  const LanesOnDevice on_device(trace, query.params.Int("device"));
  const auto selected = [&](const GpuEvents& events, size_t row) {
    return on_device(events.lane[row]) &&
           Contains(query.window, events.start_ns[row], events.end_ns[row]);
  };
  std::map<std::string_view, std::vector<Span>> kernels;  // by operation; compute has none
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    if (selected(trace.kernels, row)) {
      kernels[query.views.communication().Operation(trace.kernels.name_to_classify(row))].push_back(
          trace.kernels.span(row));
    }
  }
  std::map<int32_t, std::vector<Span>> copies;
  for (size_t row = 0; row < trace.copies.size(); ++row) {
    if (selected(trace.copies, row)) {
      copies[trace.copies.kind[row]].push_back(trace.copies.span(row));
    }
  }
  Categories found{.has_kernels = !kernels.empty()};
  std::vector<Span> communication;
  for (auto& [operation, spans] : kernels) {
    if (!operation.empty()) {
      communication.insert(communication.end(), spans.begin(), spans.end());
    }
    found.sets[operation.empty() ? std::string(kCompute) : CommunicationCategory(operation)] =
        Union(std::move(spans));
  }
  for (auto& [kind, spans] : copies) {
    found.sets[CopyCategory(kind)] = Union(std::move(spans));
  }
  found.communication = Union(std::move(communication));
  return found;
}

// An integer 0 where the category has no time, as the reference prints it.
Value SharePct(int64_t part_ns, const SpanSet& whole) {
  const auto pct = Percent(part_ns, Length(whole), 1);
  return pct ? Value(*pct) : Value(0);
}

void AddRows(const Categories& found, Answer& answer) {
  for (auto a = found.sets.begin(); a != found.sets.end(); ++a) {
    for (auto b = a; b != found.sets.end(); ++b) {
      const bool diagonal = a == b;
      const int64_t ns = diagonal ? Length(a->second) : Length(Intersect(a->second, b->second));
      answer.rows.push_back({{"category_a", a->first},
                             {"category_b", b->first},
                             {"overlap_ns", ns},
                             {"overlap_ms", NsToMs(ns, 2)},
                             {"is_diagonal", diagonal},
                             {"pct_of_a", diagonal ? Value() : SharePct(ns, a->second)},
                             {"pct_of_b", diagonal ? Value() : SharePct(ns, b->second)}});
    }
  }
}

void AddNotes(const Categories& found, int64_t device, Answer& answer) {
  if (!found.has_kernels) {
    answer.notes.push_back(
        fmt::format("No kernel ran on device {} in the window: copies alone.", device));
  }
  const int64_t communication_ns = Length(found.communication);
  const auto compute = found.sets.find(std::string(kCompute));
  if (communication_ns > 0) {
    const int64_t hidden_ns =
        compute == found.sets.end() ? 0 : Length(Intersect(found.communication, compute->second));
    answer.notes.push_back(fmt::format(
        "Communication runs for {}, all operations together, {} of it ({:.1f} %) beside compute.",
        FormatDuration(communication_ns), FormatDuration(hidden_ns),
        100.0 * Ratio(hidden_ns, communication_ns)));
  }
  answer.notes.emplace_back(
      "Compute kernels beside each other are not told apart here; see stream_concurrency.");
}

Answer NothingRan(const Query& query, int64_t device) {
  const Answer problem = NoKernelsProblem(query, device);
  Object row{{"error", "no kernels found"}, {"device", device}};
  for (const auto& [key, value] : problem.problem->entries()) {
    row.Set(key, value);
  }
  return Answer::Problem(std::move(row));
}

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const Categories found = Collect(query);
  if (found.sets.empty()) {
    return NothingRan(query, device);
  }
  Answer answer;
  AddRows(found, answer);
  AddNotes(found, device, answer);
  return answer;
}

// ---- the text form: a square

using PairTimes = std::map<std::pair<std::string, std::string>, int64_t>;

// Compute, then communication, then copies.
int Rank(std::string_view category) {
  return category == kCompute ? 0 : category.starts_with("memcpy_") ? 2 : 1;
}

std::string Label(std::string_view category) {
  constexpr std::string_view kNccl = "nccl_";
  return std::string(category.starts_with(kNccl) ? category.substr(kNccl.size()) : category);
}

// Categories that have any time.
std::vector<std::string> ShownCategories(const Answer& answer) {
  std::vector<std::string> names;
  for (const Object& row : answer.rows) {
    if (*row.Find("is_diagonal")->AsBool() && *row.Find("overlap_ns")->AsInt() > 0) {
      names.push_back(*row.Find("category_a")->AsText());
    }
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return Rank(a) != Rank(b) ? Rank(a) < Rank(b) : a < b;
  });
  return names;
}

std::string Square(const std::vector<std::string>& names, const PairTimes& times) {
  size_t first_width = 0;
  size_t width = 10;
  for (const std::string& name : names) {
    first_width = std::max(first_width, Label(name).size());
    width = std::max(width, Label(name).size());
  }
  std::string text(first_width, ' ');
  for (const std::string& name : names) {
    text += fmt::format("  {:>{}}", Label(name), width);
  }
  text += "\n";
  for (const std::string& line : names) {
    text += fmt::format("{:<{}}", Label(line), first_width);
    for (const std::string& name : names) {
      const auto at = times.find(std::minmax(line, name));
      const bool any = at != times.end() && at->second > 0;
      text += fmt::format("  {:>{}}", any ? FormatDuration(at->second) : "-", width);
    }
    text += "\n";
  }
  return text;
}

std::string Report(const Answer& answer) {
  PairTimes times;
  std::string shares;
  for (const Object& row : answer.rows) {
    const std::string& a = *row.Find("category_a")->AsText();
    const std::string& b = *row.Find("category_b")->AsText();
    const int64_t ns = *row.Find("overlap_ns")->AsInt();
    times[{a, b}] = ns;
    if (ns > 0 && !*row.Find("is_diagonal")->AsBool()) {
      shares += fmt::format("{} with {}: {:.1f} % of {}, {:.1f} % of {}\n", Label(a), Label(b),
                            *row.Find("pct_of_a")->AsDouble(), Label(a),
                            *row.Find("pct_of_b")->AsDouble(), Label(b));
    }
  }
  const std::vector<std::string> names = ShownCategories(answer);
  if (names.empty()) {
    return "(no kernel or copy in the window has a length)\n";
  }
  return Square(names, times) + (shares.empty() ? "" : "\n" + shares);
}

}  // namespace

Skill skill_kernel_overlap_matrix() {
  return {.name = "kernel_overlap_matrix",
          .category = Category::kCommunication,
          .title = "Kernel Overlap Matrix",
          .doc =
              "Time in which two kinds of work of one GPU run at once: compute, communication by "
              "operation, copies by direction.",
          .needs = {TableId::kStringIds},
          // Required, yet it may be empty: then the copies remain to be shown.
          .needs_one_of = {TableId::kKernel},
          .reads = {{TableId::kKernel, {Column::kTime, Column::kLane, Column::kName}},
                    {TableId::kMemcpy, {Column::kTime, Column::kLane, Column::kKind}}},
          .params = {Param::Device()},
          .columns = {{"category_a", Unit::kText,
                       "compute, nccl_OPERATION, custom_OPERATION or memcpy_DIRECTION"},
                      {"category_b", Unit::kText, "the same or a later category"},
                      {"overlap_ns", Unit::kNs,
                       "time in which both run; on the diagonal, time in which the category runs"},
                      {"overlap_ms", Unit::kMs, "the same in ms"},
                      {"is_diagonal", Unit::kFlag, "whether both are the same category"},
                      {"pct_of_a", Unit::kPct,
                       "100 · overlap / time of category_a; 0 without time, null on the diagonal"},
                      {"pct_of_b", Unit::kPct,
                       "100 · overlap / time of category_b; 0 without time, null on the diagonal"}},
          .empty_text = "no kernels and no copies",
          .report = Report,
          .run = Run};
}

}  // namespace nsys

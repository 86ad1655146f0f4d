// SPDX-License-Identifier: MIT
// Which known causes of lost GPU time does this capture show?
//
// One device, the kernels inside the window; the checks are in analysis/root_causes_*.cc. A cause
// claims the stretches of device time that would come back at most; a stretch is claimed once, by
// the cause that claims most, so the recoverable times of all rows never exceed the span.
// Order: recoverable time, then severity, then the order of the checks.
#include <fmt/core.h>

#include "analysis/root_causes.h"
#include "analysis/runner.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

Object MakeRow(const RootCauses& causes, const RootCause& cause) {
  const auto time = [&](int64_t Span::* edge) {
    return cause.place ? Value((*cause.place).*edge) : Value();
  };
  return {{"pattern", cause.pattern},
          {"severity", SeverityName(cause.severity)},
          {"evidence", cause.evidence},
          {"recommendation", cause.recommendation},
          {"analysed_device", causes.device},
          {"recoverable_ms", NsToMs(cause.recoverable_ns(), 3)},
          {"recoverable_pct", Percent(cause.recoverable_ns(), causes.span.length_ns(), 1)},
          {"magnitude_ms", NsToMs(cause.magnitude_ns, 3)},
          {"start_ns", time(&Span::begin_ns)},
          {"end_ns", time(&Span::end_ns)},
          {"where", cause.where},
          {"counted_in", cause.counted_in.empty() ? Value() : Value(cause.counted_in)}};
}

Object NothingFound(const RootCauses& causes) {
  return {{"pattern", "No Known Anti-Patterns Detected"},
          {"severity", SeverityName(Severity::kInfo)},
          {"evidence", fmt::format("none of the patterns that are looked for occurs on device {} "
                                   "within {}",
                                   causes.device, FormatDuration(causes.span.length_ns()))},
          {"recommendation",
           "Look at where the time goes: top_kernels, nvtx_layer_breakdown, iteration_timing."},
          {"analysed_device", causes.device},
          {"recoverable_ms", 0.0},
          {"recoverable_pct", 0.0},
          {"magnitude_ms", 0.0},
          {"start_ns", causes.span.begin_ns},
          {"end_ns", causes.span.end_ns},
          {"where", fmt::format("device {}", causes.device)},
          {"counted_in", nullptr}};
}

// The row and the sentences about time that no cause claims.
void TellTheRest(const RootCauses& causes, Answer& answer) {
  answer.about.push_back(
      {{"_unclaimed", true},
       {"idle_ms", NsToMs(causes.unclaimed_idle_ns, 3)},
       {"exposed_communication_ms", NsToMs(causes.unclaimed_communication_ns, 3)},
       {"edge_idle_ms", NsToMs(causes.edge_idle_ns, 3)}});
  if (causes.unclaimed_idle_ns > 0 || causes.unclaimed_communication_ns > 0) {
    answer.notes.push_back(fmt::format(
        "No cause claims {} in which nothing runs, nor {} of communication without compute.",
        FormatDuration(causes.unclaimed_idle_ns),
        FormatDuration(causes.unclaimed_communication_ns)));
  }
  if (causes.edge_idle_ns > 0) {
    answer.notes.push_back(fmt::format(
        "The window has {} of idle time more, before and after the kernels that lie wholly inside "
        "it (span {}).",
        FormatDuration(causes.edge_idle_ns), FormatDuration(causes.span.length_ns())));
  }
}

// What could not be looked for, since the capture lacks the table.
void NoteUnchecked(const Trace& trace, Answer& answer) {
  const auto note = [&](TableId table, std::string_view what) {
    if (!trace.schema.Has(table)) {
      answer.notes.push_back(
          fmt::format("Not checked, for want of {}: {}.", CanonicalName(table), what));
    }
  };
  note(TableId::kRuntime, "what the host does, small kernels, synchronous copies");
  note(TableId::kMemcpy, "copies");
  note(TableId::kNvtx, "layers");
}

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const auto& causes = FindRootCauses(query.views, device, query.window);
  if (!causes) {
    if (!query.window) {
      return NoKernelsProblem(query, device);
    }
    return Answer::Abstain(
        "No kernel of any device lies inside the window, so nothing can be said "
        "about it, neither good nor bad.",
        {{"trim_start_ns", query.window->begin_ns}, {"trim_end_ns", query.window->end_ns}});
  }
  Answer answer;
  int64_t recoverable = 0;
  for (const RootCause& cause : causes->found) {
    answer.rows.push_back(MakeRow(*causes, cause));
    recoverable += cause.recoverable_ns();
  }
  if (causes->found.empty()) {
    answer.rows.push_back(NothingFound(*causes));
  } else {
    answer.notes.push_back(fmt::format(
        "All together at most {} of {} on device {} could come back ({:.1f} %); no time is counted "
        "for two causes.",
        FormatDuration(recoverable), FormatDuration(causes->span.length_ns()), causes->device,
        Percent(recoverable, causes->span.length_ns(), 1).value_or(0)));
  }
  TellTheRest(*causes, answer);
  if (causes->device != device) {
    answer.notes.push_back(
        fmt::format("No kernel of device {} lies inside the window; this is device {}.", device,
                    causes->device));
  }
  NoteUnchecked(query.trace, answer);
  return answer;
}

std::string Sentence(std::string_view text) {
  const bool ended = text.ends_with('.') || text.ends_with('!');
  std::string sentence = std::string(text) + (ended ? "" : ".");
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') {
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  }
  return sentence;
}

std::string PlaceWords(const Object& row) {
  const int64_t* begin = row.Find("start_ns")->AsInt();
  const int64_t* end = row.Find("end_ns")->AsInt();
  if (begin == nullptr || end == nullptr) {
    return *row.Find("where")->AsText();
  }
  return fmt::format("{}, at {:.6f} s for {}", *row.Find("where")->AsText(),
                     static_cast<double>(*begin) / 1e9, FormatDuration(*end - *begin));
}

std::string Report(const Answer& answer) {
  constexpr size_t kWidth = 92;
  std::string text;
  size_t number = 0;
  for (const Object& row : answer.rows) {
    const auto words = [&](std::string_view key) { return Printable(*row.Find(key)->AsText()); };
    const double recoverable = *row.Find("recoverable_ms")->AsDouble();
    const std::string gain =
        recoverable > 0 ? fmt::format(": up to {:.2f} ms ({:.1f} % of the span)", recoverable,
                                      row.Find("recoverable_pct")->AsDouble() == nullptr
                                          ? 0.0
                                          : *row.Find("recoverable_pct")->AsDouble())
                        : std::string();
    text += fmt::format("{}{}. {} ({}){}\n", number == 0 ? "" : "\n", number + 1, words("pattern"),
                        words("severity"), gain);
    text += Wrapped(Sentence(words("evidence")), kWidth, "   ");
    if (!row.Find("counted_in")->is_null()) {
      text += Wrapped("Its time is counted under " + words("counted_in") + ".", kWidth, "   ");
    }
    text += Wrapped("Where: " + Printable(PlaceWords(row)) + ".", kWidth, "   ");
    text += Wrapped("Try: " + words("recommendation"), kWidth, "   ");
    ++number;
  }
  return text;
}

}  // namespace

Skill skill_root_cause_matcher() {
  return {
      .name = "root_cause_matcher",
      .category = Category::kAnalysis,
      .title = "Root Cause Pattern Matcher",
      .doc =
          "Names known causes of lost GPU time with evidence, place and remedy, ranked by the "
          "time that could come back; no time is counted twice.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = RootCauseReads(),
      .params = {Param::Device()},
      .columns =
          {{"pattern", Unit::kText, "name of the cause"},
           {"severity", Unit::kText,
            "critical, warning or info; info for what could give back (or, where nothing is "
            "claimed, is "
            "about) less than 1 % of the span"},
           {"evidence", Unit::kText, "what was found, with its figures"},
           {"recommendation", Unit::kText, "what to try"},
           {"analysed_device", Unit::kId,
            "device looked at: the one asked for, or, when it has no kernel inside the window, the "
            "one with most"},
           {"recoverable_ms", Unit::kMs,
            "device time that would come back at most, what larger causes claim taken out; the sum "
            "over all rows is at most the span"},
           {"recoverable_pct", Unit::kPct,
            "recoverable / span from the first start to the last end of the device's kernels"},
           {"magnitude_ms", Unit::kMs, "time the pattern is about, whether recoverable or not"},
           {"start_ns", Unit::kTimeNs, "start of the place where it is largest; null without one"},
           {"end_ns", Unit::kTimeNs, "end of that place"},
           {"where", Unit::kText, "device, thread, kernel or range"},
           {"counted_in", Unit::kText,
            "cause that claims most of the time this one shares with others; null if none"}},
      .about_columns =
          {{"_unclaimed", Unit::kFlag, "true: the row is about time that no cause claims"},
           {"idle_ms", Unit::kMs, "time of the span in which nothing runs on the device"},
           {"exposed_communication_ms", Unit::kMs, "communication without compute beside it"},
           {"edge_idle_ms", Unit::kMs,
            "with a window: time in which nothing runs, before the first and after the last of the "
            "kernels wholly inside it; part of no other figure"}},
      .empty_text = "nothing looked at",
      .report = Report,
      .run = Run};
}

}  // namespace nsys

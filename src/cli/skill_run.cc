// SPDX-License-Identifier: MIT
// nsys-ai skill run: bind, open, load, run, print.
#include <array>
#include <cstdlib>
#include <memory>
#include <thread>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

#include "analysis/iterations.h"
#include "analysis/params.h"
#include "analysis/runner.h"
#include "analysis/selection.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/deadline.h"
#include "cli/find_skill.h"
#include "cli/output_guard.h"
#include "cli/progress.h"
#include "cli/warning.h"
#include "ingest/capture.h"
#include "ingest/load.h"
#include "output/rows_json.h"
#include "output/rows_lines.h"
#include "output/rows_text.h"
#include "query/sql_session.h"

namespace nsys {
namespace {

Result<Trace> Load(const SkillRunRequest& request, const Reads& reads) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const int threads = request.threads > 0 ? request.threads : static_cast<int>(cores);
  NSYS_ASSIGN(const std::unique_ptr<TableSource> source, OpenCapture(request.profile, threads));
  Progress progress;
  const LoadOptions options{.threads = threads,
                            .progress = [&](int64_t rows) { progress.Update(rows); }};
  return LoadTrace(*source, reads, options);
}

// The device to find iterations on: the skill's own, else the first on which kernels ran.
int64_t IterationDevice(const Skill& skill, const Trace& trace, const Params& params) {
  if (skill.FindParam("device") != nullptr) {
    if (const auto device = params.OptionalInt("device")) {
      return *device;
    }
  }
  const std::vector<int64_t> devices = DevicesWithKernels(trace);
  return devices.empty() ? 0 : devices.front();
}

// The wanted iteration, as long as `views` lives.
Result<const Iteration*> FindIteration(const SkillRunRequest& request, const Skill& skill,
                                       Views& views, const Params& params) {
  const int64_t device = IterationDevice(skill, views.trace(), params);
  const auto& iterations =
      DetectIterations(views, {.device = device, .marker = request.marker, .window = std::nullopt});
  if (iterations.empty()) {
    return Error{
        .code = ErrorCode::kUsage,
        .message = fmt::format("no iterations on device {}: no launch of its kernels is in "
                               "a range '{}' or between pauses",
                               device, request.marker),
        .hint = "name the NVTX text that opens an iteration with --marker TEXT"};
  }
  const auto count = static_cast<int64_t>(iterations.size());
  if (*request.iteration >= count) {
    return Error{
        .code = ErrorCode::kUsage,
        .message = fmt::format("--iteration {} is out of range: device {} has iterations 0 to {}",
                               *request.iteration, device, count - 1),
        .hint = "nsys-ai skill run iteration_timing lists them"};
  }
  return &iterations[static_cast<size_t>(*request.iteration)];
}

// Says, in the text form and in a row about the data, that pauses stood in for marker ranges.
void AnnounceHeuristic(const SkillRunRequest& request, const Iteration& iteration, Answer& answer) {
  if (!iteration.heuristic || answer.abstention || answer.problem) {
    return;
  }
  const std::string words = fmt::format(
      "no NVTX range holds the marker '{}': iteration {} is a stretch between GPU "
      "pauses of more than {} ms",
      request.marker, *request.iteration, kIterationPauseNs / 1'000'000);
  Warn(words);
  answer.notes.push_back(fmt::format("Caution: {}.", words));
  answer.about.push_back({{"_iteration", *request.iteration},
                          {"heuristic", true},
                          {"marker", request.marker},
                          {"start_ns", iteration.gpu_start_ns},
                          {"end_ns", iteration.gpu_end_ns}});
}

// The capture opened for SQL when a custom skill first asks.
class SqlSessions {
 public:
  explicit SqlSessions(const SkillRunRequest& request) : request_(request) {}

  Result<SqlSession*> Get(SqlEngine engine) {
    std::unique_ptr<SqlSession>& session = sessions_[engine == SqlEngine::kDuckdb ? 1 : 0];
    if (session == nullptr) {
      NSYS_ASSIGN(session, SqlSession::Open(request_.profile, engine, request_.threads));
    }
    return session.get();
  }

 private:
  const SkillRunRequest& request_;
  std::array<std::unique_ptr<SqlSession>, 2> sessions_;
};

TextStyle StyleOfTerminal(bool to_stdout) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool colors = to_stdout && ::isatty(STDOUT_FILENO) == 1 &&
                      (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
                      std::string_view(terminal) != "dumb";
  TextStyle style{.emphasis = colors ? Emphasis::kAnsi : Emphasis::kPlain};
  winsize size{};
  if (to_stdout && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.line_width = size.ws_col;
  }
  return style;
}

std::string Render(const SkillRunRequest& request, const Skill& skill, const Answer& answer) {
  switch (request.format) {
    case OutputFormat::kText:
      return RowsToText(skill, answer, StyleOfTerminal(request.output.empty()));
    case OutputFormat::kJson:
      return RowsToJson(answer, request.max_rows, request.layout);
    case OutputFormat::kJsonLines:
      return RowsToJsonLines(answer);
    case OutputFormat::kCsv:
      return RowsToCsv(skill, answer);
  }
  return "";
}

Result<Answer> AnswerFor(const SkillRunRequest& request, const Skill& skill, const Params& params,
                         const Trace& trace) {
  Views views(trace);
  Query query{.trace = trace,
              .params = params,
              .window = std::nullopt,
              .views = views,
              .profile = request.profile};
  if (skill.window_rule == WindowRule::kIgnored) {
    return RunSkill(skill, query);
  }
  if (request.window) {
    NSYS_TRY(CheckWindow(trace, *request.window));
    query.window = request.window;
  }
  if (!request.iteration) {
    return RunSkill(skill, query);
  }
  if (auto answer = AbstainWithoutLaunches(trace)) {
    return *std::move(answer);
  }
  NSYS_ASSIGN(const Iteration* iteration, FindIteration(request, skill, views, params));
  query.window = Window{iteration->gpu_start_ns, iteration->gpu_end_ns};
  NSYS_ASSIGN(Answer answer, RunSkill(skill, query));
  AnnounceHeuristic(request, *iteration, answer);
  return answer;
}

// The skill's parameters. Without --iteration, --marker is short for the skill's own parameter.
Result<Params> ParamsOf(const SkillRunRequest& request, const Skill& skill) {
  std::vector<GivenParam> given = request.params;
  if (request.marker_given && !request.iteration) {
    if (skill.FindParam("marker") == nullptr) {
      return Error{.code = ErrorCode::kUsage,
                   .message = fmt::format("--marker says which ranges open an iteration, but skill "
                                          "'{}' was asked for none",
                                          skill.name),
                   .hint = "add --iteration N"};
    }
    given.emplace_back("marker", request.marker);
  }
  return BindParams(skill, given);
}

// What a table without rows cannot say.
void WarnOfNoAnswer(const Answer& answer) {
  if (answer.abstention) {
    Warn(answer.abstention->reason);
  } else if (answer.problem) {
    Warn("the arguments fit no part of this capture; --format json says why");
  }
}

}  // namespace

Status RunSkillRun(const SkillRunRequest& request) {
  SkillSet skills(request.skills_dir);
  if (skills.Find(request.name) == nullptr && skills.Find(request.profile) != nullptr) {
    return Error{.code = ErrorCode::kUsage,
                 .message = fmt::format("'{}' stands where the capture belongs", request.profile),
                 .hint = fmt::format("the skill comes first: nsys-ai skill run {} {}",
                                     request.profile, request.name)};
  }
  NSYS_ASSIGN(const Skill* skill, skills.FindOrSuggest(request.name));
  const bool no_capture = request.profile.empty() || request.profile == "-";
  if (request.profile.empty() && skill->needs_capture) {
    return Error{.code = ErrorCode::kUsage,
                 .message = fmt::format("skill '{}' needs a capture", skill->name),
                 .hint = fmt::format("nsys-ai skill run {} PROFILE", skill->name)};
  }
  NSYS_ASSIGN(const Params params, ParamsOf(request, *skill));
  NSYS_TRY(RefuseToOverwrite(request.output, request.profile));
  Reads reads = ReadsFor(*skill, request.window);
  if (request.iteration && skill->window_rule != WindowRule::kIgnored) {
    reads.Add(IterationReads());
  }
  Trace trace;
  if (skill->needs_capture || !no_capture) {
    NSYS_ASSIGN(trace, Load(request, reads));
  }
  for (const std::string& warning : trace.warnings) {
    Warn(warning);
  }
  const bool has_window = request.window || request.iteration;
  if (skill->custom && has_window && skill->window_rule == WindowRule::kIgnored) {
    Warn(fmt::format("the SQL of '{}' has no window: it looks at the whole capture", skill->name));
  }
  SqlSessions sessions(request);
  skills.UseCapture(
      {.path = request.profile, .session = [&](SqlEngine engine) { return sessions.Get(engine); }});
  std::optional<Deadline> deadline;
  if (skill->custom) {
    const bool as_json =
        request.format == OutputFormat::kJson || request.format == OutputFormat::kJsonLines;
    deadline.emplace(SqlLimits().timeout_ms, as_json);
  }
  NSYS_ASSIGN(const Answer answer, AnswerFor(request, *skill, params, trace));
  deadline.reset();
  if (request.format == OutputFormat::kCsv) {
    WarnOfNoAnswer(answer);
  }
  const std::string text = Render(request, *skill, answer);
  return request.output.empty() ? WriteStdout(text) : WriteFileAtomically(request.output, text);
}

}  // namespace nsys

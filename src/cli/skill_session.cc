// SPDX-License-Identifier: MIT
#include "cli/skill_session.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

#include "analysis/iterations.h"
#include "analysis/runner.h"
#include "analysis/selection.h"
#include "base/file.h"
#include "cli/deadline.h"
#include "cli/progress.h"
#include "cli/warning.h"
#include "ingest/capture.h"
#include "ingest/load.h"
#include "output/rows_json.h"
#include "output/rows_lines.h"
#include "output/rows_text.h"
#include "query/sql_session.h"

namespace nsys {

// The capture opened for SQL when a custom skill first asks.
class SqlSessions {
 public:
  explicit SqlSessions(const SkillRunRequest& request) : request_(request) {}

  // What the sessions have to be of: the files that the trace was loaded from.
  void Expect(InputFiles inputs) { inputs_ = std::move(inputs); }

  Result<SqlSession*> Get(SqlEngine engine) {
    std::unique_ptr<SqlSession>& session = sessions_[engine == SqlEngine::kDuckdb ? 1 : 0];
    if (session == nullptr) {
      NSYS_ASSIGN(session, SqlSession::Open(request_.profile, engine, request_.threads));
    }
    NSYS_TRY(inputs_.CheckUnchanged());
    return session.get();
  }

 private:
  const SkillRunRequest& request_;
  InputFiles inputs_;
  std::array<std::unique_ptr<SqlSession>, 2> sessions_;
};

namespace {

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

// Says, in the text form and in a row about the data, that pauses stood in for marker ranges; warns
// of it unless that was done before.
void AnnounceHeuristic(const SkillRunRequest& request, const Iteration& iteration, bool& warned,
                       Answer& answer) {
  if (!iteration.heuristic || answer.abstention || answer.problem) {
    return;
  }
  const std::string words = fmt::format(
      "no NVTX range holds the marker '{}': iteration {} is a stretch between GPU "
      "pauses of more than {} ms",
      request.marker, *request.iteration, kIterationPauseNs / 1'000'000);
  if (!std::exchange(warned, true)) {
    Warn(words);
  }
  answer.notes.push_back(fmt::format("Caution: {}.", words));
  answer.about.push_back({{"_iteration", *request.iteration},
                          {"heuristic", true},
                          {"marker", request.marker},
                          {"start_ns", iteration.gpu_start_ns},
                          {"end_ns", iteration.gpu_end_ns}});
}

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

}  // namespace

SkillSession::SkillSession(const SkillRunRequest& request, SkillSet& skills)
    : request_(request), sql_sessions_(std::make_unique<SqlSessions>(request)) {
  skills.UseCapture({.path = request.profile,
                     .session = [this](SqlEngine engine) { return sql_sessions_->Get(engine); }});
}

SkillSession::~SkillSession() = default;

Reads SkillSession::ReadsOf(const Skill& skill, const Params& params) const {
  Reads reads = ReadsFor(skill, params, request_.window);
  if (request_.iteration && skill.window_rule != WindowRule::kIgnored) {
    reads.Add(IterationReadsOf(request_.marker));
  }
  return reads;
}

Status SkillSession::Load(const Reads& reads) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const int threads = request_.threads > 0 ? request_.threads : static_cast<int>(cores);
  NSYS_ASSIGN(const std::unique_ptr<TableSource> source,
              OpenCapture(request_.profile,
                          OpenOptions{.threads = threads,
                                      .reader = request_.reader.value_or(SqliteReader::kAuto)}));
  Progress progress;
  const LoadOptions options{.threads = threads,
                            .progress = [&](int64_t rows) { progress.Update(rows); }};
  NSYS_ASSIGN(trace_, LoadTrace(*source, reads, options));
  sql_sessions_->Expect(source->inputs());
  if (request_.reader && !source->reader().empty()) {
    Tell(source->reader());
  }
  for (const std::string& warning : trace_.warnings) {
    Warn(warning);
  }
  return {};
}

Result<Answer> SkillSession::AnswerOf(const Skill& skill, const Params& params) {
  if (views_ == nullptr) {
    views_ = std::make_unique<Views>(trace_);
  }
  Query query{.trace = trace_,
              .params = params,
              .window = std::nullopt,
              .views = *views_,
              .profile = request_.profile};
  std::optional<Deadline> deadline;
  if (skill.custom) {
    const bool as_json =
        request_.format == OutputFormat::kJson || request_.format == OutputFormat::kJsonLines;
    deadline.emplace(SqlLimits().timeout_ms, as_json);
  }
  if (skill.window_rule == WindowRule::kIgnored) {
    if (skill.custom && (request_.window || request_.iteration)) {
      Warn(fmt::format("the SQL of '{}' has no window: it looks at the whole capture", skill.name));
    }
    return RunSkill(skill, query);
  }
  if (request_.window) {
    NSYS_TRY(CheckWindow(trace_, *request_.window));
    query.window = request_.window;
  }
  if (!request_.iteration) {
    return RunSkill(skill, query);
  }
  if (auto answer = AbstainWithoutLaunches(trace_)) {
    return *std::move(answer);
  }
  NSYS_ASSIGN(const Iteration* iteration, FindIteration(request_, skill, *views_, params));
  query.window = Window{iteration->gpu_start_ns, iteration->gpu_end_ns};
  NSYS_ASSIGN(Answer answer, RunSkill(skill, query));
  AnnounceHeuristic(request_, *iteration, warned_, answer);
  return answer;
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

Status Deliver(const SkillRunRequest& request, const std::string& text) {
  return request.output.empty() ? WriteStdout(text) : WriteFileAtomically(request.output, text);
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "ingest/nsys_export.h"
#include "output/rows_json.h"

namespace nsys {
namespace {

// Ctrl-C ends the program at once: nothing of ours is half-written, since results go to temporary
// names, but a running export has to be stopped and its temporary folder removed.
extern "C" void OnInterrupt(int signal_number) {
  RemoveTemporaryExports();
  ::_exit(128 + signal_number);
}

Status Execute(const Request& request) {
  if (const auto* list = std::get_if<SkillListRequest>(&request)) {
    return RunSkillList(*list);
  }
  if (const auto* info = std::get_if<SkillInfoRequest>(&request)) {
    return RunSkillInfo(*info);
  }
  if (const auto* run = std::get_if<SkillRunRequest>(&request)) {
    return RunSkillRun(*run);
  }
  return WriteStdout(std::get<HelpRequest>(request).text);
}

// Prints the error where the caller looks for it, and gives the exit status.
int Report(const Error& error, bool as_json) {
  if (as_json && error.code != ErrorCode::kOutput && WriteStdout(ErrorToJson(error)).ok()) {
    return ExitStatus(error.code);
  }
  const std::string hint = error.hint.empty() ? "" : fmt::format("; {}", error.hint);
  std::fputs(fmt::format("Error [{}]: {}{}\n", ErrorCodeName(error.code), Printable(error.message),
                         Printable(hint))
                 .c_str(),
             stderr);
  return ExitStatus(error.code);
}

int Main(const std::vector<std::string>& arguments) {
  const bool json_errors = WantsJsonErrors(arguments);
  try {
    auto request = ParseCommandLine(arguments);
    if (!request.ok()) {
      return Report(request.error(), json_errors);
    }
    if (const Status status = Execute(request.value()); !status.ok()) {
      return Report(status.error(), json_errors);
    }
    const auto* help = std::get_if<HelpRequest>(&request.value());
    return help != nullptr ? help->exit_status : 0;
  } catch (const std::bad_alloc&) {
    return Report({.code = ErrorCode::kSkillExecution,
                   .message = "out of memory",
                   .hint = "narrow the question with --trim"},
                  json_errors);
  } catch (const std::exception& failure) {
    return Report({.code = ErrorCode::kSkillExecution,
                   .message = fmt::format("internal error: {}", failure.what())},
                  json_errors);
  }
}

}  // namespace
}  // namespace nsys

int main(int argc, char** argv) {
  std::signal(SIGINT, nsys::OnInterrupt);
  std::signal(SIGTERM, nsys::OnInterrupt);
  return nsys::Main({argv + 1, argv + argc});
}

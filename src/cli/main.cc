// SPDX-License-Identifier: MIT
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/file.h"
#include "base/os_error.h"
#include "base/text.h"
#include "base/unfinished.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "ingest/nsys_export.h"
#include "output/rows_json.h"

namespace nsys {
namespace {

// Ctrl-C ends the program at once: nothing of ours is half-written, since results go to temporary
// names, but these and a running export with its temporary folder have to be removed. While a set
// of files is put in its place, the signal waits.
extern "C" void OnInterrupt(int signal_number) {
  if (HoldSignal(signal_number)) {
    return;
  }
  RemoveTemporaryExports();
  ::_exit(128 + signal_number);
}

// A stream that was closed before the start would be the number of the next file that is opened,
// and what is meant for the stream would be written into that file.
void OccupyStandardStreams() {
  int descriptor = 0;
  do {
    descriptor = ::open("/dev/null", O_RDONLY);  // writing there is an error, as it should be
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) {
    ::close(descriptor);
  }
}

Status ExecuteSkill(const Request& request) {
  if (const auto* list = std::get_if<SkillListRequest>(&request)) {
    return RunSkillList(*list);
  }
  if (const auto* info = std::get_if<SkillInfoRequest>(&request)) {
    return RunSkillInfo(*info);
  }
  if (const auto* run = std::get_if<SkillRunRequest>(&request)) {
    return RunSkillRun(*run);
  }
  if (const auto* add = std::get_if<SkillAddRequest>(&request)) {
    return RunSkillAdd(*add);
  }
  if (const auto* remove = std::get_if<SkillRemoveRequest>(&request)) {
    return RunSkillRemove(*remove);
  }
  return RunSkillSave(std::get<SkillSaveRequest>(request));
}

// Gives the exit status.
Result<int> Execute(const Request& request) {
  if (const auto* help = std::get_if<HelpRequest>(&request)) {
    NSYS_TRY(WriteStdout(help->text));
    return help->exit_status;
  }
  if (const auto* convert = std::get_if<ConvertRequest>(&request)) {
    return RunConvert(*convert);
  }
  if (const auto* all = std::get_if<SkillRunAllRequest>(&request)) {
    return RunSkillRunAll(*all);
  }
  if (const auto* sql = std::get_if<SqlRequest>(&request)) {
    NSYS_TRY(RunSql(*sql));
  } else {
    NSYS_TRY(ExecuteSkill(request));
  }
  return 0;
}

// Prints the error where the caller looks for it, and gives the exit status.
int Report(const Error& error, bool as_json) {
  // When standard output itself is what cannot be written, the line below still tells.
  if (as_json && WriteStdout(ErrorToJson(error)).ok()) {
    return ExitStatus(error.code);
  }
  const std::string hint = error.hint.empty() ? "" : fmt::format("; {}", error.hint);
  std::fputs(fmt::format("Error [{}]: {}{}\n", ErrorCodeName(error.code), Printable(error.message),
                         Printable(hint))
                 .c_str(),
             stderr);
  return ExitStatus(error.code);
}

Error SystemFailure(const std::system_error& failure) {
  if (failure.code() != std::errc::resource_unavailable_try_again) {
    return {.code = ErrorCode::kSkillExecution,
            .message = fmt::format("internal error: {}", failure.what())};
  }
  return {.code = ErrorCode::kSkillExecution,
          .message = fmt::format("the system starts no more threads: {}", failure.what()),
          .hint =
              "end other programs, or allow more threads or memory, as with `ulimit -u 4096 -v "
              "unlimited`; where a command has --threads, `--threads 1` needs fewest"};
}

int Main(const std::vector<std::string>& arguments) {
  const bool json_errors = WantsJsonErrors(arguments);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the size limit is then an error of write
  try {
    auto request = ParseCommandLine(arguments);
    if (!request.ok()) {
      return Report(request.error(), json_errors);
    }
    const Result<int> status = Execute(request.value());
    return status.ok() ? status.value() : Report(status.error(), json_errors);
  } catch (const std::bad_alloc&) {
    return Report({.code = ErrorCode::kSkillExecution,
                   .message = "out of memory",
                   .hint = "narrow the question with --trim, or " + OutOfMemoryHint()},
                  json_errors);
  } catch (const std::system_error& failure) {
    return Report(SystemFailure(failure), json_errors);
  } catch (const std::exception& failure) {
    return Report({.code = ErrorCode::kSkillExecution,
                   .message = fmt::format("internal error: {}", failure.what())},
                  json_errors);
  }
}

}  // namespace
}  // namespace nsys

int main(int argc, char** argv) {
  nsys::OccupyStandardStreams();
  std::signal(SIGINT, nsys::OnInterrupt);
  std::signal(SIGTERM, nsys::OnInterrupt);
  std::signal(SIGHUP, nsys::OnInterrupt);
  return nsys::Main({argv + 1, argv + argc});
}

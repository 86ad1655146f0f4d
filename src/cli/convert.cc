// SPDX-License-Identifier: MIT
// nsys-ai convert: one input after the other, each published as a whole or not at all.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/convert_one.h"
#include "cli/convert_plan.h"
#include "cli/convert_summary.h"
#include "cli/progress.h"
#include "output/rows_json.h"

namespace nsys {
namespace {

// Of one of several inputs: the run goes on, so the error is told here.
void Tell(const ConvertJob& job, const Error& error) {
  const std::string hint = error.hint.empty() ? "" : "; " + error.hint;
  std::fputs(fmt::format("Error [{}]: {}: {}{}\n", ErrorCodeName(error.code), Printable(job.input),
                         Printable(error.message), Printable(hint))
                 .c_str(),
             stderr);
}

Object FailureObject(const ConvertJob& job, const Error& error) {
  return Object{{"input", ToValidUtf8(job.input)},
                {"report", ToValidUtf8(job.report)},
                {"error", ErrorObject(error)}};
}

std::string ReportsJson(List reports) {
  return ToJson(Object{{"reports", std::move(reports)}}, JsonLayout::kIndented) + "\n";
}

void TellFailures(const std::vector<std::string>& failed, size_t inputs) {
  std::vector<std::string> names;
  for (const std::string& input : failed) {
    names.push_back(Printable(input));
  }
  std::fputs(
      fmt::format("nsys-ai: {} of {} inputs failed: {}\n", failed.size(), inputs, Join(names, ", "))
          .c_str(),
      stderr);
}

void KeepFirst(Status& first, Status next) {
  if (first.ok()) {
    first = std::move(next);
  }
}

// The outputs are in place, whatever becomes of the summary.
Error Untold(Error error) {
  error.message = "what was converted is complete, but not told: " + error.message;
  return error;
}

}  // namespace

Result<int> RunConvert(const ConvertRequest& request) {
  NSYS_ASSIGN(const std::vector<ConvertJob> jobs, PlanConversion(request));
  List reports;
  std::vector<std::string> failed;
  Status told;
  int exit_status = 0;
  for (const ConvertJob& job : jobs) {
    std::optional<Progress> progress(std::in_place);
    Result<Conversion> done = ConvertOne(request, job, *progress);
    progress.reset();  // removes its line
    if (!done.ok()) {
      if (jobs.size() == 1) {
        return std::move(done).TakeError();
      }
      if (exit_status == 0) {
        exit_status = ExitStatus(done.error().code);
      }
      failed.push_back(job.input);
      reports.emplace_back(FailureObject(job, done.error()));
      if (!request.json_summary) {
        Tell(job, done.error());
      }
      if (request.fail_fast) {
        break;
      }
    } else if (request.json_summary) {
      reports.emplace_back(SummaryObject(done.value()));
    } else {
      KeepFirst(told, WriteStdout(SummaryText(done.value())));
    }
  }
  if (request.json_summary) {
    KeepFirst(told, WriteStdout(ReportsJson(std::move(reports))));
  }
  if (!failed.empty()) {
    TellFailures(failed, jobs.size());
  }
  if (!told.ok()) {
    return Untold(std::move(told).TakeError());
  }
  return exit_status;
}

}  // namespace nsys

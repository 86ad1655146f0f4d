// SPDX-License-Identifier: MIT
// nsys-ai sql: open, run, print.
#include <cstdio>
#include <memory>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/deadline.h"
#include "cli/output_guard.h"
#include "output/plain_rows.h"
#include "query/parquet_writer.h"

namespace nsys {
namespace {

std::optional<size_t> TerminalWidth(const SqlRequest& request) {
  winsize size{};
  const bool known =
      request.output.empty() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::optional<size_t>(size.ws_col) : std::nullopt;
}

// Says on standard error that rows were left out.
void TellLeftOut(const SqlRows& rows, const SqlLimits& limits) {
  const std::string all =
      rows.total_rows ? FormatCount(*rows.total_rows) : "more than " + FormatCount(limits.max_rows);
  std::fputs(fmt::format("nsys-ai: showing {} of {} rows; --max-rows N shows more\n",
                         FormatCount(static_cast<int64_t>(rows.rows.size())), all)
                 .c_str(),
             stderr);
}

Result<std::string> Render(const SqlRequest& request, SqlRows rows, bool left_out) {
  PlainRows plain;
  for (const SqlColumn& column : rows.columns) {
    plain.columns.push_back(column.name);
  }
  if (request.format == SqlFormat::kParquet) {
    return RowsToParquet(DistinctNames(plain.columns), rows);
  }
  plain.left_out = left_out;
  plain.total_rows = rows.total_rows;
  plain.rows = std::move(rows.rows);
  switch (request.format) {
    case SqlFormat::kJson:
      return PlainRowsToJson(plain, request.layout);
    case SqlFormat::kJsonLines:
      return PlainRowsToJsonLines(plain);
    case SqlFormat::kCsv:
      return PlainRowsToCsv(plain);
    default:
      return PlainRowsToText(plain, TerminalWidth(request));
  }
}

}  // namespace

Status RunSql(const SqlRequest& request) {
  NSYS_TRY(RefuseToOverwrite(request.output, request.profile));
  // Ctrl-C ends the process at once, see main.cc: nothing here needs to be undone.
  NSYS_ASSIGN(const std::unique_ptr<SqlSession> session,
              SqlSession::Open(request.profile, request.engine, request.threads));
  const bool as_json =
      request.format == SqlFormat::kJson || request.format == SqlFormat::kJsonLines;
  SqlRows rows;
  {
    const Deadline deadline(request.limits.timeout_ms, as_json);
    NSYS_ASSIGN(rows, session->Run(request.statement, request.limits));
  }
  const bool left_out =
      !rows.total_rows || *rows.total_rows > static_cast<int64_t>(rows.rows.size());
  if (left_out) {
    TellLeftOut(rows, request.limits);
  }
  NSYS_ASSIGN(const std::string text, Render(request, std::move(rows), left_out));
  return request.output.empty() ? WriteStdout(text) : WriteFileAtomically(request.output, text);
}

}  // namespace nsys

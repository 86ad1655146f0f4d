// SPDX-License-Identifier: MIT
#include "cli/sql_options.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/number.h"
#include "base/text.h"
#include "cli/option_values.h"
#include "cli/usage_error.h"
#include "query/sql_text.h"

namespace nsys {
namespace {

Result<SqlFormat> ParseFormat(const std::string& word) {
  static constexpr std::pair<const char*, SqlFormat> kChoices[] = {
      {"table", SqlFormat::kTable},     {"json", SqlFormat::kJson},
      {"jsonl", SqlFormat::kJsonLines}, {"csv", SqlFormat::kCsv},
      {"parquet", SqlFormat::kParquet}, {"text", SqlFormat::kTable}};
  return Choose("--format", word, kChoices);
}

Result<SqlEngine> ParseEngine(const std::string& word) {
  static constexpr std::pair<const char*, SqlEngine> kChoices[] = {{"sqlite", SqlEngine::kSqlite},
                                                                   {"duckdb", SqlEngine::kDuckdb}};
  return Choose("--engine", word, kChoices);
}

Result<int64_t> ParseCount(const std::string& option, const std::optional<std::string>& word,
                           int64_t fallback, int64_t least, int64_t most) {
  if (!word) {
    return fallback;
  }
  const auto number = ParseInt(*word);
  if (number && *number >= least) {
    return std::min(*number, most);
  }
  return UsageError(
      fmt::format("{} takes a whole number of at least {}, not '{}'", option, least, *word),
      fmt::format("for example: {} {}", option, std::max<int64_t>(least, 1) * 100));
}

Result<int64_t> ParseTimeout(const std::optional<std::string>& word, int64_t fallback_ms) {
  constexpr double kMostSeconds = 1e9;
  if (!word) {
    return fallback_ms;
  }
  const auto seconds = ParseFiniteDouble(*word);
  if (seconds && *seconds > 0) {
    return static_cast<int64_t>(std::ceil(std::min(*seconds, kMostSeconds) * 1000));
  }
  return UsageError(fmt::format("--timeout takes a number of seconds above 0, not '{}'", *word),
                    "for example: --timeout 60");
}

// Integers and reals become numbers, everything else is a text.
Value TypedValue(const std::string& word) {
  if (const auto integer = ParseInt(word)) {
    return *integer;
  }
  const auto real = ParseFiniteDouble(word);
  return real ? Value(*real) : Value(word);
}

Status ReadParams(const SqlOptions& options, SqlEngine engine, SqlStatement& statement) {
  const std::vector<std::string> known = SqlParameters(statement.text, engine);
  for (const std::string& word : options.params) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return UsageError(fmt::format("--param takes NAME=VALUE, not '{}'", word),
                        "for example: -p device=0");
    }
    const std::string name = word.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto nearest = NearestName(name, known);
      return UsageError(fmt::format("the statement has no parameter :{}", name),
                        nearest ? fmt::format("did you mean '{}'?", *nearest)
                                : "write :" + name + " in the statement where the value belongs");
    }
    for (const auto& [given, value] : statement.bindings) {
      if (given == name) {
        return UsageError(fmt::format("the parameter '{}' is given twice", name),
                          "give each parameter once");
      }
    }
    statement.bindings.emplace_back(name, TypedValue(word.substr(equals + 1)));
  }
  return {};
}

Result<std::string> ReadStatementFile(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  const bool standard_input = path == "-";
  const std::unique_ptr<FILE, int (*)(FILE*)> opened(
      standard_input ? nullptr : std::fopen(path.c_str(), "rbe"),
      [](FILE* file) { return file == nullptr ? 0 : std::fclose(file); });
  FILE* file = standard_input ? stdin : opened.get();
  if (file == nullptr) {
    return UsageError(fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                      "give a file that holds one statement");
  }
  std::string text(kMostBytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  if (std::ferror(file) != 0) {
    return UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)),
                      "give a file that holds one statement");
  }
  return text;
}

Result<std::string> StatementOf(const SqlOptions& options) {
  if (options.file && options.statement) {
    return UsageError("the statement is given twice: as an argument and with --file",
                      "give one of them");
  }
  if (options.file) {
    return ReadStatementFile(*options.file);
  }
  if (!options.statement) {
    return UsageError("a statement is missing",
                      "for example: nsys-ai sql PROFILE 'SELECT COUNT(*) FROM kernels'");
  }
  return *options.statement == "-" ? ReadStatementFile("-") : *options.statement;
}

}  // namespace

CLI::App* AddSqlCommand(CLI::App& app, SqlOptions& options) {
  CLI::App* sql = app.add_subcommand("sql", "Run one read-only SQL statement on a capture");
  sql->add_option("PROFILE", options.profile, "The capture: .sqlite, a parquetdir, or .nsys-rep")
      ->required();
  sql->add_option("STATEMENT", options.statement, "One statement; - reads it from standard input");
  sql->add_option("--file", options.file, "Read the statement from FILE")->option_text("FILE");
  sql->add_option("--format", options.format, "table (default), json, jsonl, csv, or parquet")
      ->option_text("FORMAT");
  sql->add_option("--engine", options.engine,
                  "sqlite (default), or duckdb: faster on large Parquet captures, its own dialect")
      ->option_text("ENGINE");
  sql->add_option("-p,--param", options.params, "The value of :NAME; may be repeated")
      ->option_text("NAME=VALUE")
      ->allow_extra_args(false);
  sql->add_option("--max-rows", options.max_rows,
                  "Show at most N rows (default: 10,000 in a table, else 1,000,000)")
      ->option_text("N");
  sql->add_option("--timeout", options.timeout, "Stop after so many seconds (default: 300)")
      ->option_text("SECONDS");
  sql->add_option("--memory", options.memory, "Use at most so much memory (default: 4096 MB)")
      ->option_text("MB");
  sql->add_option("-o,--output", options.output, "Write to FILE instead of standard output")
      ->option_text("FILE");
  sql->add_flag("--compact", options.compact, "JSON on one line");
  sql->add_option("--threads", options.threads, "Threads that read (default: one per core)")
      ->option_text("N");
  sql->footer(
      "Examples:\n"
      "  nsys-ai sql train.sqlite 'SELECT name, SUM([end]-start)/1e6 AS ms FROM kernels GROUP BY "
      "name\n"
      "      ORDER BY ms DESC LIMIT 5'\n"
      "  nsys-ai sql train.sqlite 'SELECT * FROM memcpy WHERE bytes > :least' -p least=1e6 "
      "--format json\n"
      "\nTables have the names of the export (SHOW TABLES lists them, DESCRIBE <table> their "
      "columns); kernels,\nnvtx, runtime and memcpy are short views with the texts resolved.");
  return sql;
}

Result<SqlRequest> ToSqlRequest(const SqlOptions& options) {
  constexpr int64_t kRowsOfTable = 10'000;
  constexpr int64_t kMostRows = 1'000'000'000;
  constexpr int64_t kMostMegabytes = int64_t{1} << 30;
  SqlRequest request{.profile = options.profile};
  NSYS_ASSIGN(request.format, ParseFormat(options.format));
  NSYS_ASSIGN(request.engine, ParseEngine(options.engine));
  SqlLimits& limits = request.limits;
  const int64_t shown = request.format == SqlFormat::kTable ? kRowsOfTable : limits.max_rows;
  NSYS_ASSIGN(limits.keep_rows, ParseCount("--max-rows", options.max_rows, shown, 0, kMostRows));
  limits.max_rows = std::max(limits.max_rows, *limits.keep_rows);
  NSYS_ASSIGN(limits.timeout_ms, ParseTimeout(options.timeout, limits.timeout_ms));
  NSYS_ASSIGN(const int64_t megabytes,
              ParseCount("--memory", options.memory, limits.max_bytes >> 20, 1, kMostMegabytes));
  limits.max_bytes = megabytes << 20;
  NSYS_ASSIGN(const int64_t threads, ParseCount("--threads", options.threads, 0, 1, 256));
  request.threads = static_cast<int>(threads);
  request.layout = options.compact ? JsonLayout::kOneLine : JsonLayout::kIndented;
  request.output = options.output.value_or("");
  if (options.output && options.output->empty()) {
    return UsageError("--output takes the name of a file, not ''", "for example: -o rows.json");
  }
  if (request.format == SqlFormat::kParquet && request.output.empty()) {
    return UsageError("--format parquet needs a file", "for example: -o rows.parquet");
  }
  NSYS_ASSIGN(request.statement.text, StatementOf(options));
  NSYS_TRY(ReadParams(options, request.engine, request.statement));
  return request;
}

}  // namespace nsys

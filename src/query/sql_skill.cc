// SPDX-License-Identifier: MIT
#include "query/sql_skill.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/core.h>

#include "base/text.h"
#include "query/sql_text.h"
#include "trace/intervals.h"

namespace nsys {
namespace {

std::optional<TableId> TableNamed(std::string_view name) {
  for (size_t i = 0; i < kTableCount; ++i) {
    const auto table = static_cast<TableId>(i);
    if (LowerAscii(CanonicalName(table)) == LowerAscii(name)) {
      return table;
    }
  }
  return std::nullopt;
}

// Time in which the profiler itself cost time, inside the window.
int64_t OverheadNs(const Query& query) {
  const Events& overheads = query.trace.overheads;
  std::vector<Span> spans;
  for (size_t row = 0; row < overheads.size(); ++row) {
    const Span span = Clip(query.window, overheads.start_ns[row], overheads.end_ns[row]);
    if (span.begin_ns < span.end_ns) {
      spans.push_back(span);
    }
  }
  return Length(Union(std::move(spans)));
}

// The word behind the first of `phrases` that `message` has.
std::string WordBehind(std::string_view message, std::initializer_list<std::string_view> phrases) {
  for (const std::string_view phrase : phrases) {
    const size_t at = message.find(phrase);
    if (at == std::string_view::npos) {
      continue;
    }
    const std::string_view rest = message.substr(at + phrase.size());
    std::string word(rest.substr(0, std::min(rest.find_first_of(" ;,\n!"), rest.size())));
    std::erase_if(word, [](char c) { return c == '"' || c == '\''; });
    return word.substr(word.starts_with("main.") ? 5 : 0);
  }
  return "";
}

Answer AbstainForTables(const std::vector<std::string>& names) {
  return Answer::Abstain(fmt::format("This capture has no {} table.", Join(names, " and no ")),
                         {{"missing_tables", List(names.begin(), names.end())}});
}

// Rows as objects, under distinct names.
Answer AnswerFrom(const SqlRows& rows) {
  Answer answer;
  for (const SqlColumn& column : rows.columns) {
    answer.keys.push_back(column.name);
  }
  answer.keys = DistinctNames(answer.keys);
  answer.rows.reserve(rows.rows.size());
  for (const std::vector<Value>& row : rows.rows) {
    Object& object = answer.rows.emplace_back();
    for (size_t c = 0; c < answer.keys.size() && c < row.size(); ++c) {
      object.Set(answer.keys[c], row[c]);
    }
  }
  return answer;
}

}  // namespace

Result<std::unique_ptr<SqlSkill>> SqlSkill::Make(MarkdownSkill source, std::string file,
                                                 std::shared_ptr<const CaptureAccess> capture) {
  NSYS_ASSIGN(SqlTemplate sql,
              SqlTemplate::Parse(source.sql, source.engine, source.params, source.sql_line));
  return std::unique_ptr<SqlSkill>(
      new SqlSkill(std::move(source), std::move(file), std::move(sql), std::move(capture)));
}

SqlSkill::SqlSkill(MarkdownSkill source, std::string file, SqlTemplate sql,
                   std::shared_ptr<const CaptureAccess> capture)
    : source_(std::move(source)),
      file_(std::move(file)),
      sql_(std::move(sql)),
      capture_(std::move(capture)) {
  skill_.name = source_.name;
  skill_.title = source_.title;
  skill_.doc = source_.description;
  skill_.category_text = source_.category;
  skill_.custom = true;
  skill_.sql = source_.sql;
  skill_.params = source_.params;
  skill_.empty_text = "no rows";
  skill_.needs = sql_.tables();
  for (const std::string& name : source_.tables) {
    const auto table = TableNamed(name);
    if (table && !skill_.Needs(*table)) {
      skill_.needs.push_back(*table);
    }
  }
  if (skill_.Needs(TableId::kKernel)) {
    skill_.reads.Add(TableId::kKernel, {Column::kTime});  // the runner looks whether there are any
  }
  if (sql_.UsesValue("overhead_ns")) {
    skill_.reads.Add(TableId::kOverhead, {Column::kTime});
  }
  const bool reads_window = sql_.UsesValue("trim_start_ns") || sql_.UsesValue("trim_end_ns") ||
                            sql_.UsesValue("overhead_ns");
  skill_.window_rule = reads_window              ? WindowRule::kOwn
                       : sql_.uses_trim_clause() ? WindowRule::kContain
                                                 : WindowRule::kIgnored;
  skill_.run = [this](const Query& query) { return Run(query); };
}

Status SqlSkill::Check() const {
  for (const std::string& sql : sql_.Variants()) {
    Status status = CheckSql(sql, source_.engine);
    if (!status.ok()) {
      Error error = std::move(status).TakeError();
      return SkillFileError(source_.sql_line, error.message, std::move(error.hint));
    }
  }
  return {};
}

Status SqlSkill::CheckOn(const Schema& schema, SqlSession& session) const {
  SqlStatement statement{.text = "EXPLAIN " + sql_.Expand(schema, true), .bindings = {}};
  for (std::string& name : SqlParameters(statement.text, source_.engine)) {
    statement.bindings.emplace_back(std::move(name), Value());
  }
  Result<SqlRows> rows = session.Run(statement, {});
  return rows.ok() ? Status() : Status(std::move(rows).TakeError());
}

std::optional<Value> SqlSkill::ValueOf(const Query& query, const std::string& name) const {
  if (name == "trim_start_ns") {
    return query.window ? Value(query.window->begin_ns) : Value();
  }
  if (name == "trim_end_ns") {
    return query.window ? Value(query.window->end_ns) : Value();
  }
  if (name == "overhead_ns") {
    return OverheadNs(query);
  }
  if (name == "_sqlite_path") {
    return capture_->path;
  }
  return query.params.Has(name) ? std::optional(query.params.Get(name)) : std::nullopt;
}

Result<Answer> SqlSkill::Run(const Query& query) const {
  std::vector<std::string> missing;
  for (const std::string& name : source_.tables) {
    if (!TableNamed(name) && query.trace.schema.Find(name) == nullptr) {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) {
    return AbstainForTables(missing);
  }
  if (!capture_ || !capture_->session) {
    return Error{.code = ErrorCode::kSkillExecution,
                 .message = fmt::format("skill '{}' has no capture to query", skill_.name)};
  }
  NSYS_ASSIGN(SqlSession * session, capture_->session(source_.engine));
  SqlStatement statement{.text = sql_.Expand(query.trace.schema, query.window.has_value()),
                         .bindings = {}};
  for (std::string& name : SqlParameters(statement.text, source_.engine)) {
    if (std::optional<Value> value = ValueOf(query, name)) {
      statement.bindings.emplace_back(std::move(name), *std::move(value));
    }
  }
  Result<SqlRows> rows = session->Run(statement, {});
  return rows.ok() ? AnswerFrom(rows.value()) : AnswerTo(std::move(rows).TakeError());
}

// An abstention when the statement is fine, but the capture lacks a table or column that some
// captures have.
Result<Answer> SqlSkill::AnswerTo(Error error) const {
  // The words of the engines.
  const std::string table = WordBehind(error.message, {"no such table: ", "Table with name "});
  const std::string column = WordBehind(
      error.message, {"no such column: ", "Referenced column ", "does not have a column named "});
  if ((!table.empty() || !column.empty()) && Check().ok()) {
    return !table.empty()
               ? AbstainForTables({table})
               : Answer::Abstain(fmt::format("This export lacks the column {}.", column));
  }
  error.details.emplace_back("skill", source_.name);
  error.details.emplace_back("file", file_);
  return error;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// Which tables and columns does the capture have?
//
// One row per column of every table, in byte order of the tables and in the order of the columns.
#include <fmt/core.h>

#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

Result<Answer> Run(const Query& query) {
  Answer answer;
  for (const SourceTable& table : query.trace.schema.tables) {
    for (const SourceColumn& column : table.columns) {
      answer.rows.push_back({{"table_name", table.name},
                             {"column_name", column.name},
                             {"column_type", column.type},
                             {"is_pk", column.primary_key ? 1 : 0}});
    }
  }
  answer.notes.push_back(fmt::format("{} in {}.", Counted(std::ssize(answer.rows), "column"),
                                     Counted(std::ssize(query.trace.schema.tables), "table")));
  return answer;
}

std::string KeyCell(const Object& row) { return *row.Find("is_pk")->AsInt() != 0 ? "PK" : ""; }

constexpr std::string_view kSql = R"sql(SELECT t.name AS table_name,
       c.name AS column_name,
       c.type AS column_type,
       CASE WHEN c.pk > 0 THEN 1 ELSE 0 END AS is_pk
FROM sqlite_master t
JOIN pragma_table_info(t.name) c
WHERE t.type = 'table'
ORDER BY table_name, c.cid)sql";

}  // namespace

Skill skill_schema_inspect() {
  return {.name = "schema_inspect",
          .category = Category::kUtility,
          .title = "Database Schema Inspector",
          .doc = "Lists the tables and columns of the capture itself.",
          .window_rule = WindowRule::kIgnored,
          .columns = {{"table_name", Unit::kText, "table of the export", "Table"},
                      {"column_name", Unit::kText, "column of the table", "Column"},
                      {"column_type", Unit::kText, "INTEGER, REAL or TEXT", "Type"},
                      {"is_pk", Unit::kCount, "1 for a column of the primary key, else 0", "Key",
                       KeyCell}},
          .empty_text = "the capture has no tables",
          .run = Run,
          .sql = kSql};
}

}  // namespace nsys

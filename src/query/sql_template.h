// SPDX-License-Identifier: MIT
// The SQL of a custom skill: a statement in which {name} stands for something of the capture.
//
//   {kernel_table} … {sync_type_table}   the capture's own name of that table, quoted
//   {graph_trace_table}                  the table of CUDA graphs traced as a whole, or one without
//                                        rows where the capture has none
//   {trim_clause}                        AND k.start >= … AND k."end" <= …, or nothing
//   {nvtx_text_expr}, {nvtx_text_join}   the text of a range of NVTX_EVENTS n
//   {trim_start_ns}, {trim_end_ns}, {overhead_ns}, {_sqlite_path}, and every declared parameter:
//                                        a bound value, the same as :name
//
// Inside texts and quoted names nothing can be bound, so a known name in braces there is an error.
// Doubled braces {{ … }} are single ones; any other brace is itself. Comments stay as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/skill.h"
#include "base/result.h"
#include "query/sql_session.h"
#include "trace/trace.h"

namespace nsys {

class SqlTemplate {
 public:
  // `first_line`: of the file, for errors, which are of code kSkill and begin with "line N: ".
  static Result<SqlTemplate> Parse(std::string_view sql, SqlEngine engine,
                                   const std::vector<Param>& params, int first_line);

  // The statement for a capture.
  std::string Expand(const Schema& schema, bool has_window) const;

  // The statements it can become, by canonical names, to be checked without a capture.
  std::vector<std::string> Variants() const;

  // Tables that its placeholders need, each once.
  const std::vector<TableId>& tables() const { return tables_; }

  bool uses_trim_clause() const { return Uses(Kind::kTrimClause); }
  // Whether it reads :name or {name}.
  bool UsesValue(std::string_view name) const;

 private:
  enum class Kind { kVerbatim, kTable, kTrimClause, kNvtxText, kNvtxJoin, kValue };
  struct Piece {
    Kind kind = Kind::kVerbatim;
    std::string text;  // verbatim, the name of a value, or what stands in for a missing table
    TableId table = TableId::kKernel;
  };
  struct NvtxNames {
    bool text = true;      // of the columns of NVTX_EVENTS
    bool text_id = false;  // together with a StringIds to look it up in
    std::string strings = "StringIds";
  };
  class Builder;

  bool Uses(Kind kind) const;
  template <typename TableName>
  std::string Write(const TableName& table_name, bool has_window, const NvtxNames& nvtx) const;

  std::vector<Piece> pieces_;
  std::vector<TableId> tables_;
  std::vector<std::string> values_;
};

}  // namespace nsys

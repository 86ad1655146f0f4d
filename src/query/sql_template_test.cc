// SPDX-License-Identifier: MIT
#include "query/sql_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nsys {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<Param> SomeParams() {
  return {Param::Count("limit", 3, "n"), Param::Text("name", "", "t")};
}

Schema KernelSchema() {
  Schema schema;
  schema.tables = {{"CUPTI_ACTIVITY_KIND_KERNEL_V3", {{"start", "INTEGER"}}},
                   {"NVTX_EVENTS", {{"text", "TEXT"}, {"textId", "INTEGER"}}},
                   {"StringIds", {{"id", "INTEGER"}, {"value", "TEXT"}}}};
  schema.resolved[static_cast<size_t>(TableId::kKernel)] = schema.tables[0].name;
  schema.resolved[static_cast<size_t>(TableId::kNvtx)] = schema.tables[1].name;
  schema.resolved[static_cast<size_t>(TableId::kStringIds)] = schema.tables[2].name;
  return schema;
}

SqlTemplate Parsed(std::string_view sql, SqlEngine engine = SqlEngine::kSqlite) {
  auto parsed = SqlTemplate::Parse(sql, engine, SomeParams(), 10);
  EXPECT_TRUE(parsed.ok()) << sql << ": " << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? std::move(parsed).value() : SqlTemplate();
}

std::string Expanded(std::string_view sql, bool has_window = false,
                     SqlEngine engine = SqlEngine::kSqlite) {
  return Parsed(sql, engine).Expand(KernelSchema(), has_window);
}

std::string Refused(std::string_view sql) {
  const auto parsed = SqlTemplate::Parse(sql, SqlEngine::kSqlite, SomeParams(), 10);
  EXPECT_FALSE(parsed.ok()) << sql;
  return parsed.ok() ? "" : parsed.error().message + "; " + parsed.error().hint;
}

TEST(SqlTemplate, NamesTablesOfTheCapture) {
  EXPECT_EQ(Expanded("FROM {kernel_table} k"), "FROM \"CUPTI_ACTIVITY_KIND_KERNEL_V3\" k");
  EXPECT_EQ(Parsed("FROM {kernel_table}, {memcpy_table}, {kernel_table}").tables(),
            (std::vector<TableId>{TableId::kKernel, TableId::kMemcpy}));
}

TEST(SqlTemplate, GraphsMayBeMissing) {
  EXPECT_THAT(Expanded("FROM {graph_trace_table} g"),
              testing::AllOf(StartsWith("FROM (SELECT 0 AS start"), HasSubstr("0 = 1) g")));
  EXPECT_TRUE(Parsed("FROM {graph_trace_table}").tables().empty());
  Schema schema = KernelSchema();
  schema.tables.push_back({"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"start", "INTEGER"}}});
  schema.resolved[static_cast<size_t>(TableId::kGraphTrace)] = schema.tables.back().name;
  EXPECT_EQ(Parsed("FROM {graph_trace_table} g").Expand(schema, false),
            "FROM \"CUPTI_ACTIVITY_KIND_GRAPH_TRACE\" g");
}

TEST(SqlTemplate, TrimClauseComesWithAWindow) {
  EXPECT_EQ(Expanded("WHERE 1=1 {trim_clause};"), "WHERE 1=1 ;");
  EXPECT_EQ(Expanded("WHERE 1=1 {trim_clause}", true),
            "WHERE 1=1 AND k.start >= :trim_start_ns AND k.\"end\" <= :trim_end_ns");
  EXPECT_TRUE(Parsed("{trim_clause}").uses_trim_clause());
}

TEST(SqlTemplate, ValuesAreBound) {
  EXPECT_EQ(Expanded("LIMIT {limit} + :limit, {trim_start_ns}, {overhead_ns}, {_sqlite_path}"),
            "LIMIT :limit + :limit, :trim_start_ns, :overhead_ns, :_sqlite_path");
  EXPECT_TRUE(Parsed("SELECT {limit}").UsesValue("limit"));
  EXPECT_TRUE(Parsed("SELECT :trim_end_ns").UsesValue("trim_end_ns"));
  EXPECT_FALSE(Parsed("SELECT 1").UsesValue("limit"));
}

TEST(SqlTemplate, TextOfRangesFollowsTheSchema) {
  constexpr std::string_view kSql = "SELECT {nvtx_text_expr} FROM {nvtx_table} n {nvtx_text_join}";
  EXPECT_EQ(
      Expanded(kSql),
      "SELECT COALESCE(n.text, s2.value) FROM \"NVTX_EVENTS\" n LEFT JOIN \"StringIds\" s2 ON "
      "n.\"textId\" = s2.id");
  Schema schema = KernelSchema();
  schema.tables[1].columns = {{"text", "TEXT"}};
  EXPECT_EQ(Parsed(kSql).Expand(schema, false), "SELECT n.text FROM \"NVTX_EVENTS\" n ");
  schema.tables[1].columns = {{"textId", "INTEGER"}};
  EXPECT_THAT(Parsed(kSql).Expand(schema, false), StartsWith("SELECT s2.value"));
  EXPECT_EQ(Parsed("SELECT {nvtx_text_expr}").tables(), std::vector<TableId>{TableId::kNvtx});
}

TEST(SqlTemplate, OtherBracesAreThemselves) {
  for (const char* sql :
       {"SELECT '{\"a\":1}'", "SELECT '{\"a\":{\"b\":1}}'", "SELECT '{unknown}'", "SELECT '}}'",
        "-- {limit} and {nothing}\nSELECT 1", "/* {trim_clause} {{ */ SELECT 1", "SELECT [{x]"}) {
    EXPECT_EQ(Expanded(sql), sql);
  }
  EXPECT_EQ(Expanded("SELECT '{{\"a\":{{\"b\":1}}}}'"), "SELECT '{\"a\":{\"b\":1}}'");
  EXPECT_EQ(Expanded("SELECT '{{limit}}', {limit}"), "SELECT '{limit}', :limit");
  EXPECT_EQ(Expanded("SELECT {'a':{'b':{limit}}}", false, SqlEngine::kDuckdb),
            "SELECT {'a':{'b': :limit}}");
  EXPECT_EQ(Expanded("SELECT {{'a': 1}}, x::INT", false, SqlEngine::kDuckdb),
            "SELECT {'a': 1}, x::INT");
}

TEST(SqlTemplate, RefusesPlaceholdersWhereNothingCanBeBound) {
  EXPECT_THAT(Refused("SELECT 1\nWHERE x LIKE '%{name}%'"), StartsWith("line 11: "));
  EXPECT_THAT(Refused("SELECT '%{name}%'"), HasSubstr("'…' || {name} || '…'"));
  EXPECT_THAT(Refused("SELECT \"{limit}\""), HasSubstr("quoted name"));
  EXPECT_THAT(Refused("SELECT [{limit}]"), HasSubstr("quoted name"));
  EXPECT_THAT(Refused("SELECT '{kernel_table}'"), HasSubstr("outside of the quotes"));
  EXPECT_THAT(Refused("SELECT t_{limit}"), HasSubstr("inside a word"));
  EXPECT_THAT(Refused("SELECT {limit}000"), HasSubstr("inside a word"));
}

TEST(SqlTemplate, RefusesUnknownNames) {
  EXPECT_THAT(Refused("SELECT 1\n\nLIMIT {limt}"), StartsWith("line 12: {limt} is no placeholder"));
  EXPECT_THAT(Refused("LIMIT {limt}"), HasSubstr("did you mean {limit}?"));
  EXPECT_THAT(Refused("SELECT {other_thing}"), HasSubstr("- other_thing (int, default 10)"));
  EXPECT_THAT(Refused("SELECT :other"), HasSubstr(":other is no declared parameter"));
  for (const char* sql : {"SELECT ?", "SELECT ?1", "SELECT @x", "SELECT $x"}) {
    EXPECT_THAT(Refused(sql), HasSubstr("{name} or :name"));
  }
}

TEST(SqlTemplate, ChecksEveryFormItCanTake) {
  EXPECT_EQ(Parsed("SELECT 1").Variants().size(), 1U);
  EXPECT_EQ(Parsed("SELECT 1 {trim_clause}").Variants().size(), 2U);
  EXPECT_EQ(Parsed("SELECT {nvtx_text_expr} {trim_clause}").Variants().size(), 4U);
}

}  // namespace
}  // namespace nsys

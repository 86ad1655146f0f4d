// SPDX-License-Identifier: MIT
#include "query/sql_skill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/params.h"
#include "analysis/runner.h"
#include "base/json.h"
#include "trace_builder.h"

namespace nsys {
namespace {

using testing::HasSubstr;

// Remembers the statement and gives rows that were set beforehand.
class FakeSession : public SqlSession {
 public:
  std::vector<std::string> Tables() const override { return {}; }
  Result<SqlRows> Run(const SqlStatement& statement, const SqlLimits&) override {
    last = statement;
    return failure ? Result<SqlRows>(*failure) : Result<SqlRows>(rows);
  }
  void Interrupt() override {}

  SqlStatement last;
  SqlRows rows;
  std::optional<Error> failure;
};

class SqlSkillTest : public testing::Test {
 protected:
  std::unique_ptr<SqlSkill> Make(const std::string& sql, const std::string& sections = "") {
    auto source =
        ParseMarkdownSkill("# mine\n" + sections + "\n## SQL\n```sql\n" + sql + "\n```\n");
    EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
    auto capture = std::make_shared<CaptureAccess>();
    capture->path = "x.sqlite";
    capture->session = [this](SqlEngine) { return Result<SqlSession*>(&session_); };
    auto skill = SqlSkill::Make(std::move(source).value(), "mine.md", std::move(capture));
    EXPECT_TRUE(skill.ok()) << (skill.ok() ? "" : skill.error().message);
    return std::move(skill).value();
  }

  Result<Answer> RunOn(const SqlSkill& skill, const Trace& trace,
                       const std::vector<GivenParam>& given = {},
                       std::optional<Window> window = std::nullopt) {
    auto params = BindParams(skill.skill(), given);
    EXPECT_TRUE(params.ok());
    Views views(trace);
    return RunSkill(skill.skill(),
                    {.trace = trace, .params = params.value(), .window = window, .views = views});
  }

  std::string Bound(const std::string& name) const {
    for (const auto& [key, value] : session_.last.bindings) {
      if (key == name) {
        return ToJson(value, JsonLayout::kOneLine);
      }
    }
    return "unbound";
  }

  FakeSession session_;
  Trace trace_ = TraceBuilder().Kernel("a", {.start_ns = 10, .end_ns = 20}).Build();
};

TEST_F(SqlSkillTest, RowsHaveAllColumnsInOrder) {
  session_.rows.columns = {{"x", ""}, {"x", ""}, {"y", ""}, {"x", ""}};
  session_.rows.rows = {{1, 2, nullptr, "t"}};
  const auto answer = RunOn(*Make("SELECT 1"), trace_);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().keys, (std::vector<std::string>{"x", "x_2", "y", "x_3"}));
  EXPECT_EQ(ToJson(answer.value().rows.at(0), JsonLayout::kOneLine),
            R"({"x": 1, "x_2": 2, "y": null, "x_3": "t"})");
}

TEST_F(SqlSkillTest, BindsWhatTheStatementReadsAndNoMore) {
  const auto skill =
      Make("SELECT {limit}, :name, {_sqlite_path} FROM {kernel_table} k {trim_clause}",
           "## Parameters\n- limit (int, default 3): n\n- name (str): t\n"
           "- unused (int, default 1): u\n");
  ASSERT_TRUE(RunOn(*skill, trace_, {{"limit", "5"}}).ok());
  EXPECT_EQ(session_.last.bindings.size(), 3U);
  EXPECT_EQ(Bound("limit"), "5");
  EXPECT_EQ(Bound("name"), "null");
  EXPECT_EQ(Bound("_sqlite_path"), "\"x.sqlite\"");
  ASSERT_TRUE(RunOn(*skill, trace_, {}, Window{1, 30}).ok());
  EXPECT_EQ(Bound("limit"), "3");
  EXPECT_EQ(Bound("trim_start_ns"), "1");
  EXPECT_EQ(Bound("trim_end_ns"), "30");
  ASSERT_TRUE(RunOn(*Make("SELECT {trim_start_ns}"), trace_).ok());
  EXPECT_EQ(Bound("trim_start_ns"), "null");
}

TEST_F(SqlSkillTest, SaysHowItUsesTheWindow) {
  EXPECT_EQ(Make("SELECT 1")->skill().window_rule, WindowRule::kIgnored);
  EXPECT_EQ(Make("SELECT 1 {trim_clause}")->skill().window_rule, WindowRule::kContain);
  EXPECT_EQ(Make("SELECT {trim_end_ns}")->skill().window_rule, WindowRule::kOwn);
}

TEST_F(SqlSkillTest, OverheadIsTheUnionInsideTheWindow) {
  trace_.overheads.start_ns = {0, 5, 100};
  trace_.overheads.end_ns = {10, 20, 110};
  const auto skill = Make("SELECT {overhead_ns}");
  ASSERT_TRUE(RunOn(*skill, trace_).ok());
  EXPECT_EQ(Bound("overhead_ns"), "30");
  ASSERT_TRUE(RunOn(*skill, trace_, {}, Window{8, 104}).ok());
  EXPECT_EQ(Bound("overhead_ns"), "16");
}

TEST_F(SqlSkillTest, AbstainsWithoutItsTables) {
  const auto missing = [&](const std::string& sql, const std::string& sections) {
    const auto answer = RunOn(*Make(sql, sections), trace_);
    EXPECT_TRUE(answer.ok() && answer.value().abstention);
    return answer.ok() && answer.value().abstention
               ? ToJson(*answer.value().abstention->details.Find("missing_tables"),
                        JsonLayout::kOneLine)
               : "";
  };
  trace_.schema.resolved[static_cast<size_t>(TableId::kMemcpy)].reset();
  EXPECT_EQ(missing("SELECT * FROM {memcpy_table}", ""), "[\"CUPTI_ACTIVITY_KIND_MEMCPY\"]");
  EXPECT_EQ(missing("SELECT 1", "## Tables\n- cupti_activity_kind_memcpy\n"),
            "[\"CUPTI_ACTIVITY_KIND_MEMCPY\"]");
  EXPECT_EQ(missing("SELECT 1", "## Tables\n- SOME_TABLE\n"), "[\"SOME_TABLE\"]");
}

TEST_F(SqlSkillTest, AnErrorOfTheEngineNamesTheSkill) {
  session_.failure = Error{.code = ErrorCode::kSql, .message = "no such function: f"};
  const auto answer = RunOn(*Make("SELECT f(1)"), trace_);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().details.at(0).first, "skill");
  session_.failure->message = "no such column: k.nonsense";
  EXPECT_FALSE(RunOn(*Make("SELECT k.nonsense FROM {kernel_table} k"), trace_).ok());
}

TEST_F(SqlSkillTest, AColumnOfOtherCapturesIsAnAbstention) {
  session_.failure = Error{.code = ErrorCode::kSql, .message = "no such column: k.globalPid"};
  const auto answer = RunOn(*Make("SELECT k.globalPid FROM {kernel_table} k"), trace_);
  ASSERT_TRUE(answer.ok() && answer.value().abstention);
  EXPECT_THAT(answer.value().abstention->reason, HasSubstr("k.globalPid"));
  session_.failure->message = "no such table: NVTX_EVENTS";
  EXPECT_TRUE(RunOn(*Make("SELECT * FROM NVTX_EVENTS"), trace_).value().abstention.has_value());
}

TEST_F(SqlSkillTest, TheCheckNamesTheLineOfTheStatement) {
  EXPECT_TRUE(Make("SELECT k.start FROM {kernel_table} k WHERE 1=1 {trim_clause}")->Check().ok());
  const Status wrong = Make("SELECT k.strat FROM {kernel_table} k")->Check();
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message, HasSubstr("line 5: "));
  EXPECT_FALSE(Make("SELECT 1 FROM {kernel_table} k {trim_clause}")->Check().ok())
      << "only right without a window";
}

}  // namespace
}  // namespace nsys

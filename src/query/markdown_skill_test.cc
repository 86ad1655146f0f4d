// SPDX-License-Identifier: MIT
#include "query/markdown_skill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nsys {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

MarkdownSkill Parsed(std::string_view text) {
  auto skill = ParseMarkdownSkill(text);
  EXPECT_TRUE(skill.ok()) << (skill.ok() ? "" : skill.error().message);
  return skill.ok() ? std::move(skill).value() : MarkdownSkill{};
}

std::string Refused(std::string_view text) {
  const auto skill = ParseMarkdownSkill(text);
  EXPECT_FALSE(skill.ok()) << text;
  return skill.ok() ? "" : skill.error().message + "; " + skill.error().hint;
}

constexpr std::string_view kSql = "## SQL\n```sql\nSELECT 1\n```\n";

std::string With(std::string_view head) { return std::string(head) + std::string(kSql); }

TEST(MarkdownSkill, ReadsEverySection) {
  const MarkdownSkill skill = Parsed(
      "# slow_ranges\n\nIntroduction.\n\n## Title\nSlow  Ranges\n\n## Description\nFirst "
      "line,\nand "
      "second.\n\nAnother paragraph.\n## Category\nmy nvtx\n## Parameters\n"
      "- limit (int, default 15): rows\n  to list\n- `name` (str, default \"a, (b)\\\"\"): text\n"
      "- peak (float, required): number\n- all (bool, default true)\n- from (float): optional\n"
      "## Tables\n- NVTX_EVENTS\n- `StringIds`\n## Notes\nKept out.\n## SQL\nProse.\n"
      "```text\nno sql\n```\n```sql\nSELECT 1 -- {limit}\n\n# no heading\n```\n");
  EXPECT_EQ(skill.name, "slow_ranges");
  EXPECT_EQ(skill.title, "Slow Ranges");
  EXPECT_EQ(skill.description, "First line, and second. Another paragraph.");
  EXPECT_EQ(skill.category, "my nvtx");
  EXPECT_EQ(skill.tables, (std::vector<std::string>{"NVTX_EVENTS", "StringIds"}));
  EXPECT_EQ(skill.engine, SqlEngine::kSqlite);
  EXPECT_EQ(skill.sql, "SELECT 1 -- {limit}\n\n# no heading");
  EXPECT_EQ(skill.sql_line, 33);
  ASSERT_EQ(skill.params.size(), 5U);
  EXPECT_EQ(skill.params[0].doc, "rows to list");
  EXPECT_EQ(*skill.params[0].default_value.AsInt(), 15);
  EXPECT_EQ(skill.params[0].minimum, 0) << "no limit is negative";
  EXPECT_EQ(*skill.params[1].default_value.AsText(), "a, (b)\"");
  EXPECT_TRUE(skill.params[2].required);
  EXPECT_EQ(*skill.params[3].default_value.AsBool(), true);
  EXPECT_TRUE(skill.params[4].default_value.is_null());
  EXPECT_FALSE(skill.params[4].required);
}

TEST(MarkdownSkill, HasDefaults) {
  const MarkdownSkill skill = Parsed(With("# top_2_things\n"));
  EXPECT_EQ(skill.title, "Top 2 Things");
  EXPECT_EQ(Parsed(With("# a__b_\n")).title, "A B");
  EXPECT_EQ(skill.category, "custom");
  EXPECT_EQ(skill.description, "");
}

TEST(MarkdownSkill, ReadsFrontMatter) {
  const MarkdownSkill skill = Parsed(With(
      "---\nname: mine\ntitle: \"My:  title\"\ncategory: 'x'\ntags:\n  - a\nversion: 2\n---\n"));
  EXPECT_EQ(skill.name, "mine");
  EXPECT_EQ(skill.title, "My: title");
  EXPECT_EQ(skill.category, "x");
  EXPECT_EQ(Parsed(With("---\nname: mine\n---\n# mine\n")).name, "mine");
  EXPECT_THAT(Refused(With("---\nname: mine\n---\n# other\n")), StartsWith("line 4: "));
  EXPECT_THAT(Refused(With("---\nname: mine\n")), HasSubstr("not closed"));
  EXPECT_THAT(Refused(With("---\ndescription: |\n  long\n---\n# a\n")), StartsWith("line 2: "));
}

TEST(MarkdownSkill, ReadsForeignTextFiles) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBF# a\r\n## SQL\r\n```SQL\r\nSELECT 1\r\n```\r\n").sql, "SELECT 1");
  EXPECT_EQ(Parsed("# a\n## SQL\n```sql\nSELECT\r\r\n1\n```\n").sql, "SELECT\n1");
  EXPECT_EQ(Parsed("# a\n## sql\n~~~~duckdb\nFROM t\n```\n~~~~").engine, SqlEngine::kDuckdb);
  EXPECT_THAT(Refused("# a\n\xFF\n"), HasSubstr("UTF-8"));
  EXPECT_THAT(Refused(std::string_view("# a\n\0", 5)), HasSubstr("UTF-8"));
  EXPECT_THAT(Refused(std::string(kMaxSkillFileBytes + 1, 'x')), HasSubstr("bytes"));
}

TEST(MarkdownSkill, RefusesBadNamesWithABetterOne) {
  EXPECT_THAT(Refused(With("# my-skill name\n")), HasSubstr("my_skill_name"));
  EXPECT_THAT(Refused(With("\n# MySkill\n")), StartsWith("line 2: "));
  EXPECT_THAT(Refused(With("# MySkill\n")), HasSubstr("for example: myskill"));
  EXPECT_THAT(Refused(With("# ../x\n")), HasSubstr("for example: x"));
  EXPECT_THAT(Refused(With("# 99\n")), HasSubstr("begin with a letter"));
  EXPECT_THAT(Refused(With("")), HasSubstr("no name"));
  EXPECT_THAT(Refused(With("#\n")), StartsWith("line 1: "));
  EXPECT_THAT(Refused(With("# a\n# b\n")), StartsWith("line 2: "));
  for (const char* name : {"", "a/b", "a\nb", "_a", "a.md", "Ä", "A"}) {
    EXPECT_FALSE(CheckSkillName(name).ok()) << name;
  }
  EXPECT_FALSE(CheckSkillName(std::string_view("a\0b", 3)).ok());
  EXPECT_FALSE(CheckSkillName(std::string(65, 'a')).ok());
  EXPECT_TRUE(CheckSkillName(std::string(64, 'a')).ok());
}

TEST(MarkdownSkill, SaysOnWhichLineTheFaultIs) {
  EXPECT_THAT(Refused("# a\n"), HasSubstr("no section ## SQL"));
  EXPECT_THAT(Refused("# a\n\n## SQL\nSELECT 1\n"), StartsWith("line 3: the section has no"));
  EXPECT_THAT(Refused("# a\n## SQL\n```sql\n \n```\n"), HasSubstr("empty"));
  EXPECT_THAT(Refused("# a\n## SQL\n```sql\nSELECT 1\n"), StartsWith("line 3: the fence"));
  EXPECT_THAT(Refused("# a\n## SQL\n```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```\n"),
              StartsWith("line 6: a second SQL"));
  EXPECT_THAT(Refused(With("# a\n## Paramters\n")), HasSubstr("did you mean 'parameters'?"));
  EXPECT_THAT(Refused(With("# a\n## Title\nx\n## title\ny\n")), StartsWith("line 4: a second"));
  EXPECT_THAT(Refused(With("# a\n## Tables\n- two words\n")), StartsWith("line 3: "));
  EXPECT_THAT(Refused(With("# a\n## Tables\n- A\x7F_B\n")), StartsWith("line 3: "));
  EXPECT_THAT(Refused(With("# a\n## Tables\nnone\n")), HasSubstr("no list item"));
}

TEST(MarkdownSkill, ChecksParameters) {
  const auto param = [](const std::string& line) {
    return Refused(With("# a\n## Parameters\n" + line + "\n"));
  };
  EXPECT_THAT(param("- x"), StartsWith("line 3: "));
  EXPECT_THAT(param("- x (number): y"), HasSubstr("types are int, float, bool and str"));
  EXPECT_THAT(param("- x (int, default 1.5): y"), HasSubstr("'1.5' of parameter 'x' is no int"));
  EXPECT_THAT(param("- x (float, default nan): y"), HasSubstr("is no float"));
  EXPECT_THAT(param("- x (int, default): y"), HasSubstr("no value"));
  EXPECT_THAT(param("- x (str, default \"a): y"), HasSubstr("quotes"));
  EXPECT_THAT(param("- x (int, required, default 1): y"), HasSubstr("required and has a default"));
  EXPECT_THAT(param("- x (int, max 3): y"), HasSubstr("'max'"));
  EXPECT_THAT(param("- x (str, min 3): y"), HasSubstr("of an int"));
  EXPECT_THAT(param("- x (int, default 1, min 3): y"), HasSubstr("less than its min"));
  EXPECT_THAT(param("- x (int, required"), HasSubstr("')'"));
  EXPECT_THAT(param("- x (int) y"), HasSubstr("expected ':'"));
  EXPECT_THAT(param("- x (int): y\n- x (int): y"), StartsWith("line 4: a second"));
  EXPECT_THAT(param("- trim_clause (str): y"), HasSubstr("take another"));
  EXPECT_THAT(param("- device (str, default all): y"), HasSubstr("'device' must be an int"));
  EXPECT_THAT(param("- device (int): y"), HasSubstr("'device' must be an int"));
  EXPECT_THAT(param("- my-x (int): y"), HasSubstr("name (type"));
}

TEST(MarkdownSkill, WritesWhatItReads) {
  MarkdownSkill skill{.name = "a_b",
                      .title = "Some Title",
                      .description = "What it says.",
                      .category = "my words",
                      .tables = {"NVTX_EVENTS"},
                      .engine = SqlEngine::kDuckdb,
                      .sql = "SELECT '\n````\n# x'"};
  skill.params = {Param::Count("limit", 3, "rows"), Param::Text("name", "a\\\"b), c", ""),
                  Param::Required("peak", ParamType::kFloat, "x: y"),
                  Param::Real("share", 0.5, "z"), Param::Flag("all", false, "w")};
  const std::string text = ToMarkdown(skill);
  const MarkdownSkill read = Parsed(text);
  EXPECT_EQ(ToMarkdown(read), text);
  EXPECT_EQ(read.sql, skill.sql);
  EXPECT_EQ(*read.params[1].default_value.AsText(), "a\\\"b), c");
  EXPECT_EQ(read.params[0].minimum, 0);
  EXPECT_TRUE(read.params[2].required);
  EXPECT_EQ(*read.params[3].default_value.AsDouble(), 0.5);
}

// Texts that would open a fence or a section when they stand on a line of their own.
TEST(MarkdownSkill, WrittenTextsStayTexts) {
  for (const char* text : {"# a", "## SQL", "~~~ x", "```", "~~~", "#"}) {
    const MarkdownSkill skill =
        Parsed(With(std::string("---\ntitle: ") + text + "\ndescription: " + text +
                    "\ncategory: " + text + "\n---\n# a\n"));
    EXPECT_EQ(ToMarkdown(Parsed(ToMarkdown(skill))), ToMarkdown(skill)) << text;
  }
}

}  // namespace
}  // namespace nsys

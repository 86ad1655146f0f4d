// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "output/rows_json.h"
#include "output/rows_lines.h"
#include "output/rows_text.h"

namespace nsys {
namespace {

const Skill& Probe() {
  static const Skill skill = {.name = "probe",
                              .title = "Probe",
                              .doc = "For tests.",
                              .columns = {{"name", Unit::kText, "n", "Name"},
                                          {"count", Unit::kCount, "c", "Count"},
                                          {"hidden", Unit::kId, "h"}},
                              .empty_text = "nothing"};
  return skill;
}

Answer TwoRows() {
  Answer answer;
  answer.rows = {{{"name", "a"}, {"count", 1234}, {"hidden", nullptr}},
                 {{"name", "b,\"\n"}, {"count", 5}, {"hidden", List{1}}}};
  answer.about = {{{"_summary", true}}};
  answer.notes = {"A note."};
  return answer;
}

TEST(RowsText, AlignsColumns) {
  EXPECT_EQ(RowsToText(Probe(), TwoRows(), {}),
            "Probe\n\n"
            "Name  Count\n"
            "----  -----\n"
            "a     1,234\n"
            "b,\"       5\n"
            "\nA note.\n");
}

TEST(RowsText, NamesFitTheTerminal) {
  Answer answer = TwoRows();
  answer.rows[0].Set("name", std::string(200, 'x'));
  const std::string text = RowsToText(Probe(), answer, {.line_width = 40});
  EXPECT_NE(text.find("…"), std::string::npos);
  const size_t rule = text.find("\n----") + 1;
  EXPECT_LE(text.find('\n', rule) - rule, 40U);
}

TEST(RowsText, SaysWhenThereIsNothing) {
  EXPECT_EQ(RowsToText(Probe(), {}, {}), "Probe\n\n(nothing)\n");
  EXPECT_EQ(RowsToText(Probe(), Answer::Abstain("No table."), {}),
            "Probe: not applicable to this profile.\n\nNo table.\n");
}

TEST(RowsText, BoldOnlyWhenAsked) {
  EXPECT_EQ(RowsToText(Probe(), TwoRows(), {}).find('\x1b'), std::string::npos);
  EXPECT_EQ(
      RowsToText(Probe(), TwoRows(), {.emphasis = Emphasis::kAnsi}).rfind("\x1b[1mProbe\x1b[0m", 0),
      0U);
}

TEST(RowsJson, TruncationKeepsRowsAboutTheData) {
  const List list = RowsToList(TwoRows(), 1);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(ToJson(list[1], JsonLayout::kOneLine), R"({"_summary": true})");
  EXPECT_EQ(ToJson(list[2], JsonLayout::kOneLine),
            R"({"_truncated": true, "_total_rows": 2, "_shown_rows": 1})");
  EXPECT_EQ(RowsToList(TwoRows(), 2).size(), 3U) << "nothing cut, no truncation row";
}

TEST(RowsJson, AProblemIsNeverCut) {
  EXPECT_EQ(ToJson(RowsToList(Answer::Problem({{"error", "x"}}), 0), JsonLayout::kOneLine),
            R"([{"error": "x"}])");
}

TEST(RowsJson, ErrorsAreOneDocument) {
  Error error{.code = ErrorCode::kSkillNotFound, .message = "m", .hint = "h"};
  error.details = {{"available_skills", std::vector<std::string>{"a", "b"}}};
  EXPECT_EQ(ErrorToJson(error),
            "{\"error\": {\"code\": \"SKILL_NOT_FOUND\", \"message\": \"m\", \"available_skills\": "
            "[\"a\", \"b\"], \"hint\": \"h\"}}\n");
}

TEST(RowsCsv, QuotesWhatNeedsIt) {
  EXPECT_EQ(RowsToCsv(Probe(), TwoRows()), "name,count,hidden\na,1234,\n\"b,\"\"\n\",5,[1]\n");
}

// A skill that declares no columns shows all keys of its rows.
TEST(RowsOfAnySkill, ShowAllKeys) {
  const Skill skill = {.name = "mine", .title = "Mine", .doc = ""};
  Answer answer;
  answer.keys = {"n", "share", "name"};
  answer.rows = {{{"n", 1234}, {"share", 0.5}, {"name", "a"}},
                 {{"n", nullptr}, {"share", 12}, {"name", 7}}};
  EXPECT_EQ(RowsToText(skill, answer, {}),
            "Mine\n\n"
            "   n  share  name\n"
            "----  -----  ----\n"
            "1234    0.5  a\n"
            "   -     12  7\n");
  EXPECT_EQ(RowsToCsv(skill, answer), "n,share,name\n1234,0.5,a\n,12,7\n");
  answer.rows.clear();
  EXPECT_EQ(RowsToCsv(skill, answer), "n,share,name\n");
}

TEST(RowsJsonLines, OneRowALine) {
  EXPECT_EQ(RowsToJsonLines(TwoRows()),
            "{\"name\": \"a\", \"count\": 1234, \"hidden\": null}\n{\"name\": \"b,\\\"\\n\", "
            "\"count\": 5, \"hidden\": [1]}\n{\"_summary\": true}\n");
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "skills/registry.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

TEST(Registry, SkillsAreCompleteAndSorted) {
  const auto& skills = AllSkills();
  ASSERT_GE(skills.size(), 37U);
  EXPECT_TRUE(std::is_sorted(skills.begin(), skills.end(),
                             [](const Skill& a, const Skill& b) { return a.name < b.name; }));
  for (const Skill& skill : skills) {
    EXPECT_FALSE(skill.title.empty()) << skill.name;
    EXPECT_FALSE(skill.doc.empty()) << skill.name;
    EXPECT_TRUE(skill.run != nullptr) << skill.name;
    std::set<std::string_view> keys;
    for (const ColumnSpec& column : skill.columns) {
      EXPECT_TRUE(keys.insert(column.key).second)
          << skill.name << " declares " << column.key << " twice";
      EXPECT_FALSE(column.doc.empty()) << skill.name << "." << column.key;
    }
    for (const Param& param : skill.params) {
      EXPECT_FALSE(param.doc.empty()) << skill.name << " -p " << param.name;
    }
  }
}

Trace EverythingTrace() {
  return TraceBuilder()
      .Kernel("gemm", {.start_ns = 100, .end_ns = 200, .correlation = 1})
      .Kernel("ncclDevKernel_AllReduce",
              {.start_ns = 150, .end_ns = 5'000'300, .stream = 20, .correlation = 2})
      .Kernel("gemm", {.start_ns = 9'000'000, .end_ns = 9'000'100, .correlation = 3})
      .Copy({.start_ns = 120, .end_ns = 180, .bytes = 20'000'000})
      .Graph({.start_ns = 8'000'000, .end_ns = 8'000'500})
      .Sync({.start_ns = 110, .end_ns = 120})
      .SyncTypes()
      .Sample({.at_ns = 150, .cycles = 1000})
      .NameThread("main", {})
      .MemoryKind(0, "CUDA_MEMCPY_KIND_PAGEABLE")
      .Overhead(0, 5)
      .Range("sample_0", {.start_ns = 0, .end_ns = 100})
      .Schema({.domain = 1, .id = 1})
      .Call("cudaLaunchKernel", {.start_ns = 10, .end_ns = 20, .correlation = 1})
      .Call("cudaLaunchKernel", {.start_ns = 30, .end_ns = 40, .correlation = 2})
      .Call("cudaLaunchKernel", {.start_ns = 50, .end_ns = 60, .correlation = 3})
      .Build();
}

// Something for each parameter that has to be given: rising numbers, so that a begin comes before
// an end.
std::vector<GivenParam> RequiredParams(const Skill& skill) {
  std::vector<GivenParam> given;
  for (const Param& param : skill.params) {
    if (param.required) {
      given.emplace_back(param.name, std::to_string(given.size() * 1000));
    }
  }
  return given;
}

// JSON keys of rows come from the declared columns alone, in the declared order.
TEST(Registry, RowsHoldDeclaredColumnsInOrder) {
  const Trace trace = EverythingTrace();
  for (const Skill& skill : AllSkills()) {
    for (const auto& window : {std::optional<Window>(), std::optional(Window{0, 20'000'000})}) {
      for (const Object& row : RunOn(trace, skill.name, RequiredParams(skill), window).rows) {
        auto next = skill.columns.begin();
        for (const auto& [key, value] : row.entries()) {
          const auto declared = [&](const ColumnSpec& column) { return column.key == key; };
          next = std::find_if(next, skill.columns.end(), declared);
          ASSERT_TRUE(next != skill.columns.end())
              << skill.name << " prints " << key << " undeclared or out of order";
        }
      }
    }
  }
}

// Without any one of the tables it needs, a skill abstains and names it: never an empty or zero
// answer.
TEST(Registry, SkillsAbstainWithoutATableTheyNeed) {
  for (const Skill& skill : AllSkills()) {
    for (const TableId table : skill.needs) {
      Trace trace = EverythingTrace();
      trace.schema.resolved[static_cast<size_t>(table)].reset();
      const Answer answer = RunOn(trace, skill.name, RequiredParams(skill));
      ASSERT_TRUE(answer.abstention.has_value())
          << skill.name << " without " << CanonicalName(table);
      const List* missing = Cell(answer.abstention->details, "missing_tables").AsList();
      ASSERT_TRUE(missing != nullptr && missing->size() == 1) << skill.name;
      EXPECT_EQ(*missing->front().AsText(), CanonicalName(table));
    }
  }
}

TEST(Registry, SkillsReadTheTablesTheyNeed) {
  for (const Skill& skill : AllSkills()) {
    for (const TableId table : skill.needs) {
      if (table != TableId::kStringIds) {
        EXPECT_FALSE(skill.reads.Of(table).empty())
            << skill.name << " needs " << CanonicalName(table) << " and does not read it";
      }
    }
  }
}

}  // namespace
}  // namespace nsys

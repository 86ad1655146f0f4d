// SPDX-License-Identifier: MIT
// Running a skill on a built trace, the way the command does.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/params.h"
#include "analysis/runner.h"
#include "base/json.h"
#include "skills/registry.h"

namespace nsys {

inline Answer RunOn(const Trace& trace, std::string_view name,
                    const std::vector<GivenParam>& given = {},
                    const std::optional<Window>& window = std::nullopt) {
  const Skill* skill = FindSkill(name);
  if (skill == nullptr) {
    ADD_FAILURE() << "no skill " << name;
    return {};
  }
  auto params = BindParams(*skill, given);
  if (!params.ok()) {
    ADD_FAILURE() << params.error().message;
    return {};
  }
  Views views(trace);
  auto answer = RunSkill(
      *skill, {.trace = trace, .params = params.value(), .window = window, .views = views});
  if (!answer.ok()) {
    ADD_FAILURE() << answer.error().message;
    return {};
  }
  return std::move(answer).value();
}

// Cells by key; a missing key fails the test.
inline const Value& Cell(const Object& row, std::string_view key) {
  static const Value kMissing;
  const Value* value = row.Find(key);
  if (value == nullptr) {
    ADD_FAILURE() << "no key " << key << " in " << ToJson(row, JsonLayout::kOneLine);
  }
  return value == nullptr ? kMissing : *value;
}
inline int64_t IntCell(const Object& row, std::string_view key) {
  const int64_t* value = Cell(row, key).AsInt();
  if (value == nullptr) {
    ADD_FAILURE() << key << " is no integer";
  }
  return value == nullptr ? 0 : *value;
}
inline double RealCell(const Object& row, std::string_view key) {
  const Value& value = Cell(row, key);
  if (const int64_t* integer = value.AsInt()) {
    return static_cast<double>(*integer);
  }
  if (value.AsDouble() == nullptr) {
    ADD_FAILURE() << key << " is no number";
  }
  return value.AsDouble() == nullptr ? 0 : *value.AsDouble();
}
inline std::string TextCell(const Object& row, std::string_view key) {
  const std::string* value = Cell(row, key).AsText();
  if (value == nullptr) {
    ADD_FAILURE() << key << " is no text";
  }
  return value == nullptr ? "" : *value;
}

}  // namespace nsys

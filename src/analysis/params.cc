// SPDX-License-Identifier: MIT
#include "analysis/params.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

Error ParamError(ErrorCode code, const Skill& skill, const std::string& param, std::string message,
                 std::string hint) {
  Error error{.code = code, .message = std::move(message), .hint = std::move(hint)};
  error.details = {{"skill", std::string(skill.name)}, {"parameter", param}};
  return error;
}

std::vector<std::string> ParamNames(const Skill& skill) {
  std::vector<std::string> names;
  for (const Param& param : skill.params) {
    names.push_back(param.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error UnknownParam(const Skill& skill, const std::string& name) {
  const std::vector<std::string> names = ParamNames(skill);
  const auto nearest = NearestName(name, names);
  const std::string known =
      names.empty() ? "it takes none" : "valid parameters: " + Join(names, ", ");
  return ParamError(ErrorCode::kUsage, skill, name,
                    fmt::format("unknown parameter '{}' for skill '{}'", name, skill.name),
                    nearest ? fmt::format("did you mean '{}'? ({})", *nearest, known) : known);
}

Error BadValue(const Skill& skill, const Param& param, const std::string& text,
               std::string_view wanted) {
  return ParamError(
      ErrorCode::kUsage, skill, param.name,
      fmt::format("parameter '{}' of skill '{}' takes {}, not '{}'", param.name, skill.name, wanted,
                  text),
      fmt::format(
          "for example: -p {}={}", param.name,
          param.default_value.AsInt() ? std::to_string(*param.default_value.AsInt()) : "VALUE"));
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string lower = LowerAscii(text);
  for (const std::string_view yes : {"1", "true", "t", "yes", "y", "on"}) {
    if (lower == yes) {
      return true;
    }
  }
  for (const std::string_view no : {"0", "false", "f", "no", "n", "off"}) {
    if (lower == no) {
      return false;
    }
  }
  return std::nullopt;
}

Result<Value> ParseInteger(const Skill& skill, const Param& param, const std::string& text) {
  const auto number = ParseInt(text);
  if (!number) {
    return BadValue(skill, param, text, "a whole number of at most 19 digits");
  }
  if (param.minimum && *number < *param.minimum) {
    return BadValue(skill, param, text,
                    fmt::format("a whole number of at least {}", *param.minimum));
  }
  return Value(*number);
}

Result<Value> ParseValue(const Skill& skill, const Param& param, const std::string& text) {
  switch (param.type) {
    case ParamType::kInt:
      return ParseInteger(skill, param, text);
    case ParamType::kFloat: {
      const auto number = ParseFiniteDouble(text);
      if (!number) {
        return BadValue(skill, param, text, "a finite number");
      }
      if (param.positive && *number <= 0) {
        return BadValue(skill, param, text, "a number greater than 0");
      }
      return Value(*number);
    }
    case ParamType::kBool: {
      const auto flag = ParseBool(text);
      return flag ? Result<Value>(Value(*flag)) : BadValue(skill, param, text, "true or false");
    }
    case ParamType::kText:
      break;
  }
  if (param.refuses_empty && text.empty()) {
    return BadValue(skill, param, text, "a text of at least one character");
  }
  return Value(text);
}

}  // namespace

Result<Params> BindParams(const Skill& skill, std::span<const GivenParam> given) {
  Params params;
  for (const auto& [name, text] : given) {
    const Param* param = skill.FindParam(name);
    if (param == nullptr) {
      return UnknownParam(skill, name);
    }
    if (params.Has(name)) {
      return ParamError(ErrorCode::kUsage, skill, name,
                        fmt::format("parameter '{}' is given twice", name), "give it once");
    }
    NSYS_ASSIGN(Value value, ParseValue(skill, *param, text));
    params.Set(name, std::move(value));
  }
  for (const Param& param : skill.params) {
    if (params.Has(param.name)) {
      continue;
    }
    if (param.required) {
      return ParamError(
          ErrorCode::kSkillParameter, skill, param.name,
          fmt::format("skill '{}' needs the parameter '{}' ({})", skill.name, param.name,
                      ParamTypeName(param.type)),
          fmt::format("add -p {}=VALUE; see nsys-ai skill info {}", param.name, skill.name));
    }
    params.Set(param.name, param.default_value);
  }
  return params;
}

}  // namespace nsys

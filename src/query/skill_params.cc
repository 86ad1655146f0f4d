// SPDX-License-Identifier: MIT
#include "query/skill_params.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "query/markdown_lines.h"
#include "query/markdown_skill.h"

namespace nsys {
namespace {

constexpr std::string_view kExample = "for example: - limit (int, default 15): largest number";

bool IsParamName(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) && name.size() <= 64 &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLetter(c) || c == '_' || IsDigit(c); });
}

// Up to `stop` or, in quotes, up to the closing quote. Moves `rest` behind what was taken.
struct Word {
  std::string text;
  bool quoted = false;
};
std::optional<Word> TakeWord(std::string_view& rest) {
  rest = TrimBlanks(rest);
  Word word;
  if (!rest.starts_with('"')) {
    const size_t end = std::min(rest.find_first_of(",)"), rest.size());
    word.text = TrimBlanks(rest.substr(0, end));
    rest.remove_prefix(end);
    return word;
  }
  word.quoted = true;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return word;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) {
      ++i;
    }
    word.text += rest[i];
  }
  return std::nullopt;
}

std::optional<ParamType> TypeNamed(std::string_view name) {
  for (const ParamType type :
       {ParamType::kInt, ParamType::kFloat, ParamType::kBool, ParamType::kText}) {
    if (name == ParamTypeName(type)) {
      return type;
    }
  }
  return std::nullopt;
}

// The default as a value of the parameter's type; nothing when it is none.
std::optional<Value> ParseDefault(ParamType type, const Word& word) {
  switch (type) {
    case ParamType::kInt: {
      const auto number = ParseInt(word.text);
      return number ? std::optional(Value(*number)) : std::nullopt;
    }
    case ParamType::kFloat: {
      const auto number = ParseFiniteDouble(word.text);
      return number ? std::optional(Value(*number)) : std::nullopt;
    }
    case ParamType::kBool:
      if (word.text == "true" || word.text == "false") {
        return Value(word.text == "true");
      }
      return std::nullopt;
    case ParamType::kText:
      break;
  }
  return Value(word.text);
}

// One attribute behind the type: required, default X, min N.
Status ReadAttribute(std::string_view& rest, Param& param, int line) {
  rest = TrimBlanks(rest);
  const size_t end = std::min(rest.find_first_of(" \t,)"), rest.size());
  const std::string_view key = rest.substr(0, end);
  rest.remove_prefix(end);
  if (key == "required") {
    param.required = true;
    return {};
  }
  if (key != "default" && key != "min") {
    return SkillFileError(line, fmt::format("'{}' is nothing a parameter can be", key),
                          "behind the type may stand: required, default X, min N");
  }
  const std::optional<Word> word = TakeWord(rest);
  if (!word || (word->text.empty() && !word->quoted)) {
    return SkillFileError(
        line, fmt::format("'{}' of parameter '{}' has no value", key, param.name),
        word ? std::string(kExample) : "the quotes around the value are not closed");
  }
  if (key == "min") {
    param.minimum = ParseInt(word->text);
    const bool fits = param.minimum && param.type == ParamType::kInt;
    return fits ? Status()
                : SkillFileError(line, "min takes a whole number, of an int parameter",
                                 std::string(kExample));
  }
  const std::optional<Value> value = ParseDefault(param.type, *word);
  if (!value) {
    return SkillFileError(line,
                          fmt::format("the default '{}' of parameter '{}' is no {}", word->text,
                                      param.name, ParamTypeName(param.type)),
                          std::string(kExample));
  }
  param.default_value = *value;
  return {};
}

Status CheckParam(const Param& param, int line) {
  if (IsReservedPlaceholder(param.name)) {
    return SkillFileError(line, fmt::format("a parameter cannot be called '{}'", param.name),
                          "the program fills in this name itself; take another");
  }
  if (param.required && !param.default_value.is_null()) {
    return SkillFileError(line,
                          fmt::format("parameter '{}' is required and has a default", param.name),
                          "keep one of them");
  }
  const int64_t* number = param.default_value.AsInt();
  if (number != nullptr && param.minimum && *number < *param.minimum) {
    return SkillFileError(line, fmt::format("the default of '{}' is less than its min", param.name),
                          "make it at least min");
  }
  const bool sets_device = param.type == ParamType::kInt && (param.required || number != nullptr);
  if (param.name == "device" && !sets_device) {
    return SkillFileError(line, "the parameter 'device' must be an int with a default, or required",
                          "it is checked against the devices of the capture; for anything else "
                          "take another name");
  }
  return {};
}

}  // namespace

bool IsReservedPlaceholder(std::string_view name) {
  constexpr std::array<std::string_view, 14> kReserved = {
      "trim_clause",  "trim_start_ns",   "trim_end_ns",    "overhead_ns",   "_sqlite_path",
      "kernel_table", "runtime_table",   "nvtx_table",     "memcpy_table",  "memset_table",
      "sync_table",   "sync_type_table", "nvtx_text_expr", "nvtx_text_join"};
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

Result<Param> ParseParamLine(std::string_view text, int line) {
  const size_t open = text.find('(');
  Param param{.name = std::string(TrimBlanks(text.substr(0, std::min(open, text.size()))))};
  if (param.name.size() > 2 && param.name.starts_with('`') && param.name.ends_with('`')) {
    param.name = param.name.substr(1, param.name.size() - 2);
  }
  if (open == std::string_view::npos || !IsParamName(param.name)) {
    return SkillFileError(line, "a parameter is written `- name (type, …): meaning`",
                          std::string(kExample));
  }
  std::string_view rest = text.substr(open + 1);
  const std::optional<Word> type_name = TakeWord(rest);
  const auto type = type_name ? TypeNamed(type_name->text) : std::nullopt;
  if (!type) {
    return SkillFileError(line, fmt::format("parameter '{}' has no type that is known", param.name),
                          "types are int, float, bool and str");
  }
  param.type = *type;
  while (rest.starts_with(',')) {
    rest.remove_prefix(1);
    NSYS_TRY(ReadAttribute(rest, param, line));
    rest = TrimBlanks(rest);
  }
  if (!rest.starts_with(')')) {
    return SkillFileError(line, fmt::format("parameter '{}' lacks a closing ')'", param.name),
                          std::string(kExample));
  }
  rest = TrimBlanks(rest.substr(1));
  if (!rest.empty() && !rest.starts_with(':')) {
    return SkillFileError(line, fmt::format("expected ':' behind parameter '{}'", param.name),
                          std::string(kExample));
  }
  param.doc = rest.empty() ? "" : std::string(TrimBlanks(Printable(rest.substr(1))));
  // No skill takes a negative limit.
  if (param.name == "limit" && param.type == ParamType::kInt && !param.minimum) {
    param.minimum = 0;
  }
  NSYS_TRY(CheckParam(param, line));
  return param;
}

std::string ParamLine(const Param& param) {
  std::string line = fmt::format("- {} ({}", param.name, ParamTypeName(param.type));
  if (const std::string* text = param.default_value.AsText()) {
    std::string quoted;
    for (const char c : *text) {
      quoted += c == '"' || c == '\\' ? "\\" : "";
      quoted += c;
    }
    line += fmt::format(", default \"{}\"", quoted);
  } else if (!param.default_value.is_null()) {
    line += ", default " + ToJson(param.default_value, JsonLayout::kOneLine);
  }
  line += param.required ? ", required" : "";
  const bool is_said = param.minimum && !(param.name == "limit" && *param.minimum == 0);
  line += is_said ? fmt::format(", min {}", *param.minimum) : "";
  return line + (param.doc.empty() ? ")" : fmt::format("): {}", param.doc));
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// nsys-ai skill list, nsys-ai skill info.
#include <algorithm>

#include <fmt/core.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/find_skill.h"
#include "output/rows_text.h"
#include "query/markdown_lines.h"

namespace nsys {
namespace {

std::string_view WindowRuleName(WindowRule rule) {
  switch (rule) {
    case WindowRule::kContain:
      return "contain: events wholly inside the window";
    case WindowRule::kTouch:
      return "touch: events that touch the window, counted in full";
    case WindowRule::kClip:
      return "clip: events cut to the window";
    case WindowRule::kIgnored:
      return "ignored";
    case WindowRule::kOwn:
      return "own: as the SQL statement says";
  }
  return "";
}

std::string_view OriginOf(const Skill& skill) { return skill.custom ? "custom" : "builtin"; }

Object ListEntry(const Skill& skill) {
  List params;
  for (const Param& param : skill.params) {
    params.emplace_back(Object{{"name", param.name},
                               {"type", ParamTypeName(param.type)},
                               {"required", param.required},
                               {"default", param.default_value}});
  }
  return {{"name", skill.name},          {"title", skill.title},
          {"description", skill.doc},    {"category", skill.category_name()},
          {"params", std::move(params)}, {"origin", OriginOf(skill)}};
}

std::string ListText(const SkillSet& skills) {
  std::vector<TextColumn> columns = {{"Name"}, {"Category"}, {"Description"}};
  std::vector<std::vector<std::string>> cells;
  const bool any_custom = std::any_of(skills.all().begin(), skills.all().end(),
                                      [](const Skill* skill) { return skill->custom; });
  bool any_required = false;
  for (const Skill* skill : skills.all()) {
    const bool required = std::any_of(skill->params.begin(), skill->params.end(),
                                      [](const Param& p) { return p.required; });
    any_required = any_required || required;
    cells.push_back({std::string(skill->name) + (required ? " *" : ""),
                     std::string(skill->category_name()), std::string(skill->doc)});
    if (any_custom) {
      cells.back().insert(cells.back().begin() + 2, std::string(OriginOf(*skill)));
    }
  }
  if (any_custom) {
    columns.insert(columns.begin() + 2, {"Origin"});
  }
  std::string text = TextTable(columns, cells);
  if (any_required) {
    text += "\n* needs a parameter; see nsys-ai skill info NAME\n";
  }
  text += "\nRun one:  nsys-ai skill run NAME PROFILE\n";
  return text;
}

List TableNames(const std::vector<TableId>& tables) {
  List names;
  for (const TableId table : tables) {
    names.emplace_back(CanonicalName(table));
  }
  return names;
}

// Those that the runner knows, and those of a custom skill that it does not.
List RequiredTables(const Skill& skill, const SqlSkill* custom) {
  List names = TableNames(skill.needs);
  if (custom != nullptr) {
    for (const std::string& table : custom->source().tables) {
      const bool known = std::any_of(names.begin(), names.end(), [&](const Value& name) {
        return LowerAscii(*name.AsText()) == LowerAscii(table);
      });
      if (!known) {
        names.emplace_back(table);
      }
    }
  }
  return names;
}

// `custom` is the same skill, if it is a custom one.
Object InfoObject(const Skill& skill, const SqlSkill* custom) {
  Object params;
  for (const Param& param : skill.params) {
    params.Set(param.name, Object{{"type", ParamTypeName(param.type)},
                                  {"description", param.doc},
                                  {"default", param.default_value},
                                  {"required", param.required}});
  }
  Object columns;
  Object about;
  Object units;
  for (const auto& [specs, to] :
       {std::pair(&skill.columns, &columns), std::pair(&skill.about_columns, &about)}) {
    for (const ColumnSpec& column : *specs) {
      to->Set(column.key, column.doc);
      if (const std::string_view unit = UnitName(column.unit); !unit.empty()) {
        units.Set(column.key, unit);
      }
    }
  }
  Object info = {{"name", skill.name},
                 {"description", skill.doc},
                 {"parameters", std::move(params)},
                 {"title", skill.title},
                 {"category", skill.category_name()},
                 {"required_tables", RequiredTables(skill, custom)},
                 {"required_one_of", TableNames(skill.needs_one_of)},
                 {"window", WindowRuleName(skill.window_rule)},
                 {"columns", std::move(columns)},
                 {"about", std::move(about)},
                 {"units", std::move(units)},
                 {"example", fmt::format("nsys-ai skill run {} PROFILE{}{}", skill.name,
                                         skill.example.empty() ? "" : " ", skill.example)},
                 {"origin", OriginOf(skill)}};
  if (!skill.sql.empty()) {
    info.Set("sql", skill.sql);
  }
  if (custom != nullptr) {
    info.Set("file", custom->file());
  }
  return info;
}

std::string InfoText(const Skill& skill) {
  std::string text =
      fmt::format("{} ({})\n{}\n\nWindow (--trim): {}\n", skill.name, skill.category_name(),
                  skill.doc, WindowRuleName(skill.window_rule));
  std::vector<std::vector<std::string>> params;
  for (const Param& param : skill.params) {
    const std::string fallback =
        param.required ? "required" : ToJson(param.default_value, JsonLayout::kOneLine);
    params.push_back({param.name, std::string(ParamTypeName(param.type)), fallback, param.doc});
  }
  if (!params.empty()) {
    text += "\n" + TextTable({{"Parameter"}, {"Type"}, {"Default"}, {"Meaning"}}, params);
  }
  std::vector<std::vector<std::string>> columns;
  for (const ColumnSpec& column : skill.columns) {
    columns.push_back({std::string(column.key), std::string(column.doc)});
  }
  if (!columns.empty()) {
    text += "\n" + TextTable({{"JSON key"}, {"Meaning"}}, columns);
  }
  if (skill.custom) {
    text += "\nSQL:\n";
    for (const Line& line : SplitLines(skill.sql)) {
      text += Printable(line.text) + "\n";
    }
  }
  return text + fmt::format("\nRun it:  nsys-ai skill run {} PROFILE{}{}\n", skill.name,
                            skill.example.empty() ? "" : " ", skill.example);
}

}  // namespace

Status RunSkillList(const SkillListRequest& request) {
  const SkillSet skills(request.skills_dir);
  if (request.format == OutputFormat::kText) {
    return WriteStdout(ListText(skills));
  }
  List list;
  for (const Skill* skill : skills.all()) {
    list.emplace_back(ListEntry(*skill));
  }
  return WriteStdout(ToJson(list, JsonLayout::kIndented) + "\n");
}

Status RunSkillInfo(const SkillInfoRequest& request) {
  const SkillSet skills(request.skills_dir);
  NSYS_ASSIGN(const Skill* skill, skills.FindOrSuggest(request.name));
  if (request.format == OutputFormat::kText) {
    return WriteStdout(InfoText(*skill));
  }
  return WriteStdout(
      ToJson(InfoObject(*skill, skills.FindCustom(skill->name)), JsonLayout::kIndented) + "\n");
}

}  // namespace nsys

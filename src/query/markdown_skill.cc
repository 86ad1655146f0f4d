// SPDX-License-Identifier: MIT
#include "query/markdown_skill.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "query/markdown_lines.h"
#include "query/skill_params.h"

namespace nsys {
namespace {

struct Section {
  std::string name;  // in lower case
  int line = 0;
  std::vector<Line> lines;
};

constexpr std::array<std::string_view, 6> kSections = {"title",      "description", "category",
                                                       "parameters", "tables",      "sql"};

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(SplitLines(text)) {}

  Result<MarkdownSkill> Read() {
    NSYS_TRY(ReadFrontMatter());
    NSYS_TRY(ReadSections());
    NSYS_TRY(SetName());
    skill_.title = Words("title", front_title_);
    skill_.description = Words("description", front_description_);
    skill_.category = Words("category", front_category_);
    if (skill_.title.empty()) {
      skill_.title = TitleFromName();
    }
    if (skill_.category.empty()) {
      skill_.category = "custom";
    }
    NSYS_TRY(ReadParams());
    NSYS_TRY(ReadTables());
    NSYS_TRY(ReadSql());
    return std::move(skill_);
  }

 private:
  Status ReadFrontMatter() {
    if (lines_.empty() || lines_.front().text != "---") {
      return {};
    }
    for (at_ = 1; at_ < lines_.size(); ++at_) {
      const Line& line = lines_[at_];
      if (line.text == "---" || line.text == "...") {
        ++at_;
        return {};
      }
      NSYS_TRY(ReadFrontMatterLine(line));
    }
    return SkillFileError(1, "the front matter is not closed", "end it with a line ---");
  }

  // `key: value`. Keys that are not ours, and what is indented below them, are left alone.
  Status ReadFrontMatterLine(const Line& line) {
    const size_t colon = line.text.find(':');
    if (colon == std::string_view::npos || line.text.starts_with(' ')) {
      return {};
    }
    const std::string_view key = line.text.substr(0, colon);
    std::string_view value = TrimBlanks(line.text.substr(colon + 1));
    std::string* target = key == "title"         ? &front_title_
                          : key == "description" ? &front_description_
                          : key == "category"    ? &front_category_
                          : key == "name"        ? &skill_.name
                                                 : nullptr;
    if (target == nullptr) {
      return {};
    }
    if (value.starts_with('|') || value.starts_with('>')) {
      return SkillFileError(line.number, fmt::format("'{}' must stand on one line", key),
                            "long texts belong into a section: ## Description");
    }
    const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                        value.back() == value.front();
    *target = Printable(quoted ? value.substr(1, value.size() - 2) : value);
    name_line_ = key == "name" ? line.number : name_line_;
    return {};
  }

  Status ReadSections() {
    std::optional<Fence> open;
    int open_line = 0;
    for (; at_ < lines_.size(); ++at_) {
      const Line& line = lines_[at_];
      const std::optional<Fence> fence = FenceOn(line.text);
      if (open) {
        open = fence && fence->Closes(*open) ? std::nullopt : open;
      } else if (fence) {
        open = fence;
        open_line = line.number;
      } else if (const auto name = HeadingOn(line.text, 1)) {
        NSYS_TRY(ReadNameHeading(line, *name));
        continue;
      } else if (const auto section = HeadingOn(line.text, 2)) {
        NSYS_TRY(OpenSection(line, *section));
        continue;
      }
      if (!sections_.empty()) {
        sections_.back().lines.push_back(line);
      }
    }
    return open ? SkillFileError(open_line, "the fence is never closed",
                                 "end it with a line of the same marks")
                : Status();
  }

  Status ReadNameHeading(const Line& line, std::string_view name) {
    if (!heading_.empty()) {
      return SkillFileError(line.number, fmt::format("a second name '{}'", Printable(name)),
                            "a file holds one skill; sections begin with ##");
    }
    if (!sections_.empty()) {
      return SkillFileError(line.number, "the name stands behind a section",
                            "begin the file with # name");
    }
    if (name.empty()) {
      return SkillFileError(line.number, "the heading has no name", "for example: # my_skill");
    }
    heading_ = name;
    if (!skill_.name.empty() && skill_.name != heading_) {
      return SkillFileError(line.number,
                            fmt::format("the heading says '{}', the front matter '{}'",
                                        Printable(heading_), skill_.name),
                            "give one name");
    }
    skill_.name = heading_;
    name_line_ = line.number;
    return {};
  }

  Status OpenSection(const Line& line, std::string_view heading) {
    const std::string name = LowerAscii(heading);
    const bool known = std::find(kSections.begin(), kSections.end(), name) != kSections.end();
    if (known && Find(name) != nullptr) {
      return SkillFileError(line.number, fmt::format("a second section '{}'", Printable(heading)),
                            "keep one");
    }
    const std::vector<std::string> names(kSections.begin(), kSections.end());
    if (const auto nearest = NearestName(name, names); !known && nearest) {
      return SkillFileError(line.number, fmt::format("unknown section '{}'", Printable(heading)),
                            fmt::format("did you mean '{}'?", *nearest));
    }
    sections_.push_back({.name = name, .line = line.number, .lines = {}});
    return {};
  }

  const Section* Find(std::string_view name) const {
    const auto at = std::find_if(sections_.begin(), sections_.end(),
                                 [&](const Section& section) { return section.name == name; });
    return at == sections_.end() ? nullptr : &*at;
  }

  Status SetName() {
    if (skill_.name.empty()) {
      return SkillFileError(1, "the skill has no name", "begin the file with # name");
    }
    Status status = CheckSkillName(skill_.name);
    if (status.ok()) {
      return status;
    }
    Error error = std::move(status).TakeError();
    return SkillFileError(name_line_, error.message, std::move(error.hint));
  }

  std::string Words(std::string_view name, const std::string& fallback) const {
    const Section* section = Find(name);
    const std::string words = section != nullptr ? OneParagraph(section->lines) : "";
    return PlainText(words.empty() ? OneParagraph({{.number = 0, .text = fallback}}) : words);
  }

  // "my_skill" -> "My Skill"
  std::string TitleFromName() const {
    std::string title;
    for (const char c : skill_.name) {
      const bool begins = title.empty() || title.back() == ' ';
      const bool small = c >= 'a' && c <= 'z';
      if (c != '_' || !begins) {
        title += c == '_' ? ' ' : (begins && small ? static_cast<char>(c - 'a' + 'A') : c);
      }
    }
    return std::string(TrimBlanks(title));
  }

  // The items of a list; lines that are indented continue the item before them.
  Result<std::vector<std::pair<int, std::string>>> Items(std::string_view section_name,
                                                         std::string_view example) const {
    std::vector<std::pair<int, std::string>> items;
    const Section* section = Find(section_name);
    for (const Line& line : section != nullptr ? section->lines : std::vector<Line>()) {
      const std::string_view text = TrimBlanks(line.text);
      if (line.text.starts_with("- ") || line.text.starts_with("* ")) {
        items.emplace_back(line.number, TrimBlanks(line.text.substr(2)));
      } else if (line.text.starts_with(' ') && !text.empty() && !items.empty()) {
        items.back().second += fmt::format(" {}", text);
      } else if (!text.empty()) {
        return SkillFileError(line.number, fmt::format("'{}' is no list item", Printable(text)),
                              fmt::format("for example: {}", example));
      }
    }
    return items;
  }

  Status ReadParams() {
    NSYS_ASSIGN(const auto items, Items("parameters", "- limit (int, default 15): rows to list"));
    for (const auto& [line, text] : items) {
      NSYS_ASSIGN(Param param, ParseParamLine(text, line));
      const auto same = [&](const Param& other) { return other.name == param.name; };
      if (std::any_of(skill_.params.begin(), skill_.params.end(), same)) {
        return SkillFileError(line, fmt::format("a second parameter '{}'", param.name), "keep one");
      }
      skill_.params.push_back(std::move(param));
    }
    return {};
  }

  Status ReadTables() {
    NSYS_ASSIGN(const auto items, Items("tables", "- CUPTI_ACTIVITY_KIND_KERNEL"));
    for (const auto& [line, text] : items) {
      std::string name = Printable(text);
      if (name.size() > 2 && name.starts_with('`') && name.ends_with('`')) {
        name = name.substr(1, name.size() - 2);
      }
      if (name.empty() || name.find_first_of(" \t`") != std::string::npos) {
        return SkillFileError(line, fmt::format("'{}' is no name of a table", Printable(text)),
                              "one table a line, for example: - CUPTI_ACTIVITY_KIND_KERNEL");
      }
      skill_.tables.push_back(std::move(name));
    }
    return {};
  }

  Status ReadSql() {
    constexpr std::string_view kHint =
        "put one statement between ```sql and ```, or ```duckdb for DuckDB's dialect";
    const Section* section = Find("sql");
    if (section == nullptr) {
      return SkillFileError(lines_.empty() ? 1 : lines_.back().number, "there is no section ## SQL",
                            std::string(kHint));
    }
    std::optional<Fence> open;
    bool wanted = false;
    for (const Line& line : section->lines) {
      const std::optional<Fence> fence = FenceOn(line.text);
      if (open && !(fence && fence->Closes(*open))) {
        skill_.sql += wanted ? std::string(line.text) + "\n" : "";
      } else if (open) {
        open.reset();
      } else if (fence) {
        open = fence;
        const std::string language = LowerAscii(fence->info.substr(0, fence->info.find(' ')));
        wanted = language == "sql" || language == "sqlite" || language == "duckdb";
        if (wanted && has_sql_) {
          return SkillFileError(line.number, "a second SQL statement", std::string(kHint));
        }
        has_sql_ = has_sql_ || wanted;
        skill_.engine = language == "duckdb" ? SqlEngine::kDuckdb : skill_.engine;
        skill_.sql_line = wanted ? line.number + 1 : skill_.sql_line;
      }
    }
    skill_.sql.erase(skill_.sql.find_last_not_of(" \t\n") + 1);
    return !has_sql_ || skill_.sql.empty()
               ? SkillFileError(section->line,
                                has_sql_ ? "the SQL is empty" : "the section has no ```sql fence",
                                std::string(kHint))
               : Status();
  }

  std::vector<Line> lines_;
  size_t at_ = 0;
  MarkdownSkill skill_;
  std::string heading_;
  std::string front_title_;
  std::string front_description_;
  std::string front_category_;
  int name_line_ = 1;
  std::vector<Section> sections_;
  bool has_sql_ = false;
};

// A name that would do, made of one that does not; empty when nothing is left of it.
std::string CorrectedName(std::string_view name) {
  std::string corrected;
  for (const char c : LowerAscii(name)) {
    if (IsLetter(c) || (!corrected.empty() && IsDigit(c))) {
      corrected += c;
    } else if (!corrected.empty() && corrected.back() != '_') {
      corrected += '_';
    }
  }
  corrected.erase(corrected.find_last_not_of('_') + 1);
  return corrected.substr(0, 64);
}

}  // namespace

Error SkillFileError(int line, std::string_view message, std::string hint) {
  return {.code = ErrorCode::kSkill,
          .message = fmt::format("line {}: {}", line, message),
          .hint = std::move(hint)};
}

Status CheckSkillName(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 64 && name.front() >= 'a' &&
                    name.front() <= 'z' && std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_';
                    });
  if (fits) {
    return {};
  }
  const std::string corrected = CorrectedName(name);
  return Error{.code = ErrorCode::kUsage,
               .message = fmt::format("'{}' is no name of a skill", Printable(name)),
               .hint = "names are made of a-z, 0-9 and _, and begin with a letter" +
                       (corrected.empty() ? "" : fmt::format("; for example: {}", corrected))};
}

Result<MarkdownSkill> ParseMarkdownSkill(std::string_view text) {
  if (text.size() > kMaxSkillFileBytes) {
    return SkillFileError(1, fmt::format("the file has more than {} bytes", kMaxSkillFileBytes),
                          "make it shorter");
  }
  if (!IsValidUtf8(text) || text.find('\0') != std::string_view::npos) {
    return SkillFileError(1, "the file is no text in UTF-8", "save it as UTF-8");
  }
  std::string whole_text(text);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  Result<MarkdownSkill> skill = Reader(text).Read();
  if (skill.ok()) {
    skill.value().whole_text = std::move(whole_text);
  }
  return skill;
}

std::string ToMarkdown(const MarkdownSkill& skill) {
  std::string text = fmt::format("# {}\n\n## Title\n\n{}\n", skill.name, skill.title);
  if (!skill.description.empty()) {
    text += fmt::format("\n## Description\n\n{}\n", skill.description);
  }
  text += fmt::format("\n## Category\n\n{}\n", skill.category);
  if (!skill.params.empty()) {
    text += "\n## Parameters\n\n";
    for (const Param& param : skill.params) {
      text += ParamLine(param) + "\n";
    }
  }
  if (!skill.tables.empty()) {
    text += "\n## Tables\n\n";
    for (const std::string& table : skill.tables) {
      text += fmt::format("- {}\n", table);
    }
  }
  std::string fence = "```";
  for (const Line& line : SplitLines(skill.sql)) {
    const auto inner = FenceOn(line.text);
    if (inner && inner->mark == '`' && inner->length >= fence.size()) {
      fence.assign(inner->length + 1, '`');
    }
  }
  return text + fmt::format("\n## SQL\n\n{0}{1}\n{2}\n{0}\n", fence,
                            skill.engine == SqlEngine::kDuckdb ? "duckdb" : "sql", skill.sql);
}

}  // namespace nsys

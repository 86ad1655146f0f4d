// SPDX-License-Identifier: MIT
#include "query/custom_skills.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include <fmt/core.h>

#include "base/file.h"
#include "base/text.h"

namespace nsys {
namespace {

namespace fs = std::filesystem;

bool IsBuiltin(const BuiltinNames& builtins, std::string_view name) {
  return std::find(builtins.begin(), builtins.end(), name) != builtins.end();
}

Error FolderError(std::string message, std::string hint) {
  return {.code = ErrorCode::kSkill, .message = std::move(message), .hint = std::move(hint)};
}

// Names of the *.md files in `folder`, sorted; hidden ones belong to editors.
std::vector<std::string> SkillFilesIn(const std::string& folder, std::error_code& error) {
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.ends_with(".md") && !name.starts_with('.')) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string PathOf(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / (name + ".md")).string();
}

// A link may dangle; it is there all the same.
fs::file_type TypeOf(const std::string& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type();
}

// The skill of that name in `folder`, whatever its file is called; empty when there is none.
std::string FileOfSkill(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const std::string& file : SkillFilesIn(folder, error)) {
    std::string path = (fs::path(folder) / file).string();
    const auto skill = ReadSkillFile(path, nullptr);
    if (skill.ok() && skill.value()->source().name == name) {
      return path;
    }
  }
  return "";
}

Status CheckFree(const SqlSkill& skill, const std::string& folder, const BuiltinNames& builtins,
                 bool replace) {
  const std::string& name = skill.source().name;
  const std::string path = PathOf(folder, name);
  if (IsBuiltin(builtins, name)) {
    return FolderError(fmt::format("'{}' is a built-in skill, which cannot be replaced", name),
                       fmt::format("give yours another name, for example: # my_{}", name));
  }
  const fs::file_type type = TypeOf(path);
  if (type == fs::file_type::not_found || type == fs::file_type::none) {
    const std::string other = FileOfSkill(folder, name);
    return other.empty() ? Status()
                         : FolderError(fmt::format("'{}' is already there, as {}", name, other),
                                       "remove that file, or give yours another name");
  }
  if (!replace) {
    return FolderError(fmt::format("'{}' is already there, as {}", name, path),
                       "--force replaces it");
  }
  return type == fs::file_type::regular ? Status()
                                        : FolderError(fmt::format("{} is no regular file", path),
                                                      "remove it first; only files are replaced");
}

}  // namespace

Result<std::unique_ptr<SqlSkill>> ReadSkillFile(const std::string& path,
                                                std::shared_ptr<const CaptureAccess> capture) {
  NSYS_ASSIGN(const std::string text, ReadFile(path, kMaxSkillFileBytes, ErrorCode::kSkill));
  const auto with_path = [&](Error error) {
    error.message = fmt::format("{}, {}", path, error.message);
    return error;
  };
  auto source = ParseMarkdownSkill(text);
  if (!source.ok()) {
    return with_path(std::move(source).TakeError());
  }
  auto skill = SqlSkill::Make(std::move(source).value(), path, std::move(capture));
  if (!skill.ok()) {
    return with_path(std::move(skill).TakeError());
  }
  return skill;
}

CustomSkills CustomSkills::Load(const std::string& folder, const BuiltinNames& builtins,
                                const std::shared_ptr<const CaptureAccess>& capture) {
  CustomSkills loaded;
  std::error_code error;
  const std::vector<std::string> files = SkillFilesIn(folder, error);
  if (error) {
    loaded.warnings_.push_back(
        fmt::format("no custom skills: cannot read the folder {}: {}", folder, error.message()));
  }
  for (const std::string& file : files) {
    loaded.Add((fs::path(folder) / file).string(), builtins, capture);
  }
  std::sort(loaded.skills_.begin(), loaded.skills_.end(),
            [](const auto& a, const auto& b) { return a->source().name < b->source().name; });
  return loaded;
}

void CustomSkills::Add(const std::string& path, const BuiltinNames& builtins,
                       const std::shared_ptr<const CaptureAccess>& capture) {
  auto skill = ReadSkillFile(path, capture);
  if (!skill.ok()) {
    const Error& error = skill.error();
    warnings_.push_back(fmt::format("skill left out: {}{}{}", error.message,
                                    error.hint.empty() ? "" : "; ", error.hint));
    return;
  }
  const std::string& name = skill.value()->source().name;
  if (IsBuiltin(builtins, name)) {
    warnings_.push_back(fmt::format(
        "skill left out: {}: '{}' is a built-in skill, which cannot be replaced", path, name));
  } else if (const SqlSkill* first = Find(name)) {
    warnings_.push_back(
        fmt::format("skill left out: {}: '{}' is already there, as {}", path, name, first->file()));
  } else {
    skills_.push_back(std::move(skill).value());
  }
}

const SqlSkill* CustomSkills::Find(std::string_view name) const {
  const auto at = std::find_if(skills_.begin(), skills_.end(),
                               [&](const auto& skill) { return skill->source().name == name; });
  return at == skills_.end() ? nullptr : at->get();
}

Result<std::string> AddSkillFile(const SqlSkill& skill, const std::string& folder,
                                 const BuiltinNames& builtins, bool replace) {
  NSYS_TRY(CheckFree(skill, folder, builtins, replace));
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) {
    return FolderError(fmt::format("cannot make the folder {}: {}", folder, error.message()),
                       "check the path and its permissions");
  }
  std::string path = PathOf(folder, skill.source().name);
  if (Status status = WriteFileAtomically(path, skill.source().whole_text); !status.ok()) {
    if (made) {
      fs::remove(folder, error);  // it is empty
    }
    return std::move(status).TakeError();
  }
  return path;
}

Result<std::string> RemoveSkillFile(const std::string& name, const std::string& folder,
                                    const BuiltinNames& builtins) {
  NSYS_TRY(CheckSkillName(name));
  std::string path = PathOf(folder, name);
  const fs::file_type type = TypeOf(path);
  if (type == fs::file_type::not_found) {
    if (const std::string other = FileOfSkill(folder, name); !other.empty()) {
      return FolderError(fmt::format("the skill '{}' stands in {}", name, other),
                         "delete that file to remove it");
    }
    const std::vector<std::string> names = [&] {
      std::vector<std::string> found;
      std::error_code ignored;
      for (const std::string& file : SkillFilesIn(folder, ignored)) {
        found.push_back(file.substr(0, file.size() - 3));
      }
      return found;
    }();
    const auto nearest = NearestName(name, names);
    return FolderError(
        IsBuiltin(builtins, name)
            ? fmt::format("'{}' is a built-in skill, which cannot be removed", name)
            : fmt::format("there is no custom skill '{}' in {}", name, folder),
        nearest ? fmt::format("did you mean '{}'?", *nearest) : "nsys-ai skill list shows all");
  }
  if (type != fs::file_type::regular && type != fs::file_type::symlink) {
    return FolderError(fmt::format("{} is no file", path), "it was not made by skill add");
  }
  const auto skill = ReadSkillFile(path, nullptr);
  if (skill.ok() && skill.value()->source().name != name) {
    return FolderError(fmt::format("{} holds the skill '{}'", path, skill.value()->source().name),
                       "delete the file itself to remove it");
  }
  if (::unlink(path.c_str()) != 0) {
    return FolderError(fmt::format("cannot remove {}: {}", path, std::strerror(errno)),
                       "check the permissions of the folder");
  }
  return path;
}

}  // namespace nsys

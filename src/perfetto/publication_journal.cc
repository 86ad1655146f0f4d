// SPDX-License-Identifier: MIT
#include "perfetto/publication_journal.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"

namespace nsys::perfetto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstField = "nsys-ai set 1";
constexpr std::string_view kLastField = "end";
constexpr size_t kFieldsBefore = 3;  // the first, the home, the manifest
constexpr size_t kFieldsOfEntry = 4;
constexpr size_t kMaxJournalBytes = size_t{1} << 20;

// The inode at `path`, 0 when nothing is there.
uint64_t InodeAt(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? uint64_t{info.st_ino} : 0;
}

bool IsNew(const JournalEntry& entry) { return !entry.temporary.empty(); }
bool IsInPlace(const JournalEntry& entry) {
  return IsNew(entry) && InodeAt(entry.path) == entry.inode;
}

Status Rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? Status() : Status(CannotWrite(to, errno));
}

std::set<std::string> FoldersOf(const Journal& journal) {
  std::set<std::string> folders;
  for (const JournalEntry& entry : journal.entries) {
    folders.insert(FolderOf(entry.path));
  }
  return folders;
}

Status SyncFolders(const Journal& journal) {
  for (const std::string& folder : FoldersOf(journal)) {
    NSYS_TRY(SyncFolder(folder));
  }
  return {};
}

// Between two renames whose order must survive a machine that stops. Those in one folder reach
// the disk in their order; waiting for it would only make the moment longer in which the set is
// not complete.
Status KeepOrder(const Journal& journal) {
  return FoldersOf(journal).size() > 1 ? SyncFolders(journal) : Status();
}

bool IsOurs(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
}

// Whether all that is to be published is on disk, here or there.
bool IsWhole(const Journal& journal) {
  return std::all_of(journal.entries.begin(), journal.entries.end(), [](const JournalEntry& entry) {
    return !IsNew(entry) || InodeAt(entry.temporary) == entry.inode || IsInPlace(entry);
  });
}

}  // namespace

std::string HiddenName(const std::string& path, std::string_view prefix) {
  return fmt::format("{}/{}{:016x}", FolderOf(path), prefix, Fnv64(path));
}

std::string Journal::ToText() const {
  std::string text;
  const auto add = [&](std::string_view field) {
    text += field;
    text += '\0';  // the one character that no path holds
  };
  add(kFirstField);
  add(home);
  add(manifest);
  for (const JournalEntry& entry : entries) {
    add(entry.path);
    add(entry.temporary);
    add(entry.old);
    add(std::to_string(static_cast<int64_t>(entry.inode)));
  }
  add(kLastField);
  return text;
}

std::optional<Journal> Journal::FromText(std::string_view text) {
  std::vector<std::string> fields;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  const bool fits = text.empty() && fields.size() > kFieldsBefore + kFieldsOfEntry &&
                    (fields.size() - kFieldsBefore) % kFieldsOfEntry == 1 &&
                    fields.front() == kFirstField && fields.back() == kLastField;
  if (!fits) {
    return std::nullopt;
  }
  Journal journal{.home = fields[1], .manifest = fields[2], .entries = {}};
  for (size_t at = kFieldsBefore; at + kFieldsOfEntry < fields.size(); at += kFieldsOfEntry) {
    const auto inode = ParseInt(fields[at + 3]);
    if (!inode || !fs::path(fields[at]).is_absolute()) {
      return std::nullopt;
    }
    journal.entries.push_back({.path = fields[at],
                               .temporary = fields[at + 1],
                               .old = fields[at + 2],
                               .inode = static_cast<uint64_t>(*inode)});
  }
  return journal;
}

Status MoveAway(const Journal& journal, const StepHook& hook) {
  for (const JournalEntry& entry : journal.entries | std::views::reverse) {
    const bool done = entry.old.empty() || IsInPlace(entry) || IsThere(entry.old);
    if (!done && IsThere(entry.path)) {
      NSYS_TRY(Rename(entry.path, entry.old));
      hook("away " + entry.path);
    }
  }
  NSYS_TRY(KeepOrder(journal));
  hook("all away");
  return {};
}

Status MoveIn(const Journal& journal, const StepHook& hook) {
  for (const JournalEntry& entry : journal.entries) {
    if (IsNew(entry) && !IsInPlace(entry)) {
      if (&entry == &journal.entries.back()) {
        NSYS_TRY(KeepOrder(journal));
      }
      NSYS_TRY(Rename(entry.temporary, entry.path));
      hook("in " + entry.path);
    }
  }
  NSYS_TRY(SyncFolders(journal));
  hook("all in");
  return {};
}

bool PutBack(const Journal& journal) {
  bool all = true;
  for (const JournalEntry& entry : journal.entries | std::views::reverse) {
    if (IsInPlace(entry)) {
      all = Rename(entry.path, entry.temporary).ok() && all;
    }
  }
  for (const JournalEntry& entry : journal.entries) {
    if (!entry.old.empty() && IsThere(entry.old)) {
      all = Rename(entry.old, entry.path).ok() && all;
    }
  }
  return SyncFolders(journal).ok() && all;
}

Status Settle(const std::string& home, const Journal& journal, const StepHook& hook) {
  const std::string path = fmt::format("{}/{}", home, kJournalName);
  if (journal.manifest.empty()) {
    if (::unlink(path.c_str()) != 0) {
      return CannotWrite(path, errno);
    }
  } else {
    NSYS_TRY(Rename(path, fmt::format("{}/{}", home, journal.manifest)));
  }
  NSYS_TRY(SyncFolder(home));
  hook("settled");
  for (const JournalEntry& entry : journal.entries) {
    std::error_code ignored;
    for (const std::string& hidden : {entry.old, entry.temporary}) {
      if (!hidden.empty()) {
        fs::remove_all(hidden, ignored);
      }
    }
  }
  hook("old removed");
  return {};
}

Status Recover(const std::string& home) {
  const std::string path = fmt::format("{}/{}", home, kJournalName);
  if (!IsThere(path)) {
    return {};
  }
  std::optional<Journal> journal;
  if (IsOurs(path)) {
    NSYS_ASSIGN(const std::string text, ReadFile(path, kMaxJournalBytes, ErrorCode::kOutput));
    journal = Journal::FromText(text);
  }
  if (!journal) {
    return Error{.code = ErrorCode::kOutput,
                 .message = fmt::format("a conversion into {} was cut short by another user, or "
                                        "{} is damaged",
                                        home, path),
                 .hint = "remove that file and the files of the set"};
  }
  const StepHook no_hook = [](std::string_view) {};
  if (IsWhole(*journal)) {
    NSYS_TRY(MoveAway(*journal, no_hook));
    NSYS_TRY(MoveIn(*journal, no_hook));
    return Settle(home, *journal, no_hook);
  }
  if (!PutBack(*journal)) {
    return Error{.code = ErrorCode::kOutput,
                 .message = fmt::format("a conversion into {} was cut short, and the files before "
                                        "it cannot be put back",
                                        home),
                 .hint = "check the permissions there"};
  }
  return ::unlink(path.c_str()) == 0 ? SyncFolder(home) : Status(CannotWrite(path, errno));
}

std::vector<std::string> ReadManifest(const std::string& home, const std::string& manifest) {
  const std::string path = fmt::format("{}/{}", home, manifest);
  std::vector<std::string> paths;
  if (manifest.empty() || !IsOurs(path)) {
    return paths;
  }
  const auto text = ReadFile(path, kMaxJournalBytes, ErrorCode::kOutput);
  const auto journal = text.ok() ? Journal::FromText(text.value()) : std::nullopt;
  if (!journal) {
    return paths;
  }
  for (const JournalEntry& entry : journal->entries) {
    if (IsNew(entry) && FolderOf(entry.path) == journal->home) {
      paths.push_back(fmt::format("{}/{}", home, fs::path(entry.path).filename().string()));
    }
  }
  return paths;
}

}  // namespace nsys::perfetto

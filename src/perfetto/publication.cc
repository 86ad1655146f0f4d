// SPDX-License-Identifier: MIT
#include "perfetto/publication.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <set>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"

namespace nsys::perfetto {
namespace {

namespace fs = std::filesystem;

// What killed runs left in `folder`. Its lock is ours, so nobody is using them.
void RemoveLeftovers(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kTemporaryPrefix) || name.starts_with(kOldPrefix) ||
        name.starts_with(kJournalName)) {
      found.push_back(entry->path());
    }
  }
  for (const fs::path& path : found) {
    fs::remove_all(path, error);
  }
}

}  // namespace

Result<std::unique_ptr<Publication>> Publication::Begin(PublicationPlan plan) {
  std::unique_ptr<Publication> publication(new Publication(std::move(plan)));
  const std::string& home = publication->plan_.home;
  NSYS_TRY(publication->LockFolders());
  NSYS_TRY(Recover(home));
  RemoveLeftovers(home);
  for (const std::string& file : publication->plan_.files) {
    std::string temporary = HiddenName(file, kTemporaryPrefix);
    if (IsThere(temporary) && ::unlink(temporary.c_str()) != 0) {
      return CannotWrite(temporary, errno);
    }
    publication->unfinished_.push_back(std::make_unique<Unfinished>(temporary));
    publication->temporaries_.push_back(std::move(temporary));
  }
  return publication;
}

Publication::~Publication() {
  std::error_code ignored;
  if (!work_folder_.empty()) {
    fs::remove_all(work_folder_, ignored);
  }
  if (committed_) {
    return;
  }
  for (const std::string& temporary : temporaries_) {
    ::unlink(temporary.c_str());
  }
  locks_.clear();
  for (const std::string& folder : made_folders_ | std::views::reverse) {
    ::rmdir(folder.c_str());  // stays when it is no longer empty
  }
}

Status Publication::MakeFolder(const std::string& folder) {
  std::string path;
  std::error_code ignored;
  for (const fs::path& part : fs::path(folder)) {
    path = (fs::path(path) / part).string();
    if (::mkdir(path.c_str(), 0777) == 0) {
      made_folders_.push_back(path);
    } else if (const int error = errno; !fs::is_directory(path, ignored)) {
      return CannotWrite(path, error == EEXIST ? ENOTDIR : error);
    }
  }
  return {};
}

Status Publication::LockFolders() {
  // In the order of their names, so that two runs never wait for each other.
  std::set<std::string> folders = {plan_.home};
  for (const std::string& file : plan_.files) {
    folders.insert(FolderOf(file));
  }
  for (const std::string& folder : folders) {
    NSYS_TRY(MakeFolder(folder));
    auto lock = FolderLock::Take(folder, plan_.wait);
    // A run that failed removes the folders that it made, also when others wait for them.
    while (!lock.ok() && !IsThere(folder)) {
      NSYS_TRY(MakeFolder(folder));
      lock = FolderLock::Take(folder, plan_.wait);
    }
    if (!lock.ok()) {
      return std::move(lock).TakeError();
    }
    locks_.push_back(std::move(lock).value());
  }
  return {};
}

std::vector<std::string> Publication::FindStale(const Journal& journal) const {
  std::set<std::string> stale(plan_.stale.begin(), plan_.stale.end());
  for (std::string& path : ReadManifest(plan_.home, plan_.manifest)) {
    stale.insert(std::move(path));
  }
  for (const JournalEntry& entry : journal.entries) {
    stale.erase(entry.path);
  }
  std::erase_if(stale, [&](const std::string& path) {
    const bool needed = !plan_.keep.empty() && IsSameFileOrInside(plan_.keep, path);
    return needed || !IsThere(path);
  });
  return {stale.begin(), stale.end()};
}

Result<std::string> Publication::WorkFolder() {
  if (!work_folder_.empty()) {
    return work_folder_;
  }
  // Named by the process: the nsys of a killed run may still be writing into the folder of that.
  std::string folder = fmt::format("{}/{}export-{}", plan_.home, kTemporaryPrefix, ::getpid());
  unfinished_.push_back(std::make_unique<Unfinished>(folder));
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return CannotWrite(folder, errno);
  }
  work_folder_ = std::move(folder);
  return work_folder_;
}

Status Publication::FillJournal() {
  journal_.home = plan_.home;
  journal_.manifest = plan_.manifest;
  const auto add = [&](const std::string& path, const std::string& temporary) {
    journal_.entries.push_back(
        {.path = path, .temporary = temporary, .old = HiddenName(path, kOldPrefix), .inode = 0});
  };
  const std::string exported = work_folder_ + "/parquet";
  if (!plan_.export_folder.empty() && !work_folder_.empty() && IsThere(exported)) {
    add(plan_.export_folder, exported);
  }
  for (size_t i = 0; i < plan_.files.size(); ++i) {
    add(plan_.files[i], temporaries_[i]);
  }
  // In front, as the mark comes last.
  std::vector<JournalEntry> made = std::exchange(journal_.entries, {});
  for (const std::string& path : FindStale({.manifest = "", .entries = made})) {
    add(path, "");
  }
  journal_.entries.insert(journal_.entries.end(), made.begin(), made.end());
  if (journal_.entries.size() == 1) {
    journal_.entries.front().old.clear();
  }
  for (JournalEntry& entry : journal_.entries) {
    if (entry.temporary.empty()) {
      continue;
    }
    NSYS_TRY(SyncTree(entry.temporary));
    struct stat info{};
    if (::lstat(entry.temporary.c_str(), &info) != 0) {
      return CannotWrite(entry.path, errno);
    }
    entry.inode = info.st_ino;
  }
  return {};
}

Status Publication::MoveAll(const Hook& hook) {
  NSYS_TRY(MoveAway(journal_, hook));
  return MoveIn(journal_, hook);
}

Status Publication::Commit(const Hook& hook) {
  const Hook told = hook ? hook : [](std::string_view) {};
  NSYS_TRY(FillJournal());
  const HoldSignals hold;
  const std::string path = fmt::format("{}/{}", plan_.home, kJournalName);
  NSYS_TRY(WriteFileAtomically(path, journal_.ToText()));
  NSYS_TRY(SyncFolder(plan_.home));
  told("journal");
  if (Status moved = MoveAll(told); !moved.ok()) {
    if (PutBack(journal_)) {
      ::unlink(path.c_str());
    } else {
      committed_ = true;  // the journal stays, and with it what it needs
      unfinished_.clear();
      work_folder_.clear();
    }
    return moved;
  }
  committed_ = true;
  unfinished_.clear();
  return Settle(plan_.home, journal_, told);
}

}  // namespace nsys::perfetto

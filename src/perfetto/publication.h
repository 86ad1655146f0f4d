// SPDX-License-Identifier: MIT
// Publishing the outputs of a conversion as one set: whatever happens, a reader finds all files of
// one conversion, and never files of two side by side.
//
// Renaming one file is atomic, renaming several is not, and readers want plain files that can be
// copied. So the last file of the set (the JSON trace) is the mark of a complete set:
//
//   1. Everything is written under hidden names in the folders where it belongs, flushed to disk
//      and checked by the caller. Until here nothing that a reader sees has changed.
//   2. A journal with all names is written and flushed.
//   3. The old set is renamed to hidden names, its mark first.
//   4. The new set is renamed to its names, its mark last.
//   5. The journal becomes the manifest (what the set holds, so that the next one can remove
//      what it does not replace), and the old set is removed.
//
// At any moment the visible files belong to one set, and where the mark is there, the set is
// complete. Steps 3 and 4 are some renames, during which signals wait; a rename that fails undoes
// those before it. A process killed or a machine that stops in the middle leaves the journal: the
// next conversion into the folder finishes the publication, since all new files are on disk, or,
// when one of them is gone, puts the old set back. A set of a single file is replaced by one
// rename.
//
// One conversion at a time may write into a folder (FolderLock).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/folder_lock.h"
#include "base/result.h"
#include "base/unfinished.h"
#include "perfetto/publication_journal.h"

namespace nsys::perfetto {

struct PublicationPlan {
  std::string home;                // folder of the journal; all paths are absolute
  std::vector<std::string> files;  // at least one; the last is the mark of a complete set
  std::string export_folder;       // a folder of the set; empty: none
  std::string manifest;            // name of the manifest in `home`; empty: none is kept
  // Goes with the old set if there; what the old manifest lists goes as well.
  std::vector<std::string> stale;
  std::string keep;  // never removed, nor a folder that holds it: the input
  std::optional<std::chrono::milliseconds> wait;  // for the lock; nothing: for ever
};

class Publication {
 public:
  // Makes missing folders, locks them, finishes a publication that was cut short, and removes what
  // killed runs left behind.
  static Result<std::unique_ptr<Publication>> Begin(PublicationPlan plan);

  // Without Commit: removes the temporaries, and folders that Begin made.
  ~Publication();
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  // Where to write plan.files[file]. Nothing is there yet.
  const std::string& TemporaryFile(size_t file) const { return temporaries_[file]; }
  // A folder that is removed at the end, made by the first call. What is then in it under the name
  // "parquet" is published as the plan's export_folder.
  Result<std::string> WorkFolder();

  // `hook` is called between any two steps, with the name of the one that was done.
  using Hook = std::function<void(std::string_view step)>;
  Status Commit(const Hook& hook = {});

 private:
  explicit Publication(PublicationPlan plan) : plan_(std::move(plan)) {}

  Status MakeFolder(const std::string& folder);
  Status LockFolders();  // makes them as well
  std::vector<std::string> FindStale(const Journal& journal) const;
  Status FillJournal();
  Status MoveAll(const Hook& hook);

  PublicationPlan plan_;
  std::vector<std::string> made_folders_;  // outer ones first
  std::vector<std::unique_ptr<FolderLock>> locks_;
  std::vector<std::string> temporaries_;
  std::vector<std::unique_ptr<Unfinished>> unfinished_;
  std::string work_folder_;
  Journal journal_;
  bool committed_ = false;
};

}  // namespace nsys::perfetto

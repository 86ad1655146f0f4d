// SPDX-License-Identifier: MIT
// The journal of a publication: which temporary name becomes which public one. See publication.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nsys::perfetto {

// Hidden names of this module begin so; what a killed run left under them is removed.
inline constexpr std::string_view kTemporaryPrefix = ".nsys-ai-tmp-";
inline constexpr std::string_view kOldPrefix = ".nsys-ai-old-";
inline constexpr std::string_view kJournalName = ".nsys-ai-journal";

// A hidden name in the folder of `path`, always the same for the same path.
std::string HiddenName(const std::string& path, std::string_view prefix);

struct JournalEntry {
  std::string path;       // public
  std::string temporary;  // becomes `path`; empty: `path` only goes
  std::string old;        // what was at `path` before; empty: it is replaced by the rename itself
  uint64_t inode = 0;     // of what is to be at `path`
};

struct Journal {
  std::string home;                   // its folder when it was written
  std::string manifest;               // name the journal gets at the end; empty: it goes
  std::vector<JournalEntry> entries;  // the last one is the mark of a complete set

  std::string ToText() const;
  static std::optional<Journal> FromText(std::string_view text);
};

using StepHook = std::function<void(std::string_view step)>;

// Renames everything of the old set away, the mark first.
Status MoveAway(const Journal& journal, const StepHook& hook);
// Renames everything of the new set to its place, the mark last.
Status MoveIn(const Journal& journal, const StepHook& hook);
// The opposite of both, as far as they came. False when something could not be put back.
bool PutBack(const Journal& journal);
// Removes the journal or makes it the manifest, and removes the old set.
Status Settle(const std::string& home, const Journal& journal, const StepHook& hook);

// Finishes or undoes what the journal in `home` says, if there is one. Only a journal of our own
// user counts, as it says what to rename.
Status Recover(const std::string& home);

// Paths in `home` of the set that the manifest there lists; not those of its files that were put
// into other folders. The folder may have been moved since.
std::vector<std::string> ReadManifest(const std::string& home, const std::string& manifest);

}  // namespace nsys::perfetto

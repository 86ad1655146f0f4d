// SPDX-License-Identifier: MIT
// Which annotated code blocked the host: ranges that wait (children, told by words in their text)
// credited to the ranges around them (parents).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"

namespace nsys {

// Whether `pattern` (in lower case, not empty) stands in `text` as a word of its own, letters
// compared without case: no letter, digit or underscore before it or behind it. Behind it, the
// suffixes of CUDA entry points (_ptds, _ptsz, _v3020) do not count. An end of the pattern that is
// itself no letter, digit or underscore may touch anything.
bool HoldsWord(std::string_view text, std::string_view pattern);

struct SyncParent {
  std::string text;       // of all its ranges if they agree, else their normal label
  std::string top_child;  // likewise, of the children with most time, then most waits, then by text
  int64_t ranges = 0;     // that hold a child
  int64_t syncs = 0;      // outermost children
  int64_t sync_ns = 0;    // time within these
};

// By time descending, then text. Push-pop and start-end ranges that have a text and a length and
// lie inside the window take part. A child is credited to every range of its thread that contains
// it, ends included, other than those of just its own interval; of nested children of one parent
// the outermost counts alone, and where children cross, their common time counts once. Ranges are
// grouped by normal label. One sweep. Needs kTime, kThread, kName, kKind of NVTX.
std::vector<SyncParent> FindSyncParents(Views& views, const std::optional<Window>& window,
                                        std::span<const std::string> patterns);

}  // namespace nsys

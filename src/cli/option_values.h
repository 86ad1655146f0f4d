// SPDX-License-Identifier: MIT
// Values of options that several commands share: every error names the option, the word, and an
// example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/window.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/usage_error.h"
#include "ingest/sqlite_pages.h"

namespace nsys {

// The choice that `word` names.
template <typename Choice, size_t N>
Result<Choice> Choose(const std::string& option, const std::string& word,
                      const std::pair<const char*, Choice> (&choices)[N]) {
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (word == name) {
      return choice;
    }
    names.emplace_back(name);
  }
  const auto nearest = NearestName(word, names);
  return UsageError(fmt::format("{} takes one of {}, not '{}'", option, Join(names, ", "), word),
                    nearest ? fmt::format("did you mean '{}'?", *nearest)
                            : fmt::format("for example: {} {}", option, names[1]));
}

// The words of a list that may be given in parts, blanks around them left out: --with memset,sync
// --with osrt.
std::vector<std::string> SplitAtCommas(const std::vector<std::string>& lists);

// A whole number of at least `least`; nothing when the option is not given.
Result<std::optional<int64_t>> ParseCountOption(const std::string& option,
                                                const std::optional<std::string>& word,
                                                int64_t least);

// --reader, and its text in the help.
inline constexpr const char* kReaderHelp =
    "Who reads .sqlite: pages (this program), sqlite, or auto (default: pages where they can be "
    "vouched for); the answer does not depend on it, and stderr tells who it was";
Result<std::optional<SqliteReader>> ParseReader(const std::optional<std::string>& word);

// --trim START END, in seconds on the capture's clock; no words: no window.
Result<std::optional<Window>> ParseTrim(const std::vector<std::string>& words);

}  // namespace nsys

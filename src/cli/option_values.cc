// SPDX-License-Identifier: MIT
#include "cli/option_values.h"

#include <cmath>
#include <string_view>

#include "base/number.h"

namespace nsys {
namespace {

// Seconds as typed to nanoseconds, truncated toward zero.
Result<int64_t> ParseSeconds(const std::string& word) {
  constexpr double kMostSeconds = 9.2e9;  // the largest time that nanoseconds in 64 bits can tell
  const auto seconds = ParseFiniteDouble(word);
  if (!seconds || std::fabs(*seconds) > kMostSeconds) {
    return UsageError(fmt::format("--trim takes two times in seconds, not '{}'", word),
                      "for example: --trim 1.5 3.0, or --trim 1.5 inf");
  }
  return static_cast<int64_t>(*seconds * 1e9);
}

// `word` without the blanks around it.
std::string Bare(std::string_view word) {
  const size_t first = word.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string()
             : std::string(word.substr(first, word.find_last_not_of(' ') + 1 - first));
}

}  // namespace

std::vector<std::string> SplitAtCommas(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    size_t begin = 0;
    for (size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',', begin)) {
      words.push_back(Bare(std::string_view(list).substr(begin, comma - begin)));
      begin = comma + 1;
    }
    words.push_back(Bare(std::string_view(list).substr(begin)));
  }
  return words;
}

Result<std::optional<int64_t>> ParseCountOption(const std::string& option,
                                                const std::optional<std::string>& word,
                                                int64_t least) {
  if (!word) {
    return std::optional<int64_t>();
  }
  const auto number = ParseInt(*word);
  if (number && *number >= least) {
    return number;
  }
  return UsageError(
      fmt::format("{} takes a whole number of at least {}, not '{}'", option, least, *word),
      fmt::format("for example: {} {}", option, least + 1));
}

Result<std::optional<SqliteReader>> ParseReader(const std::optional<std::string>& word) {
  if (!word) {
    return std::optional<SqliteReader>();
  }
  static constexpr std::pair<const char*, SqliteReader> kReaders[] = {
      {"auto", SqliteReader::kAuto},
      {"pages", SqliteReader::kPages},
      {"sqlite", SqliteReader::kSqlite}};
  NSYS_ASSIGN(const SqliteReader reader, Choose("--reader", *word, kReaders));
  return std::optional<SqliteReader>(reader);
}

Result<std::optional<Window>> ParseTrim(const std::vector<std::string>& words) {
  if (words.empty()) {
    return std::optional<Window>();
  }
  Window window;
  NSYS_ASSIGN(window.begin_ns, ParseSeconds(words[0]));
  const std::string end = LowerAscii(words[1]);
  if (end != "inf" && end != "end") {
    NSYS_ASSIGN(window.end_ns, ParseSeconds(words[1]));
  }
  if (window.end_ns > window.begin_ns) {
    return std::optional<Window>(window);
  }
  return Error{
      .code = ErrorCode::kTrimOutOfRange,
      .message = fmt::format("--trim {} {} selects nothing: END must be greater than START",
                             words[0], words[1]),
      .hint = "give START and END in seconds on the capture's clock"};
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// Looking at the causes of a built trace.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/root_causes.h"
#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {

inline constexpr int64_t kUs = 1'000;
inline constexpr int64_t kMs = 1'000'000;

inline std::optional<RootCauses> CausesOf(const Trace& trace, int64_t device = 0,
                                          const std::optional<Window>& window = std::nullopt) {
  Views views(trace);
  return FindRootCauses(views, device, window);
}

inline std::vector<RootCause> FindAll(const Trace& trace, std::string_view pattern,
                                      const std::optional<Window>& window = std::nullopt) {
  std::vector<RootCause> found;
  for (const RootCause& cause : CausesOf(trace, 0, window).value_or(RootCauses{}).found) {
    if (cause.pattern == pattern) {
      found.push_back(cause);
    }
  }
  return found;
}

inline bool Fires(const Trace& trace, std::string_view pattern,
                  const std::optional<Window>& window = std::nullopt) {
  return !FindAll(trace, pattern, window).empty();
}

// The one cause of that pattern on device 0; fails the test when there is another number of them.
inline RootCause FindOne(const Trace& trace, std::string_view pattern,
                         const std::optional<Window>& window = std::nullopt) {
  const std::vector<RootCause> found = FindAll(trace, pattern, window);
  EXPECT_EQ(found.size(), 1U) << pattern;
  return found.empty() ? RootCause{} : found.front();
}

}  // namespace nsys

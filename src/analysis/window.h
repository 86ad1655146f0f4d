// SPDX-License-Identifier: MIT
// The window a user asked for, and the three ways of cutting events to it. Which of them a skill
// uses is part of its definition (Skill::window_rule) and shown by `skill info`.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "trace/intervals.h"

namespace nsys {

// [begin_ns, end_ns] on the capture's clock. An end that was left open is the largest time.
struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = std::numeric_limits<int64_t>::max();
};

enum class WindowRule {
  kContain,  // events that lie wholly inside: start >= begin and end <= end
  kTouch,    // events that touch the window, counted in full: end >= begin and start <= end
  kClip,     // events that overlap the window, cut to it
  kIgnored,  // the answer does not depend on time
  kOwn,      // as the statement of a custom skill says
};

inline std::optional<Span> AsSpan(const std::optional<Window>& window) {
  return window ? std::optional(Span{window->begin_ns, window->end_ns}) : std::nullopt;
}

// No window contains and touches everything.
inline bool Contains(const std::optional<Window>& window, int64_t start_ns, int64_t end_ns) {
  return !window || (start_ns >= window->begin_ns && end_ns <= window->end_ns);
}
inline bool Touches(const std::optional<Window>& window, int64_t start_ns, int64_t end_ns) {
  return !window || (end_ns >= window->begin_ns && start_ns <= window->end_ns);
}

// The part of [start, end) inside the window; empty (begin >= end) when there is none.
inline Span Clip(const std::optional<Window>& window, int64_t start_ns, int64_t end_ns) {
  if (!window) {
    return {start_ns, end_ns};
  }
  return {start_ns > window->begin_ns ? start_ns : window->begin_ns,
          end_ns < window->end_ns ? end_ns : window->end_ns};
}

}  // namespace nsys

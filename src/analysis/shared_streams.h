// SPDX-License-Identifier: MIT
// Streams on which compute and communication kernels take turns: on one stream they cannot overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "analysis/overlap.h"
#include "analysis/views.h"
#include "analysis/window.h"

namespace nsys {

struct SharedStreams {
  std::set<int64_t> streams;
  double compute_pct = 0;  // share of each kind of kernel that runs there, by number of kernels
  double communication_pct = 0;

  // Whether at least 5 % of each kind runs there: one stray kernel says nothing about the run.
  bool matter() const;
  std::string StreamList() const;  // "7, 20"
};

// Of the kernels on `device` inside the window; `overlap` is of the same.
SharedStreams FindSharedStreams(Views& views, int64_t device, const std::optional<Window>& window,
                                const Overlap& overlap);

}  // namespace nsys

// SPDX-License-Identifier: MIT
// For tests of layouts: the tracks of rows by their names.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "perfetto/layout.h"
#include "trace_builder.h"

namespace nsys::perfetto {

inline Layout LayoutOf(const Trace& trace, const Options& options = {}) {
  Result<Layout> layout = MakeLayout(trace, options);
  EXPECT_TRUE(layout.ok()) << (layout.ok() ? "" : layout.error().message);
  return layout.ok() ? std::move(layout).value() : Layout();
}

// "<group> | <track>", or "-" for kNone.
inline std::string Where(const Layout& layout, uint32_t track) {
  if (track == kNone) {
    return "-";
  }
  const Track& of = layout.tracks[track];
  return layout.groups[of.group].name + " | " + of.name;
}

template <typename Slices>
std::vector<std::string> Wheres(const Layout& layout, const Slices& slices) {
  std::vector<std::string> all;
  for (const auto& slice : slices) {
    all.push_back(std::to_string(slice.row) + ": " + Where(layout, slice.track));
  }
  return all;
}

inline std::vector<std::string> GroupNames(const Layout& layout) {
  std::vector<std::string> names;
  for (const Group& group : layout.groups) {
    names.push_back(group.name);
  }
  return names;
}

// The names of the regions of a kernel, "?" for one without a name, and how many more there are.
inline std::vector<std::string> RegionsOf(const Trace& trace, const Layout& layout,
                                          uint32_t kernel) {
  std::vector<std::string> names;
  if (layout.kernel_regions[kernel] == kNone) {
    return names;
  }
  const Layout::RegionSet& set = layout.region_sets[layout.kernel_regions[kernel]];
  for (uint32_t i = 0; i < set.count; ++i) {
    const StringId name = layout.region_names[set.begin + i];
    names.push_back(name == StringId::kNone ? "?" : std::string(trace.Text(name)));
  }
  if (set.cut > 0) {
    names.push_back("+" + std::to_string(set.cut));
  }
  return names;
}

}  // namespace nsys::perfetto

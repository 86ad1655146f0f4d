// SPDX-License-Identifier: MIT
#include "perfetto/flows.h"

#include <gtest/gtest.h>

#include "layout_builder.h"
#include "trace_builder.h"

namespace nsys::perfetto {
namespace {

TEST(FlowsTest, ArrowsLeaveWhereTheCallIsDrawnWithTheWork) {
  const Trace trace = TraceBuilder().Build();
  LayoutBuilder builder(trace);
  const uint32_t one = builder.Group(100, 0);
  const uint32_t other_device = builder.Group(100, 1);
  const uint32_t other_process = builder.Group(200, 0);
  const uint32_t host = builder.Group(100, -1);
  builder.layout.groups[host].host = true;
  const uint32_t work = builder.Track(TrackKind::kStream, one, {});
  const auto leaves_from = [&](uint32_t group) {
    return LeavesFrom(builder.layout, builder.Track(TrackKind::kApi, group, {}), work);
  };
  EXPECT_TRUE(leaves_from(one));
  EXPECT_FALSE(leaves_from(other_device));
  EXPECT_FALSE(leaves_from(other_process));
  EXPECT_TRUE(leaves_from(host));
  builder.layout.groups[host].global_pid = builder.layout.groups[other_process].global_pid;
  EXPECT_FALSE(leaves_from(host));
}

}  // namespace
}  // namespace nsys::perfetto

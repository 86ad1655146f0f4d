// SPDX-License-Identifier: MIT
#include "trace/reads.h"

#include <gtest/gtest.h>

namespace nsys {
namespace {

Reads Launches(Focus focus) {
  Reads reads = {{TableId::kNvtx, {Column::kTime}, RowKind::kLaunches}};
  reads.Narrow(std::move(focus));
  return reads;
}

TEST(Reads, AnUnionWantsAllRowsOfBoth) {
  Reads reads = Launches({.communication_only = true, .window = Span{1, 2}});
  EXPECT_TRUE(reads.Picks(TableId::kNvtx, RowKind::kLaunches));
  reads.Add(Launches({.communication_only = true, .window = Span{1, 2}}));
  EXPECT_TRUE(reads.focus().communication_only);
  EXPECT_EQ(reads.focus().window, (Span{1, 2}));
  reads.Add(Launches({.communication_only = true, .window = Span{3, 4}}));
  EXPECT_TRUE(reads.focus().communication_only);
  EXPECT_FALSE(reads.focus().window);
  reads.Add(Launches({}));
  EXPECT_FALSE(reads.focus().communication_only);
  reads.Add({{TableId::kNvtx, {Column::kName}}});
  EXPECT_FALSE(reads.Picks(TableId::kNvtx, RowKind::kLaunches)) << "every row is wanted";
}

TEST(Reads, AFocusComesWithTheRowsItIsAbout) {
  Reads reads = {{TableId::kKernel, {Column::kTime}}};
  reads.Add(Launches({.communication_only = true}));
  EXPECT_TRUE(reads.focus().communication_only);
  reads.Add({{TableId::kRuntime, {Column::kTime}}});
  EXPECT_TRUE(reads.focus().communication_only) << "the other asks for no launches";
}

TEST(Reads, TextsOfEitherAreWanted) {
  const auto of = [](std::string_view wanted) {
    Reads reads = {{TableId::kNvtx, {Column::kName}, RowKind::kTexts}};
    reads.Narrow({.text = [wanted](std::string_view text) { return text == wanted; }});
    return reads;
  };
  Reads reads = of("a");
  reads.Add(Launches({}));
  EXPECT_TRUE(reads.focus().text("a"));
  reads.Add(of("b"));
  EXPECT_TRUE(reads.focus().text("a"));
  EXPECT_TRUE(reads.focus().text("b"));
  EXPECT_FALSE(reads.focus().text("c"));
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "trace/nvtx_labels.h"

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(NormalLabel, DropsRunningIdsAndAddresses) {
  EXPECT_EQ(NormalLabel("aten::add, op_id = 314300"), "aten::add");
  EXPECT_EQ(NormalLabel("aten::mul, seq = 7, op_id = 8"), "aten::mul");
  EXPECT_EQ(NormalLabel("aten::mul, op_id=8,seq=7"), "aten::mul");
  EXPECT_EQ(NormalLabel("FSDP::pre_forward (blocks.10), op_id = 1"),
            "FSDP::pre_forward (blocks.10)");
  EXPECT_EQ(NormalLabel("free 0x7fff00aB at 0x"), "free 0x# at 0x");
}

TEST(NormalLabel, KeepsNumbersThatTellThingsApart) {
  for (const char* text :
       {"layer_3", "step 4", "bs=8, seq_len = 2048", "f, seq = x", "", "a,", ","}) {
    EXPECT_EQ(NormalLabel(text), text);
  }
}

TEST(NormalLabels, GroupThousandsOfUniqueTexts) {
  StringPool pool;
  NormalLabels labels(pool);
  const StringId add = labels.Of(pool.Intern("aten::add, op_id = 0"));
  for (int i = 1; i < 1000; ++i) {
    EXPECT_EQ(labels.Of(pool.Intern("aten::add, op_id = " + std::to_string(i))), add);
  }
  EXPECT_NE(labels.Of(pool.Intern("aten::mul, seq = 5, op_id = 3")), add);
  EXPECT_EQ(labels.Get(add), "aten::add");
  EXPECT_EQ(labels.Of(StringId::kNone), StringId::kNone);
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "perfetto/workspace.h"

#include <gtest/gtest.h>

namespace nsys::perfetto {
namespace {

TEST(Workspace, TheNameOfAReportIsTheInputsWithoutItsEnding) {
  EXPECT_EQ(ReportName("/a/model.nsys-rep"), "model");
  EXPECT_EQ(ReportName("model.qdrep"), "model");
  EXPECT_EQ(ReportName("model.v2.sqlite"), "model.v2");
  EXPECT_EQ(ReportName("x/model.parquetdir/"), "model");
  EXPECT_EQ(ReportName("x/model_pqtdir"), "model");
  EXPECT_EQ(ReportName("x/parquet"), "parquet");
  EXPECT_EQ(ReportName("my model é.nsys-rep"), "my model é");
  EXPECT_EQ(ReportName(".sqlite"), ".sqlite");
}

TEST(Workspace, AnyNameOfAReportIsPartOfAFileName) {
  EXPECT_EQ(FileStem("model"), "model");
  EXPECT_EQ(FileStem("a/b"), "a_b");
  EXPECT_EQ(FileStem("a\nb\x7F"), "a_b_");
  EXPECT_EQ(FileStem(".."), "_..");
  EXPECT_EQ(PathsIn("/w/a_b", "a/b").json, "/w/a_b/a_b.perfetto.json.gz");
  EXPECT_EQ(PathsIn("/w/m", "m").dependencies, "/w/m/m.kernel_dependencies.parquet");
  EXPECT_EQ(PathsIn("/w/m", "m").export_folder, "/w/m/parquet");
}

}  // namespace
}  // namespace nsys::perfetto

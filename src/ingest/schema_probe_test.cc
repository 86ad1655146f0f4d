// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ingest/load.h"
#include "ingest/schema_probe.h"

namespace nsys {
namespace {

using testing::ElementsAre;

class NamesOnly final : public TableSource {
 public:
  explicit NamesOnly(std::vector<std::string> names, std::vector<std::string> columns = {"start"}) {
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      tables_.push_back({.name = name, .columns = {}});
      for (const std::string& column : columns) {
        tables_.back().columns.push_back({.name = column, .type = "INTEGER"});
      }
    }
  }
  const std::vector<SourceTable>& tables() const override { return tables_; }
  Status Read(std::string_view, std::span<const WantedColumn>, const BatchSink&) const override {
    return {};
  }

 private:
  std::vector<SourceTable> tables_;
};

std::string Resolved(TableId table, std::vector<std::string> names) {
  return ProbeSchema(NamesOnly(std::move(names)))
      .resolved[static_cast<size_t>(table)]
      .value_or("-");
}

TEST(ProbeSchema, ExactNameBeatsVersions) {
  EXPECT_EQ(
      Resolved(TableId::kKernel, {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL_V9"}),
      "CUPTI_ACTIVITY_KIND_KERNEL");
}

TEST(ProbeSchema, HighestVersionByNumber) {
  EXPECT_EQ(
      Resolved(TableId::kKernel, {"CUPTI_ACTIVITY_KIND_KERNEL_V9", "CUPTI_ACTIVITY_KIND_KERNEL_V10",
                                  "CUPTI_ACTIVITY_KIND_KERNEL_A"}),
      "CUPTI_ACTIVITY_KIND_KERNEL_V10");
}

TEST(ProbeSchema, OtherSuffixesUnlessTheyBeginWithADigit) {
  EXPECT_EQ(Resolved(TableId::kMemcpy, {"CUPTI_ACTIVITY_KIND_MEMCPY2"}), "-");
  EXPECT_EQ(
      Resolved(TableId::kMemcpy, {"CUPTI_ACTIVITY_KIND_MEMCPY2", "CUPTI_ACTIVITY_KIND_MEMCPY_X",
                                  "CUPTI_ACTIVITY_KIND_MEMCPY_Y"}),
      "CUPTI_ACTIVITY_KIND_MEMCPY_X");
}

TEST(ProbeSchema, KernelsAloneByWord) {
  EXPECT_EQ(Resolved(TableId::kKernel, {"ENUM_CUDA_KERNEL_LAUNCH_TYPE"}), "-");
  EXPECT_EQ(Resolved(TableId::kKernel, {"ENUM_CUDA_KERNEL_LAUNCH_TYPE", "GPU_KERNELS"}),
            "GPU_KERNELS");
  EXPECT_EQ(Resolved(TableId::kMemset, {"GPU_MEMSETS"}), "-");
}

TEST(ProbeSchema, UnknownGpuTables) {
  const NamesOnly source(
      {"CUPTI_ACTIVITY_KIND_KERNEL", "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "NEW_GPU_WORK"},
      {"start", "end", "deviceId"});
  EXPECT_THAT(ProbeSchema(source).unknown_gpu_tables, ElementsAre("NEW_GPU_WORK"));
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "analysis/runner.h"
#include "analysis/params.h"

#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

const Skill& Probe() {
  static const Skill skill = {
      .name = "probe",
      .title = "Probe",
      .doc = "For tests.",
      .params = {Param::Count("limit", 3, "rows"),
                 Param::Device(),
                 {.name = "threshold", .type = ParamType::kFloat, .doc = "t", .default_value = 1.5},
                 {.name = "deep", .type = ParamType::kBool, .doc = "d", .default_value = false},
                 {.name = "who", .type = ParamType::kText, .doc = "w", .required = true}}};
  return skill;
}

ErrorCode CodeOf(const std::vector<GivenParam>& given) {
  const auto params = BindParams(Probe(), given);
  EXPECT_FALSE(params.ok());
  return params.ok() ? ErrorCode::kOutput : params.error().code;
}

TEST(BindParams, FillsDefaultsAndChecksTypes) {
  const auto params =
      BindParams(Probe(), std::vector<GivenParam>{{"who", "a=b"}, {"limit", "0"}, {"deep", "YES"}});
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(params.value().Int("limit"), 0);
  EXPECT_EQ(params.value().Int("device"), 0);
  EXPECT_EQ(params.value().Text("who"), "a=b");
}

TEST(BindParams, RefusesWhatItDoesNotUnderstand) {
  const GivenParam who{"who", "x"};
  for (const GivenParam& bad : std::vector<GivenParam>{{"limit", "-1"},
                                                       {"limit", "3.5"},
                                                       {"limit", "abc"},
                                                       {"limit", ""},
                                                       {"limit", "1e23"},
                                                       {"limit", "99999999999999999999"},
                                                       {"threshold", "nan"},
                                                       {"threshold", "inf"},
                                                       {"deep", "maybe"},
                                                       {"unknown", "1"},
                                                       {"who", "again"}}) {
    EXPECT_EQ(CodeOf({who, bad}), ErrorCode::kUsage) << bad.first << "=" << bad.second;
  }
  EXPECT_EQ(CodeOf({}), ErrorCode::kSkillParameter);
}

TEST(BindParams, SuggestsTheNearestName) {
  const auto params = BindParams(Probe(), std::vector<GivenParam>{{"limits", "3"}});
  ASSERT_FALSE(params.ok());
  EXPECT_NE(params.error().hint.find("did you mean 'limit'?"), std::string::npos)
      << params.error().hint;
}

TEST(CheckWindow, HasToOverlapTheKernels) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 100, .end_ns = 500})
                          .Kernel("k", {.start_ns = 120, .end_ns = 130})
                          .Build();
  EXPECT_TRUE(CheckWindow(trace, {0, 101}).ok());
  EXPECT_TRUE(CheckWindow(trace, {499, 501}).ok()) << "the last end belongs to an early kernel";
  EXPECT_FALSE(CheckWindow(trace, {0, 100}).ok());
  EXPECT_FALSE(CheckWindow(trace, {500, 900}).ok());
  EXPECT_TRUE(CheckWindow(Trace{}, {0, 1}).ok()) << "no kernels, nothing to compare with";
}

TEST(RunSkill, AnInventoryDeviceWithoutKernelsIsNoError) {
  Trace trace = TraceBuilder()
                    .Kernel("k", {.start_ns = 0, .end_ns = 5})
                    .Copy({.start_ns = 0, .end_ns = 3, .bytes = 1})
                    .Build();
  trace.device_inventory = {0, 1};
  EXPECT_FALSE(RunOn(trace, "memory_bandwidth", {{"device", "1"}}).problem.has_value());
  EXPECT_TRUE(RunOn(trace, "memory_bandwidth", {{"device", "2"}}).problem.has_value());
}

TEST(RunSkill, UnusableRowsAreNoEmptyTable) {
  Trace trace = TraceBuilder().Kernel("k", {}).Build();
  trace.kernels = {};
  trace.rows_left_out[static_cast<size_t>(TableId::kKernel)] = 7;
  for (const char* name : {"top_kernels", "pipeline_bubble_metrics"}) {
    const Answer answer = RunOn(trace, name);
    ASSERT_TRUE(answer.abstention.has_value()) << name;
    EXPECT_NE(answer.abstention->reason.find("7 rows"), std::string::npos);
  }
}

TEST(RunSkill, UnknownDevicesAreNoEmptyAnswer) {
  Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = 5}).Build();
  trace.lanes.front().device.reset();
  for (const char* name : {"nccl_breakdown", "kernel_instances", "gpu_idle_gaps"}) {
    EXPECT_TRUE(RunOn(trace, name).abstention.has_value()) << name;
  }
}

TEST(RunSkill, MissingColumnsAreNamed) {
  Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = 5}).Build();
  trace.schema.tables = {{.name = "CUPTI_ACTIVITY_KIND_KERNEL"}, {.name = "StringIds"}};
  trace.schema
      .missing[static_cast<size_t>(TableId::kKernel)][static_cast<size_t>(Column::kTime)] = {"end"};
  const Answer answer = RunOn(trace, "top_kernels");
  ASSERT_TRUE(answer.abstention.has_value());
  EXPECT_EQ(ToJson(Cell(answer.abstention->details, "missing_columns"), JsonLayout::kOneLine),
            R"({"CUPTI_ACTIVITY_KIND_KERNEL": ["end"]})");
}

}  // namespace
}  // namespace nsys

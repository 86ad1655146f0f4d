// SPDX-License-Identifier: MIT
#include "analysis/gpu_of_device.h"

#include <gtest/gtest.h>

namespace nsys {
namespace {

Gpu Named(int64_t id, const char* name) { return {.id = id, .name = name}; }

TEST(GpuOfDevice, FollowsTheMapOfOrdinals) {
  Trace trace;
  trace.gpus = {Named(0, "NVIDIA A100-SXM4-80GB"), Named(3, "NVIDIA T4")};
  trace.cuda_devices = {{.ordinal = 0, .gpu = 3, .pid = 1}};
  ASSERT_NE(GpuOfDevice(trace, 0), nullptr);
  EXPECT_EQ(*GpuOfDevice(trace, 0)->name, "NVIDIA T4") << "not the GPU with id 0";
  EXPECT_EQ(GpuOfDevice(trace, 1), nullptr);
  EXPECT_EQ(*GpuOfDevice(trace, 3)->name, "NVIDIA T4") << "an ordinal that nothing maps is an id";
}

TEST(GpuOfDevice, UsesIdsWhereOrdinalsAreNotMapped) {
  Trace trace;
  trace.gpus = {Named(0, "NVIDIA T4")};
  EXPECT_EQ(*GpuOfDevice(trace, 0)->name, "NVIDIA T4");
  trace.cuda_devices = {{.ordinal = 0, .gpu = std::nullopt, .pid = 1}};
  EXPECT_EQ(*GpuOfDevice(trace, 0)->name, "NVIDIA T4");
  EXPECT_EQ(GpuOfDevice(Trace{}, 0), nullptr);
}

TEST(GpuOfDevice, ProcessesMustMeanOneProduct) {
  Trace trace;
  trace.gpus = {Named(0, "NVIDIA H100 PCIe"), Named(1, "NVIDIA H100 PCIe"), Named(2, "NVIDIA T4")};
  trace.cuda_devices = {{.ordinal = 0, .gpu = 0, .pid = 1}, {.ordinal = 0, .gpu = 1, .pid = 2}};
  EXPECT_EQ(GpuOfDevice(trace, 0), &trace.gpus[0]);
  trace.cuda_devices.push_back({.ordinal = 0, .gpu = 2, .pid = 3});
  EXPECT_EQ(GpuOfDevice(trace, 0), nullptr);
  trace.cuda_devices.back().gpu = 9;
  EXPECT_EQ(GpuOfDevice(trace, 0), nullptr) << "a GPU that is not listed may be anything";
}

TEST(GpuOfDevice, MachinesMayDisagreeAboutAnId) {
  Trace trace;
  trace.gpus = {Named(0, "NVIDIA T4"), Named(0, "NVIDIA L4")};
  EXPECT_EQ(GpuOfDevice(trace, 0), nullptr);
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "perfetto/proto_text.h"

#include <array>

#include "perfetto/copy_kinds.h"
#include "perfetto/extras.h"

namespace nsys::perfetto {
namespace {

constexpr std::array<std::string_view, kProtoArgCount> kProtoArgNames = {
    "NVTXRegions",
    "NVTXRegionsTruncated",
    "bandwidthGBps",
    "block",
    "bytes",
    "category",
    "color",
    "contextId",
    "copyCount",
    "correlationId",
    "demangledName",
    "direction",
    "domain",
    "dstContextId",
    "dstDeviceId",
    "dstMemoryKind",
    "eventId",
    "graphId",
    "graphNodeId",
    "grid",
    "launchEventId",
    "launchSkewNs",
    "open",
    "payload",
    "recordedEndNs",
    "srcContextId",
    "srcDeviceId",
    "srcMemoryKind",
    "streamId",
    "streamSequence",
    "timestampRepaired",
    "virtualAddress",
};

constexpr std::array<std::string_view, 7> kCategories = {
    "cuda", "cuda_kernel_usage", "cuda_memcpy", "cuda_copy_usage", "cuda_api",
    "nvtx", "nvtx-kernel"};

}  // namespace

ProtoTexts::ProtoTexts(const Trace& trace, const Layout& layout)
    : trace_(trace), layout_(layout), pool_size_(static_cast<uint32_t>(trace.strings.size())) {
  nvtx_ = AddFixed("NVTX");
  call_ = AddFixed("cuda_api");
  for (int32_t kind = 0; kind <= kCopyKinds; ++kind) {
    const uint32_t name = AddFixed(std::string(perfetto::CopyName(kind)));
    copy_names_ = kind == 0 ? name : copy_names_;
  }
  for (int32_t kind = 0; kind <= kCopyKinds; ++kind) {
    const uint32_t direction = AddFixed(std::string(CopyDirection(kind)));
    directions_ = kind == 0 ? direction : directions_;
  }
  for (int32_t kind = 0; kind <= kMemoryKinds; ++kind) {
    const uint32_t name = AddFixed(std::string(MemoryKindName(kind)));
    memory_kinds_ = kind == 0 ? name : memory_kinds_;
  }
}

uint32_t ProtoTexts::AddFixed(std::string text) {
  fixed_.push_back(std::move(text));
  return static_cast<uint32_t>(size()) - 1;
}

std::string_view ProtoTexts::ArgName(uint32_t arg) const {
  return arg < kProtoArgCount ? kProtoArgNames[arg]
                              : std::string_view(layout_.texts[arg - kProtoArgCount]);
}

std::string_view ProtoTexts::Category(uint32_t category) {
  if (category < kCategories.size()) {
    return kCategories[category];
  }
  return ExtraCategory(
      static_cast<TrackKind>(category - static_cast<uint32_t>(ProtoCategory::kExtra)));
}

size_t ProtoTexts::category_count() { return CategoryOfExtra(TrackKind::kGraph) + 1; }

}  // namespace nsys::perfetto

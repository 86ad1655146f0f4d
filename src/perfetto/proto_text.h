// SPDX-License-Identifier: MIT
// The texts of a protobuf trace under one running number, so that interning one is a look into an
// array: first the texts of the capture, then those of the layout, then the fixed ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

enum class ProtoCategory : uint8_t {
  kKernel,
  kKernelUsage,
  kCopy,
  kCopyUsage,
  kApi,
  kNvtx,
  kNvtxKernel,
  kExtra,  // and behind it, one for each kind of track, see CategoryOfExtra
};

// The category of slices of a table that is drawn on request.
constexpr uint32_t CategoryOfExtra(TrackKind kind) {
  return static_cast<uint32_t>(ProtoCategory::kExtra) + static_cast<uint32_t>(kind);
}

// Names of arguments. The order is that of kProtoArgNames.
enum class ProtoArg : uint8_t {
  kRegions,
  kRegionsTruncated,
  kBandwidth,
  kBlock,
  kBytes,
  kCategory,
  kColor,
  kContext,
  kCopyCount,
  kCorrelation,
  kDemangledName,
  kDirection,
  kDomain,
  kToContext,
  kToDevice,
  kToMemory,
  kEventId,
  kGraph,
  kGraphNode,
  kGrid,
  kLaunchEventId,
  kLaunchSkew,
  kOpen,
  kPayload,
  kRecordedEnd,
  kFromContext,
  kFromDevice,
  kFromMemory,
  kStream,
  kSequence,
  kRepaired,
  kVirtualAddress,
};
inline constexpr size_t kProtoArgCount = 32;

class ProtoTexts {
 public:
  ProtoTexts(const Trace& trace, const Layout& layout);

  // Of an NVTX range or a kernel, and of a call: without a text they are named by what they are.
  uint32_t Of(StringId id) const { return id == StringId::kNone ? nvtx_ : Index(id); }
  uint32_t OfCall(StringId id) const { return id == StringId::kNone ? call_ : Index(id); }
  uint32_t OfLayout(uint32_t text) const { return pool_size_ + text; }
  uint32_t CopyName(int32_t kind) const { return copy_names_ + KindSlot(kind); }
  uint32_t Direction(int32_t kind) const { return directions_ + KindSlot(kind); }
  uint32_t MemoryKind(int32_t kind) const {
    return memory_kinds_ +
           (kind >= 0 && kind < kMemoryKinds ? static_cast<uint32_t>(kind) : kMemoryKinds);
  }

  std::string_view Get(uint32_t text) const {
    if (text < pool_size_) {
      return trace_.strings.Get(StringId{text});
    }
    const uint32_t own = text - pool_size_;
    return own < layout_.texts.size() ? std::string_view(layout_.texts[own])
                                      : fixed_[own - layout_.texts.size()];
  }
  size_t size() const { return pool_size_ + layout_.texts.size() + fixed_.size(); }

  // Names of arguments: those of ProtoArg, then the texts of the layout.
  std::string_view ArgName(uint32_t arg) const;
  size_t arg_count() const { return kProtoArgCount + layout_.texts.size(); }
  static std::string_view Category(uint32_t category);
  static size_t category_count();

 private:
  static constexpr int32_t kCopyKinds = 14;
  static constexpr int32_t kMemoryKinds = 7;
  static uint32_t KindSlot(int32_t kind) {
    return kind >= 0 && kind < kCopyKinds ? static_cast<uint32_t>(kind) : kCopyKinds;
  }
  uint32_t AddFixed(std::string text);

  const Trace& trace_;
  const Layout& layout_;
  uint32_t pool_size_;
  std::vector<std::string> fixed_;
  uint32_t nvtx_ = 0;
  uint32_t call_ = 0;
  uint32_t copy_names_ = 0;
  uint32_t directions_ = 0;
  uint32_t memory_kinds_ = 0;
};

}  // namespace nsys::perfetto

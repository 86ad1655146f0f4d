// SPDX-License-Identifier: MIT
// Numbers of the fields that a protobuf trace has, by message. From Perfetto's
// protos/perfetto/trace/.
#pragma once

#include <cstdint>

namespace nsys::perfetto {

struct TraceField {
  static constexpr uint32_t kPacket = 1;
};

struct PacketField {
  static constexpr uint32_t kClockSnapshot = 6;
  static constexpr uint32_t kTimestamp = 8;
  static constexpr uint32_t kSequenceId = 10;
  static constexpr uint32_t kTrackEvent = 11;
  static constexpr uint32_t kInternedData = 12;
  static constexpr uint32_t kSequenceFlags = 13;
  static constexpr uint32_t kDefaults = 59;
  static constexpr uint32_t kTrackDescriptor = 60;
  static constexpr uint32_t kFirstPacket = 87;
};

struct DefaultsField {
  static constexpr uint32_t kTrackEvent = 11;
  static constexpr uint32_t kClock = 58;
};

struct ClockSnapshotField {
  static constexpr uint32_t kClock = 1;
};

struct ClockField {
  static constexpr uint32_t kId = 1;
  static constexpr uint32_t kTimestamp = 2;
  static constexpr uint32_t kIsIncremental = 3;
};

struct DescriptorField {
  static constexpr uint32_t kUuid = 1;
  static constexpr uint32_t kName = 2;
  static constexpr uint32_t kParent = 5;
  static constexpr uint32_t kCounter = 8;
  static constexpr uint32_t kChildOrdering = 11;
  static constexpr uint32_t kRank = 12;
  static constexpr uint32_t kDescription = 14;
  static constexpr uint32_t kMergeBehavior = 15;
  static constexpr uint32_t kMergeKey = 16;
};

struct EventField {
  static constexpr uint32_t kCategoryIid = 3;
  static constexpr uint32_t kArg = 4;
  static constexpr uint32_t kType = 9;
  static constexpr uint32_t kNameIid = 10;
  static constexpr uint32_t kTrackUuid = 11;
  static constexpr uint32_t kCounterValue = 30;
  static constexpr uint32_t kFlow = 47;
  static constexpr uint32_t kTerminatingFlow = 48;
};

// DebugAnnotation.
struct ArgField {
  static constexpr uint32_t kNameIid = 1;
  static constexpr uint32_t kBool = 2;
  static constexpr uint32_t kUint = 3;
  static constexpr uint32_t kInt = 4;
  static constexpr uint32_t kDouble = 5;
  static constexpr uint32_t kText = 6;
  static constexpr uint32_t kItem = 12;
  static constexpr uint32_t kTextIid = 17;
};

// InternedData; each of its fields is a message InternedTextField.
struct InternedField {
  static constexpr uint32_t kCategory = 1;
  static constexpr uint32_t kEventName = 2;
  static constexpr uint32_t kArgName = 3;
  static constexpr uint32_t kArgText = 29;
};

struct InternedTextField {
  static constexpr uint32_t kIid = 1;
  static constexpr uint32_t kText = 2;
};

}  // namespace nsys::perfetto

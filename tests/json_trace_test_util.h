// SPDX-License-Identifier: MIT
// What tests of the JSON trace share: the text of a layout, its events one by one, a small layout.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/block_sink.h"
#include "layout_builder.h"
#include "perfetto/json_trace.h"
#include "trace_builder.h"

namespace nsys::perfetto {

// Keeps what it gets. With an error, fails from the second block on.
class TextSink : public BlockSink {
 public:
  void Pack(std::string_view block, PackedBlock& packed) const override {
    packed.bytes.assign(block);
  }
  Status Take(const PackedBlock& packed) override {
    text += packed.bytes;
    ++blocks;
    return fails && blocks == 2 ? Status(Error{.code = ErrorCode::kOutput, .message = "disk full"})
                                : Status();
  }
  Status Finish() override { return {}; }
  uint64_t file_bytes() const override { return text.size(); }
  uint64_t plain_bytes() const override { return text.size(); }

  std::string text;
  int blocks = 0;
  bool fails = false;
};

inline std::string JsonOf(const Trace& trace, const Layout& layout,
                          const WriteOptions& options = {}) {
  TextSink sink;
  const auto events = WriteJsonTrace(trace, layout, options, sink);
  EXPECT_TRUE(events.ok());
  return sink.text;
}

// The events of the array, in their order, without metadata.
inline std::vector<std::string> EventsOf(const std::string& json) {
  std::vector<std::string> events;
  int depth = 0;
  size_t begin = 0;
  bool in_string = false;
  for (size_t i = 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && json[i] == '{' && depth++ == 0) {
      begin = i;
    } else if (!in_string && json[i] == '}' && --depth == 0) {
      events.push_back(json.substr(begin, i + 1 - begin));
    }
  }
  std::erase_if(events, [](const std::string& event) {
    return event.find("\"cat\":\"__metadata\"") != std::string::npos;
  });
  return events;
}

inline std::string FieldOf(const std::string& event, const std::string& key) {
  const size_t at = event.find("\"" + key + "\":");
  if (at == std::string::npos) {
    return "";
  }
  const size_t begin = at + key.size() + 3;
  if (event[begin] == '"') {
    return event.substr(begin + 1, event.find('"', begin + 1) - begin - 1);
  }
  return event.substr(begin, event.find_first_of(",}", begin) - begin);
}

// "ph name ts" of each event, for tests of their order.
inline std::vector<std::string> PointsOf(const Trace& trace, const Layout& layout) {
  std::vector<std::string> points;
  for (const std::string& event : EventsOf(JsonOf(trace, layout))) {
    points.push_back(FieldOf(event, "ph") + " " + FieldOf(event, "name") + " " +
                     FieldOf(event, "ts"));
  }
  return points;
}

// One process on one device with a stream, a Core Timeline, a thread of calls.
struct Small {
  explicit Small(Trace made, const std::string& report = "r")
      : trace(std::move(made)), builder(trace, report) {
    const uint32_t group = builder.Group(100, 0);
    stream = builder.Track(TrackKind::kStream, group,
                           {.tid = 1, .name = "S", .sort_index = 1, .context = 2, .stream = 7});
    core = builder.Track(TrackKind::kCore, group, {.tid = 400000000, .name = "C"});
    usage = builder.Track(TrackKind::kPcieUsage, group, {.tid = 500000000, .name = "U"});
    api = builder.Track(TrackKind::kApi, group, {.tid = 1100000000, .name = "A"});
    nvtx = builder.Track(TrackKind::kNvtxThread, group,
                         {.tid = 1200000000, .name = "N", .source_tid = 9});
    projected = builder.Track(TrackKind::kNvtxKernel, group,
                              {.tid = 1000000000, .name = "K", .source_tid = 9});
  }
  Layout& layout() { return builder.layout; }

  Trace trace;
  LayoutBuilder builder;
  uint32_t stream = 0;
  uint32_t core = 0;
  uint32_t usage = 0;
  uint32_t api = 0;
  uint32_t nvtx = 0;
  uint32_t projected = 0;
};

}  // namespace nsys::perfetto

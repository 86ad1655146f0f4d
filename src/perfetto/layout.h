// SPDX-License-Identifier: MIT
// What goes where in a Perfetto trace: devices of each process, tracks and lanes, which call
// launched what, NVTX ranges projected to the GPU. The layout holds decisions about rows of a
// Trace, no copies of them; the writers (JSON, protobuf, event table) only spell it out, so that
// all outputs say the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "perfetto/options.h"
#include "trace/launches.h"
#include "trace/trace.h"

namespace nsys::perfetto {

inline constexpr uint32_t kNone = 0xFFFFFFFF;

// A process of the trace: a source process on one device, shown as "CUDA Device d / Source PID p".
// Or, with Options::host_tracks, the processor side of a source process.
struct Group {
  int64_t global_pid = 0;  // process word; 0 when the capture does not tell
  int64_t pid = 0;         // the process id in it
  int64_t device = 0;      // -1: no device is known
  bool host = false;
  std::string name = {};
  std::string detail = {};  // what its process and its GPU are called; may be empty
  int32_t sort_index = 0;
};
inline constexpr int64_t kFirstGroupPid = 2'000'000'000;  // JSON pid of groups[0]

enum class TrackKind : uint8_t {
  kStream,           // kernels and copies of one CUDA stream
  kCore,             // every kernel of the device, kernels only
  kPcieUsage,        // copies between host and device
  kCopyUsage,        // copies within the device
  kPeerUsage,        // copies between devices
  kNvtxKernel,       // push-pop ranges over the kernels they launched
  kNvtxRangeKernel,  // start-end ranges over the kernels they launched
  kNvtxThread,       // push-pop ranges and marks of a thread
  kNvtxRange,        // start-end ranges of a thread
  kApi,              // API calls of a thread
  kOsrt,             // calls of the operating system's library of a thread
  kOverhead,         // the profiler's own cost
  kCounter,          // values over time
  kMemset,           // memsets of one CUDA stream
  kSync,             // what waited for a stream or a context
  kGraph,            // CUDA graphs that were traced as a whole, of one stream
};

// Whether such a track shows NVTX ranges over the kernels they launched.
constexpr bool IsProjected(TrackKind kind) {
  return kind == TrackKind::kNvtxKernel || kind == TrackKind::kNvtxRangeKernel;
}
// Whether slices of such a track nest; those of any other never overlap.
constexpr bool Nests(TrackKind kind) {
  return IsProjected(kind) || kind == TrackKind::kNvtxThread || kind == TrackKind::kNvtxRange;
}

struct Track {
  TrackKind kind = TrackKind::kStream;
  uint32_t group = 0;
  int64_t tid = 0;         // JSON tid
  int32_t sort_index = 0;  // order inside the group, ascending from the top
  uint32_t lane = 0;       // 0 for the first lane
  int64_t source_tid = 0;  // of tracks of a thread
  int64_t context = 0;     // of kStream
  int64_t stream = 0;      // of kStream
  std::string name = {};
  std::string detail = {};  // what its thread is called; may be empty
  bool proto_only = false;  // in the protobuf trace alone, see Layout::IsLeftOut
};

// Whether the track shows what one thread did.
bool IsOfThread(const Track& track);

// A row of a table on a track.
struct Placed {
  uint32_t row = 0;
  uint32_t track = 0;
};

// An NVTX range over the kernels of one device that were launched inside it.
struct Projected {
  uint32_t row = 0;  // of trace.nvtx
  uint32_t track = 0;
  int64_t start_ns = 0;  // of its first kernel
  int64_t end_ns = 0;    // of its last kernel
};

// A copy on a usage track of one of the devices it concerns.
struct CopyUsage {
  uint32_t copy = 0;  // row of trace.copies
  uint32_t track = 0;
  int64_t device = 0;
  uint32_t flow = kNone;  // running number of its arrow, or kNone
};

// A slice or a sample of a table that is drawn only on request.
struct ExtraSlice {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t track = 0;
  uint32_t name = 0;       // of Layout::texts
  uint32_t first_arg = 0;  // of Layout::extra_args
  uint32_t arg_count = 0;
};
struct ExtraArg {
  uint32_t key = 0;  // of Layout::texts; keys of a slice are in ascending byte order
  bool is_text = false;
  int64_t value = 0;  // or a place in Layout::texts
};
struct CounterSample {
  int64_t time_ns = 0;
  uint32_t track = 0;
  int64_t value = 0;
};

struct Counts {
  int64_t kernels = 0;
  int64_t calls = 0;       // drawn, each once
  int64_t sync_calls = 0;  // cudaDeviceSynchronize and cudaStreamSynchronize
  int64_t linked_kernels = 0;
  int64_t copies = 0;
  int64_t h2d = 0;
  int64_t d2h = 0;
  int64_t d2d = 0;
  int64_t other_copies = 0;
  int64_t linked_copies = 0;
  int64_t usage_flows = 0;  // arrows to PCIe usage, one per device
  int64_t ranges = 0;       // push-pop ranges with an end
  int64_t repaired_ranges = 0;
  int64_t ambiguous_ranges = 0;
  int64_t projected_ranges = 0;        // pairs of range and device
  int64_t projected_other_ranges = 0;  // the same of start-end, open and text-log ranges
  int64_t start_end_ranges = 0;
  int64_t text_ranges = 0;  // push-pop ranges read from text logs
  int64_t open_ranges = 0;
  int64_t marks = 0;
  int64_t stream_lanes = 0;       // lanes beyond the first, of all streams
  int64_t nvtx_kernel_lanes = 0;  // lanes beyond the first, of all projected threads
  int64_t skewed_links = 0;       // links whose call starts after the work: no arrow is drawn
  int64_t clamped = 0;            // rows that end before they start, drawn with no length
  int64_t extra_slices = 0;
  int64_t counter_samples = 0;
};

struct Layout {
  Options options;
  int64_t origin_ns = 0;  // ts 0 of the trace
  int64_t last_ns = 0;    // the latest end of what is drawn; open ranges end here
  int64_t anchor_ns = 0;  // aligned time 0 of the event table
  bool anchored = false;  // whether a measured batch is the anchor

  std::vector<Group> groups;  // by (pid, process word, device)
  std::vector<Track> tracks;  // in the order in which the trace declares them

  // By row of trace.kernels. With a trim, rows that are not drawn have the track kNone.
  std::vector<uint32_t> kernel_call;  // row of trace.calls, or kNoCall
  std::vector<uint32_t> kernel_stream_track;
  std::vector<uint32_t> kernel_core_track;
  std::vector<uint32_t> kernel_sequence;  // 1-based place on its stream
  std::vector<uint32_t> kernel_regions;   // of region_sets, or kNone

  // By row of trace.copies. Rows that are not drawn have the track kNone.
  std::vector<uint32_t> copy_call;
  std::vector<uint32_t> copy_stream_track;
  std::vector<CopyUsage> copy_usage;              // by (copy, device)
  std::vector<uint32_t> copy_usage_begin;         // by copy, one more than copies: into copy_usage
  std::vector<std::vector<int64_t>> device_sets;  // distinct, each ascending
  std::vector<uint32_t> copy_devices;  // by copy: of device_sets; the devices it shows on

  std::vector<Placed> call_slices;     // by (row, device)
  std::vector<Placed> range_slices;    // by (row, device): ranges and marks
  std::vector<Projected> projections;  // by (row, device)

  // Distinct lists of region names around a launch, outer before inner: StringId or kNone for a
  // range without a name. At most Options::max_regions each; `cut` says how many more there were.
  struct RegionSet {
    uint32_t begin = 0;  // of region_names
    uint32_t count = 0;
    uint32_t cut = 0;
  };
  std::vector<RegionSet> region_sets;
  std::vector<StringId> region_names;

  // Times of trace.nvtx rows that differ from the table's (repaired clocks), by row.
  struct RepairedRange {
    uint32_t row = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  std::vector<RepairedRange> repaired;

  // Tables drawn on request.
  std::vector<std::string> texts;
  std::vector<ExtraSlice> extra_slices;  // by (track, start, end)
  std::vector<ExtraArg> extra_args;
  std::vector<CounterSample> counter_samples;  // by (track, time)

  Counts counts;
  std::vector<std::string> warnings;

  // Whether an arrow leads from `call` to work that starts at `start_ns`: not when the call starts
  // later, as an arrow back in time would lie.
  static bool HasArrow(const Trace& trace, uint32_t call, int64_t start_ns) {
    return call != kNoCall && trace.calls.start_ns[call] <= start_ns;
  }
  std::span<const CopyUsage> UsagesOf(uint32_t copy) const {
    return std::span(copy_usage)
        .subspan(copy_usage_begin[copy], copy_usage_begin[copy + 1] - copy_usage_begin[copy]);
  }
  const Group& GroupOf(uint32_t track) const { return groups[tracks[track].group]; }
  // Whether the JSON leaves out what lies on the track.
  bool IsLeftOut(uint32_t track) const { return tracks[track].proto_only; }
  // The span of an NVTX row as drawn: repaired, and with an end where the file has none.
  Span RangeSpan(const Trace& trace, uint32_t row) const;
  bool IsRepaired(uint32_t row) const;
};

// What has to be loaded, with LoadOptions::for_drawing.
Reads LayoutReads(const Options& options);

// Lays out `trace`. An error when nothing can be drawn, or when Options::strict_clocks finds an
// ambiguous range.
Result<Layout> MakeLayout(const Trace& trace, const Options& options);

}  // namespace nsys::perfetto

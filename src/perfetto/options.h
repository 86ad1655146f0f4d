// SPDX-License-Identifier: MIT
// What a user can choose about a Perfetto trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/intervals.h"

namespace nsys::perfetto {

enum class KernelNaming { kShort, kDemangled, kMangled };

// Which launches an NVTX range covers: those of all threads of its process, or of its own thread.
enum class NvtxScope { kProcess, kThread };

// Which API calls are drawn besides those that launched something: cudaDeviceSynchronize and
// cudaStreamSynchronize alone, every call that waits for the GPU, or all.
enum class ApiScope { kLinked, kSyncWide, kAll };

// Arrows from a call that launched a whole CUDA graph: to each of its kernels, or to the first.
enum class GraphFlows { kAll, kFirst };

// Tracks beyond the usual set.
struct Extras {
  bool memset = false;
  bool sync = false;
  bool graph = false;
  bool osrt = false;
  bool memory = false;
  bool metrics = false;
  bool overhead = false;
};

struct Options {
  std::string report;  // the name of the report: free text, part of event ids and flow ids
  KernelNaming kernel_naming = KernelNaming::kShort;
  NvtxScope nvtx_scope = NvtxScope::kProcess;
  ApiScope api_scope = ApiScope::kLinked;
  GraphFlows graph_flows = GraphFlows::kAll;
  Extras extras;
  bool proto_memory = false;  // a protobuf trace is wanted: it shows memory use without being asked
  bool host_tracks = false;   // rows of the processor once per process, not under every device
  bool strict_clocks = false;  // an NVTX range on an ambiguous clock is an error
  int64_t max_regions = 64;    // names in a kernel's NVTXRegions
  // Events that touch it are drawn whole, and a call that launched such an event is too.
  std::optional<Span> trim;  // on the capture's clock
};

// Whether `span` touches the part of the trace that is drawn.
inline bool IsInTrim(const Options& options, Span span) {
  return !options.trim ||
         (span.begin_ns < options.trim->end_ns &&
          (span.end_ns > options.trim->begin_ns || span.begin_ns >= options.trim->begin_ns));
}

}  // namespace nsys::perfetto

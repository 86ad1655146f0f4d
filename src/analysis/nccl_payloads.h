// SPDX-License-Identifier: MIT
// What the binary payloads of NCCL's ranges say: which communicator, how many bytes, which rank.
// NCCL describes them itself, by schemas that the export carries; fields are found by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "trace/trace.h"

namespace nsys {

// One payload; what its schema has no field for is absent.
struct NcclPayload {
  size_t schema = 0;                     // row of trace.payload_schemas
  std::optional<uint64_t> communicator;  // equal in all ranks
  std::optional<int64_t> message_bytes;  // as the rank passed it: count · size of an element
  std::optional<int64_t> ranks;          // of the communicator
  std::optional<int64_t> rank;           // of the caller
  std::optional<int64_t> cuda_device;    // of the caller
  std::optional<int64_t> peer;           // of a send or receive
  std::optional<int64_t> root;           // of a broadcast or reduce
  std::optional<std::string_view> reduction;
};

class NcclPayloads {
 public:
  // Decodes each distinct payload of the trace once.
  explicit NcclPayloads(const Trace& trace);

  // Of a number of NvtxTable::payload; null for kNoPayload and for bytes that make no sense.
  const NcclPayload* Of(uint32_t payload) const {
    const bool known = payload < decoded_.size() && decoded_[payload].has_value();
    return known ? &*decoded_[payload] : nullptr;
  }

  // All that make sense.
  const std::vector<std::optional<NcclPayload>>& all() const { return decoded_; }

 private:
  std::vector<std::optional<NcclPayload>> decoded_;
};

// The payloads of the trace of `views`, decoded once per run.
const NcclPayloads& NcclPayloadsOf(Views& views);

// What a schema describes: "init" (a communicator comes or goes), "p2p", "collective", or
// "group_marker" (no size).
std::string_view NcclSchemaCategory(const PayloadSchema& schema);

}  // namespace nsys

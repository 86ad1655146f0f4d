// SPDX-License-Identifier: MIT
// What kind of workload a capture shows: the framework, by names of kernels that ran and of ranges
// that were open, and whether the work is spread over GPUs. Strings that merely occur in the
// capture (paths, environment) are no evidence.
#pragma once

#include <string>

#include "analysis/views.h"
#include "trace/tables.h"

namespace nsys {

struct Fingerprint {
  std::string framework = "Generic CUDA";
  std::string evidence;      // the word and the name that holds it; empty for "Generic CUDA"
  bool distributed = false;  // communication kernels or payload schemas, or kernels on two devices
  bool multi_node = false;   // distributed, on a machine with an RDMA network card
  std::string nic_summary;   // RDMA cards by name
};

// What FingerprintOf reads.
Reads FingerprintReads();

// The first framework of the table in fingerprint.cc with a word in a kernel name, else in the
// label of an NVTX range; of several names the first in byte order.
Fingerprint FingerprintOf(Views& views);

}  // namespace nsys

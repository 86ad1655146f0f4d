// SPDX-License-Identifier: MIT
#include "analysis/fingerprint.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/core.h>

#include "analysis/selection.h"
#include "base/text.h"

namespace nsys {
namespace {

struct FrameworkWords {
  std::string_view framework;
  std::vector<std::string_view> words;  // lower case; anywhere in a name
};

// In order: an engine that is built on another one comes first.
const std::vector<FrameworkWords>& Frameworks() {
  static const std::vector<FrameworkWords> table = {
      {"vLLM", {"paged_attention", "vllm", "sampleroutput", "modelrunner"}},
      {"SGLang", {"sglang", "radixattention", "tokenattention"}},
      {"Megatron-LM", {"megatron", "p2p_comm", "flushgroups"}},
      {"DeepSpeed", {"deepspeed", "zero_optimization", "zero_stage"}},
      {"PyTorch", {"at::", "aten::", "c10::", "torch"}},
  };
  return table;
}

// Whether `name` holds `word`, not as the tail of a longer word: `at::` is not in `format::`.
bool HoldsWord(std::string_view name, std::string_view word) {
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    if (at == 0 || !IsLetter(name[at - 1])) {
      return true;
    }
  }
  return false;
}

std::set<std::string_view> KernelNames(const Trace& trace) {
  std::vector<uint8_t> seen(trace.strings.size(), 0);
  std::set<std::string_view> names;
  const KernelTable& kernels = trace.kernels;
  for (size_t row = 0; row < kernels.name.size(); ++row) {
    for (const StringId id : {kernels.name[row], kernels.short_name[row]}) {
      if (id != StringId::kNone && seen[Index(id)] == 0) {
        seen[Index(id)] = 1;
        names.insert(trace.strings.Get(id));
      }
    }
  }
  return names;
}

std::set<std::string_view> RangeLabels(Views& views) {
  std::set<std::string_view> labels;
  std::vector<uint8_t> seen;
  for (const StringId text : views.trace().nvtx.text) {
    const StringId label = views.labels().Of(text);
    if (label == StringId::kNone) {
      continue;
    }
    if (Index(label) >= seen.size()) {
      seen.resize(Index(label) * 2 + 64, 0);
    }
    if (seen[Index(label)] == 0) {
      seen[Index(label)] = 1;
      labels.insert(views.labels().Get(label));
    }
  }
  return labels;
}

// The sentence about the first of `names` that holds a word of `framework`, or nothing.
std::string EvidenceIn(const std::set<std::string_view>& names, const FrameworkWords& framework,
                       std::string_view where) {
  constexpr size_t kLongestName = 48;
  for (const std::string_view name : names) {
    const std::string lower = LowerAscii(name);
    for (const std::string_view word : framework.words) {
      if (HoldsWord(lower, word)) {
        return fmt::format("'{}' in {} {}", word, where, CutMiddle(name, kLongestName));
      }
    }
  }
  return "";
}

bool IsRdma(const Nic& nic) {
  constexpr int64_t kVendors[] = {5555, 5348, 6082, 32902};  // Mellanox, Broadcom, Cray, Intel
  const bool vendor = nic.vendor && std::find(std::begin(kVendors), std::end(kVendors),
                                              *nic.vendor) != std::end(kVendors);
  return vendor || nic.name.starts_with("mlx5_") || nic.name.starts_with("cxi");
}

bool HasCommunication(Views& views) {
  const KernelTable& kernels = views.trace().kernels;
  for (size_t row = 0; row < kernels.name.size(); ++row) {
    if (views.communication().IsCommunication(kernels.name_to_classify(row))) {
      return true;
    }
  }
  return false;
}

}  // namespace

Reads FingerprintReads() {
  return {{TableId::kKernel, {Column::kTime, Column::kLane, Column::kName}},
          {TableId::kNvtx, {Column::kTime, Column::kName}},
          {TableId::kNics, {Column::kWhole}}};
}

Fingerprint FingerprintOf(Views& views) {
  const Trace& trace = views.trace();
  Fingerprint result;
  const std::set<std::string_view> kernels = KernelNames(trace);
  const std::set<std::string_view> labels = RangeLabels(views);
  for (const FrameworkWords& framework : Frameworks()) {
    std::string evidence = EvidenceIn(kernels, framework, "the kernel");
    if (evidence.empty()) {
      evidence = EvidenceIn(labels, framework, "the range");
    }
    if (!evidence.empty()) {
      result.framework = framework.framework;
      result.evidence = std::move(evidence);
      break;
    }
  }
  result.distributed = DevicesWithKernels(trace).size() > 1 ||
                       trace.schema.Has(TableId::kPayloadSchemas) || HasCommunication(views);
  std::vector<std::string> rdma;
  for (const Nic& nic : trace.nics) {
    if (IsRdma(nic)) {
      rdma.push_back(nic.name);
    }
  }
  result.multi_node = result.distributed && !rdma.empty();
  result.nic_summary = Join(rdma, ", ");
  return result;
}

}  // namespace nsys

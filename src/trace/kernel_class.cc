// SPDX-License-Identifier: MIT
#include "trace/kernel_class.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"

namespace nsys {
namespace {

// NCCL kernels: the first hit names the operation, so the longer names stand before "reduce".
constexpr std::array<std::string_view, 6> kNcclOperations = {
    "allgather", "reducescatter", "allreduce", "broadcast", "sendrecv", "reduce"};

// Communication outside NCCL, by a part of the name that no compute kernel has.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kCustomCommunication = {{
    {"cross_device_reduce", "custom_allreduce"},  // vLLM and SGLang all-reduce over peer memory
    {"multimem_all_reduce", "custom_allreduce"},  // PyTorch symmetric memory
    {"one_shot_all_reduce", "custom_allreduce"},
    {"two_shot_all_reduce", "custom_allreduce"},
    {"deep_ep::internode", "custom_alltoall"},  // expert-parallel dispatch and combine
    {"deep_ep::intranode", "custom_alltoall"},
}};

constexpr std::array<std::string_view, 4> kMatrixWords = {"gemm", "attention", "matmul", "flash"};

// Parts of names that only kernels with matrix instructions carry: generations of the instruction,
// libraries that emit nothing else (nvjet is cuBLAS on Hopper and later).
constexpr std::array<std::string_view, 10> kActiveWords = {
    "xmma",  "mma_sync", "ampere_bf16", "sm80_tensor_op", "tensorop",
    "wgmma", "gmma",     "tcgen05",     "nvjet",          "hmma"};

// Instruction shapes; they count only where no other digit touches them.
constexpr std::array<std::string_view, 6> kShapeNumbers = {"16816",  "1688",  "884",
                                                           "161616", "16832", "168128"};

// Single-precision SIMT kernels: matrix products on the ordinary cores, whatever else the name
// says.
constexpr std::array<std::string_view, 3> kScalarWords = {"ffma", "simt", "f32f32_f32f32"};

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <size_t n>
bool HoldsAny(std::string_view text, const std::array<std::string_view, n>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return Holds(text, part); });
}

// Whether `part` occurs with neither `forbidden_before` in front nor `forbidden_after` behind.
template <typename Before, typename After>
bool HoldsApart(std::string_view text, std::string_view part, const Before& forbidden_before,
                const After& forbidden_after) {
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    if (!forbidden_before(text.substr(0, at)) && !forbidden_after(text.substr(at + part.size()))) {
      return true;
    }
  }
  return false;
}

bool HoldsShapeNumber(std::string_view text) {
  return std::any_of(kShapeNumbers.begin(), kShapeNumbers.end(), [&](std::string_view number) {
    return HoldsApart(
        text, number,
        [](std::string_view before) { return !before.empty() && IsDigit(before.back()); },
        [](std::string_view after) { return !after.empty() && IsDigit(after.front()); });
  });
}

bool HoldsMatrixWord(std::string_view text) {
  const auto never = [](std::string_view) { return false; };
  const bool convolution = HoldsApart(
      text, "conv", never, [](std::string_view after) { return after.starts_with("ert"); });
  const bool linear = HoldsApart(
      text, "linear",
      [](std::string_view before) { return before.ends_with("non") || before.ends_with("bi"); },
      never);
  return convolution || linear || HoldsAny(text, kMatrixWords);
}

}  // namespace

std::optional<std::string_view> CommunicationOperation(std::string_view kernel_name) {
  const std::string name = LowerAscii(kernel_name);
  if (Holds(name, "nccl")) {
    for (const std::string_view operation : kNcclOperations) {
      if (Holds(name, operation)) {
        return operation;
      }
    }
    return "other";
  }
  for (const auto& [part, operation] : kCustomCommunication) {
    if (Holds(name, part)) {
      return operation;
    }
  }
  return std::nullopt;
}

TensorCoreUse TensorCoreClass(std::string_view kernel_name) {
  const std::string name = LowerAscii(kernel_name);
  const bool marked = HoldsAny(name, kActiveWords) || HoldsShapeNumber(name);
  const bool flash = Holds(name, "flash") && !Holds(name, "combine") && !Holds(name, "rotary");
  const bool scalar =
      HoldsAny(name, kScalarWords) || ((Holds(name, "sgemm") || Holds(name, "dgemm")) && !marked);
  TensorCoreUse use;
  use.active = (marked || flash) && !scalar;
  use.eligible = use.active || marked || HoldsMatrixWord(name);
  return use;
}

std::string_view CommunicationClasses::Operation(StringId name) {
  if (name == StringId::kNone) {
    return {};
  }
  const uint32_t index = Index(name);
  if (index >= entries_.size()) {
    entries_.resize(std::max<size_t>(strings_.size(), index + 1));
  }
  Entry& entry = entries_[index];
  if (!entry.known) {
    entry.known = true;
    entry.operation = CommunicationOperation(strings_.Get(name)).value_or(std::string_view());
  }
  return entry.operation;
}

}  // namespace nsys

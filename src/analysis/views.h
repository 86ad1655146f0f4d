// SPDX-License-Identifier: MIT
// What several skills derive from one trace: computed on first use, kept for the run, so that a
// composition of many skills costs one sweep of each kind. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <typeindex>
#include <utility>
#include <vector>

#include "analysis/window.h"
#include "trace/call_index.h"
#include "trace/kernel_class.h"
#include "trace/nvtx_labels.h"
#include "trace/trace.h"

namespace nsys {

// What a derived value depends on besides the trace.
struct ViewKey {
  std::optional<int64_t> device = {};
  std::optional<Window> window = {};
  std::string text = {};
};

class Views {
 public:
  explicit Views(const Trace& trace)
      : trace_(trace), communication_(trace.strings), labels_(trace.strings) {}
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;

  const Trace& trace() const { return trace_; }

  // For each row of the table, the row of trace.calls that launched it, or kNoCall
  // (trace/launches.h, which says what has to be loaded).
  const std::vector<uint32_t>& KernelCalls();
  const std::vector<uint32_t>& CopyCalls();
  const std::vector<uint32_t>& MemsetCalls();
  const std::vector<uint32_t>& SyncCalls();
  const std::vector<uint32_t>& GraphCalls();

  CommunicationClasses& communication() { return communication_; }
  NormalLabels& labels() { return labels_; }

  // The T that `make()` gives, made at the first call for this key. Analyses offer their shared
  // values through it; two kinds of value under one key need two types. The reference stays valid
  // as long as the views live.
  template <typename T>
  const T& Once(const ViewKey& key, const std::function<T()>& make) {
    std::shared_ptr<void>& slot = made_[Place(std::type_index(typeid(T)), key)];
    if (slot == nullptr) {
      auto value = std::make_shared<T>(make());
      made_[Place(std::type_index(typeid(T)), key)] = value;  // `make` may have moved the slots
      return *value;
    }
    return *static_cast<const T*>(slot.get());
  }

 private:
  using Placed = std::tuple<std::type_index, std::optional<int64_t>,
                            std::optional<std::pair<int64_t, int64_t>>, std::string>;
  static Placed Place(std::type_index type, const ViewKey& key);
  const std::vector<uint32_t>& CallsOf(const GpuEvents& events, std::string name);
  const CallIndex& AllCalls();

  const Trace& trace_;
  CommunicationClasses communication_;
  NormalLabels labels_;
  std::map<Placed, std::shared_ptr<void>> made_;
};

}  // namespace nsys

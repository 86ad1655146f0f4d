// SPDX-License-Identifier: MIT
// Which API calls are drawn, and under which devices.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "perfetto/options.h"
#include "trace/trace.h"

namespace nsys::perfetto {

enum class CallKind : uint8_t {
  kOther,
  kSync,   // cudaDeviceSynchronize or cudaStreamSynchronize, with any suffix of a version
  kWaits,  // another call that returns when the GPU is done: …Synchronize, a blocking …Memcpy…
};

CallKind KindOfCall(std::string_view name);

// The kind of each text of the trace, looked up once per text.
class CallKinds {
 public:
  explicit CallKinds(const Trace& trace);
  CallKind Of(uint32_t call);

 private:
  static constexpr uint8_t kUnknown = 0xFF;
  const Trace& trace_;
  std::vector<uint8_t> by_text_;
};

// Whether a call of this kind is drawn though it launched nothing.
bool IsDrawnUnlinked(CallKind kind, ApiScope scope);

}  // namespace nsys::perfetto

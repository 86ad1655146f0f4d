// SPDX-License-Identifier: MIT
#include "perfetto/calls.h"

namespace nsys::perfetto {

CallKind KindOfCall(std::string_view name) {
  const std::string_view base = name.substr(0, name.find('_'));
  if (base == "cudaDeviceSynchronize" || base == "cudaStreamSynchronize") {
    return CallKind::kSync;
  }
  const bool cuda = base.starts_with("cu");
  const bool copies = base.starts_with("cudaMemcpy") || base.starts_with("cuMemcpy");
  const bool waits = (cuda && base.ends_with("Synchronize")) ||
                     (copies && base.find("Async") == std::string_view::npos);
  return waits ? CallKind::kWaits : CallKind::kOther;
}

CallKinds::CallKinds(const Trace& trace) : trace_(trace) {
  by_text_.assign(trace.strings.size(), kUnknown);
}

CallKind CallKinds::Of(uint32_t call) {
  const StringId name = trace_.calls.name[call];
  if (name == StringId::kNone) {
    return CallKind::kOther;
  }
  uint8_t& known = by_text_[Index(name)];
  if (known == kUnknown) {
    known = static_cast<uint8_t>(KindOfCall(trace_.strings.Get(name)));
  }
  return static_cast<CallKind>(known);
}

bool IsDrawnUnlinked(CallKind kind, ApiScope scope) {
  switch (scope) {
    case ApiScope::kAll:
      return true;
    case ApiScope::kSyncWide:
      return kind != CallKind::kOther;
    default:
      return kind == CallKind::kSync;
  }
}

}  // namespace nsys::perfetto

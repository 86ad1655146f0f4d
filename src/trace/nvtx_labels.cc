// SPDX-License-Identifier: MIT
#include "trace/nvtx_labels.h"

#include <algorithm>

#include "base/text.h"

namespace nsys {
namespace {

// Keys whose value numbers the single range and says nothing about what it does.
constexpr std::string_view kRunningIds[] = {"op_id", "seq"};

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ') {
    ++at;
  }
  return at;
}

// Where `, key = N` that begins at `at` ends, or `at` when nothing of the kind begins there.
size_t EndOfRunningId(std::string_view text, size_t at) {
  if (text[at] != ',') {
    return at;
  }
  const size_t key = SkipBlanks(text, at + 1);
  for (const std::string_view name : kRunningIds) {
    if (!text.substr(key).starts_with(name)) {
      continue;
    }
    size_t end = SkipBlanks(text, key + name.size());
    if (end >= text.size() || text[end] != '=') {
      continue;
    }
    end = SkipBlanks(text, end + 1);
    const size_t digits = end;
    while (end < text.size() && IsDigit(text[end])) {
      ++end;
    }
    if (end > digits) {
      return end;
    }
  }
  return at;
}

// Where the digits of an address that begins at `at` end, or `at`.
size_t EndOfAddress(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("0x") || (at > 0 && IsHexDigit(text[at - 1]))) {
    return at;
  }
  size_t end = at + 2;
  while (end < text.size() && IsHexDigit(text[end])) {
    ++end;
  }
  return end > at + 2 ? end : at;
}

}  // namespace

std::string NormalLabel(std::string_view text) {
  std::string label;
  label.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = EndOfRunningId(text, at); end > at) {
      at = end;
    } else if (const size_t address_end = EndOfAddress(text, at); address_end > at) {
      label += "0x#";
      at = address_end;
    } else {
      label += text[at++];
    }
  }
  return label;
}

StringId NormalLabels::Of(StringId text) {
  if (text == StringId::kNone) {
    return StringId::kNone;
  }
  if (Index(text) >= label_of_.size()) {
    label_of_.resize(std::max<size_t>(strings_.size(), Index(text) + 1), StringId::kNone);
  }
  StringId& label = label_of_[Index(text)];
  if (label == StringId::kNone) {
    label = labels_.Intern(NormalLabel(strings_.Get(text)));
  }
  return label;
}

}  // namespace nsys

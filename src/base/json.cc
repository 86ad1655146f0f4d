// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <cmath>
#include <cstdint>

#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

void AppendUnicodeEscape(std::string& out, uint32_t unit) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += kDigits[(unit >> shift) & 0xF];
  }
}

// Decodes the code point at `at` of valid UTF-8 and moves `at` behind it.
uint32_t NextCodePoint(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) {
    return lead;
  }
  const int extra = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  uint32_t code = lead & (0x3FU >> extra);
  for (int i = 0; i < extra; ++i) {
    code = (code << 6) | (static_cast<uint8_t>(text[at++]) & 0x3FU);
  }
  return code;
}

void AppendEscapedAscii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      break;
  }
  const auto byte = static_cast<uint8_t>(c);
  if (byte < 0x20 || byte == 0x7F) {
    AppendUnicodeEscape(out, byte);
  } else {
    out += c;
  }
}

class Writer {
 public:
  explicit Writer(JsonLayout layout) : layout_(layout) {}

  void Write(const Value& value) {
    if (const bool* flag = value.AsBool()) {
      out_ += *flag ? "true" : "false";
    } else if (const int64_t* integer = value.AsInt()) {
      out_ += std::to_string(*integer);
    } else if (const BigInteger* big = value.AsBigInteger()) {
      out_ += big->digits;
    } else if (const double* real = value.AsDouble()) {
      out_ += std::isfinite(*real) ? FormatDouble(*real) : "null";
    } else if (const std::string* text = value.AsText()) {
      AppendJsonString(out_, *text);
    } else if (const List* list = value.AsList()) {
      WriteItems('[', ']', *list, [this](const Value& item) { Write(item); });
    } else if (const Object* object = value.AsObject()) {
      WriteItems('{', '}', object->entries(), [this](const Object::Entry& entry) {
        AppendJsonString(out_, entry.first);
        out_ += ": ";
        Write(entry.second);
      });
    } else {
      out_ += "null";
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  template <typename Items, typename WriteItem>
  void WriteItems(char open, char close, const Items& items, const WriteItem& write_item) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) {
        out_ += layout_ == JsonLayout::kIndented ? "," : ", ";
      }
      first = false;
      BreakLine();
      write_item(item);
    }
    --depth_;
    if (!first) {
      BreakLine();
    }
    out_ += close;
  }

  void BreakLine() {
    if (layout_ != JsonLayout::kIndented) {
      return;
    }
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  JsonLayout layout_;
  size_t depth_ = 0;
  std::string out_;
};

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  std::string repaired;
  if (!IsValidUtf8(text)) {
    repaired = ToValidUtf8(text);
    text = repaired;
  }
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = NextCodePoint(text, at);
    if (code < 0x80) {
      AppendEscapedAscii(out, static_cast<char>(code));
    } else if (code < 0x10000) {
      AppendUnicodeEscape(out, code);
    } else {
      AppendUnicodeEscape(out, 0xD800 + ((code - 0x10000) >> 10));
      AppendUnicodeEscape(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  out += '"';
}

std::string ToJson(const Value& value, JsonLayout layout) {
  Writer writer(layout);
  writer.Write(value);
  return writer.Take();
}

}  // namespace nsys

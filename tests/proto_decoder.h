// SPDX-License-Identifier: MIT
// Reads a Perfetto trace back for unit tests: fields of messages, and the events with their texts
// and absolute times. Written from the format's definition and independent of what writes it.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace nsys::perfetto {

struct WireField {
  uint32_t number = 0;
  uint64_t value = 0;      // of a number
  std::string_view bytes;  // of a part
};

inline uint64_t ReadVarint(std::string_view& from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (from.empty()) {
      throw std::runtime_error("cut short");
    }
    const auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  throw std::runtime_error("number too long");
}

inline std::vector<WireField> ReadMessage(std::string_view message) {
  std::vector<WireField> fields;
  while (!message.empty()) {
    const uint64_t tag = ReadVarint(message);
    WireField field{.number = static_cast<uint32_t>(tag >> 3), .value = 0, .bytes = {}};
    if ((tag & 7) == 0) {
      field.value = ReadVarint(message);
    } else {
      const uint64_t length = (tag & 7) == 1 ? 8 : ReadVarint(message);
      if (((tag & 7) != 1 && (tag & 7) != 2) || length > message.size()) {
        throw std::runtime_error("bad field");
      }
      field.bytes = message.substr(0, length);
      message.remove_prefix(length);
      for (uint64_t i = 0; (tag & 7) == 1 && i < 8; ++i) {
        field.value |= static_cast<uint64_t>(static_cast<uint8_t>(field.bytes[i])) << (8 * i);
      }
    }
    fields.push_back(field);
  }
  return fields;
}

// The trace as lines, in the order of the file:
//   track <uuid> in <parent>: <name> rank <rank> [counter] [key <merge key>] [about <description>]
//   <sequence> <time> B|E|I|C <uuid> [<category> <name>] [out <flow>]… [in <flow>]…
//   [<arg>=<value>]…
class ProtoDecoder {
 public:
  static std::vector<std::string> Lines(std::string_view trace) {
    ProtoDecoder decoder;
    for (const WireField& packet : ReadMessage(trace)) {
      if (packet.number != 1) {
        throw std::runtime_error("not a packet");
      }
      decoder.Packet(packet.bytes);
    }
    return decoder.lines_;
  }

 private:
  using Texts = std::map<uint64_t, std::string>;
  struct Sequence {
    std::map<uint32_t, Texts> texts;  // by field of InternedData
    uint64_t track = 0;
    uint64_t now = 0;
    uint64_t clock = 0;
  };

  static std::map<uint32_t, WireField> Last(std::string_view message) {
    std::map<uint32_t, WireField> fields;
    for (const WireField& field : ReadMessage(message)) {
      fields[field.number] = field;
    }
    return fields;
  }

  void Packet(std::string_view bytes) {
    auto fields = Last(bytes);
    if (fields.contains(60)) {
      Track(fields[60].bytes);
      return;
    }
    const uint64_t id = fields.at(10).value;
    Sequence& sequence = sequences_[id];
    if ((fields.at(13).value & 1) != 0) {
      sequence = {};
      auto defaults = Last(fields.at(59).bytes);
      sequence.clock = defaults.at(58).value;
      sequence.track = Last(defaults.at(11).bytes).at(11).value;
      if (!fields.contains(6) || !fields.contains(87) || sequence.clock != 64) {
        throw std::runtime_error("no clock");
      }
      return;
    }
    sequence.now += fields.at(8).value;
    if (fields.contains(12)) {
      for (const WireField& text : ReadMessage(fields[12].bytes)) {
        auto about = Last(text.bytes);
        sequence.texts[text.number][about.at(1).value] = about.at(2).bytes;
      }
    }
    Event(id, sequence, fields.at(11).bytes);
  }

  void Track(std::string_view bytes) {
    auto fields = Last(bytes);
    std::string line =
        fmt::format("track {:x} in {:x}: {} rank {}", fields.at(1).value, fields[5].value,
                    fields.at(2).bytes, static_cast<int64_t>(fields.at(12).value));
    line += fields.contains(8) ? " counter" : "";
    line += fields.contains(16) ? fmt::format(" key {}", fields[16].bytes) : "";
    line += fields.contains(14) ? fmt::format(" about {}", fields[14].bytes) : "";
    lines_.push_back(line);
  }

  void Event(uint64_t id, const Sequence& sequence, std::string_view bytes) {
    std::string text;
    std::string name;
    uint64_t type = 0;
    for (const WireField& field : ReadMessage(bytes)) {
      if (field.number == 9) {
        type = field.value;
      } else if (field.number == 3) {
        text += " " + sequence.texts.at(1).at(field.value);
      } else if (field.number == 10) {
        text += " " + sequence.texts.at(2).at(field.value);
      } else if (field.number == 47 || field.number == 48) {
        text += fmt::format(" {} {:x}", field.number == 47 ? "out" : "in", field.value);
      } else if (field.number == 30) {
        text += fmt::format(" {}", static_cast<int64_t>(field.value));
      } else if (field.number == 4) {
        text += " " + Arg(sequence, field.bytes);
      } else {
        throw std::runtime_error("unknown field");
      }
    }
    lines_.push_back(
        fmt::format("{} {} {} {:x}{}", id, sequence.now, "?BEIC"[type], sequence.track, text));
  }

  static std::string Arg(const Sequence& sequence, std::string_view bytes) {
    std::string name;
    std::string value;
    bool list = false;
    for (const WireField& field : ReadMessage(bytes)) {
      switch (field.number) {
        case 1:
          name = sequence.texts.at(3).at(field.value) + "=";
          break;
        case 2:
          value = field.value != 0 ? "true" : "false";
          break;
        case 3:
          value = fmt::format("{}", field.value);
          break;
        case 4:
          value = fmt::format("{}", static_cast<int64_t>(field.value));
          break;
        case 5:
          value = fmt::format("{}", std::bit_cast<double>(field.value));
          break;
        case 6:
          value = field.bytes;
          break;
        case 17:
          value = sequence.texts.at(29).at(field.value);
          break;
        case 12:
          value += (list ? "," : "") + Arg(sequence, field.bytes);
          list = true;
          break;
        default:
          throw std::runtime_error("unknown kind of argument");
      }
    }
    return name + (list ? "[" + value + "]" : value);
  }

  std::map<uint64_t, Sequence> sequences_;
  std::vector<std::string> lines_;
};

}  // namespace nsys::perfetto

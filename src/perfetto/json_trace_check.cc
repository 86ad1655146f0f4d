// SPDX-License-Identifier: MIT
// Reads a JSON trace back. Of 64 bytes at a time, masks of one bit per byte tell where strings are
// and where brackets stand outside of them; only brackets are then looked at one by one.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/gzip_check.h"
#include "perfetto/json_trace.h"

namespace nsys::perfetto {
namespace {

constexpr size_t kChunk = 64;

struct Masks {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t bracket = 0;  // of either shape
  uint64_t control = 0;  // below the blank
};

#if defined(__SSE2__)
Masks MasksOf(const char* bytes) {
  Masks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i block =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + ptrdiff_t{16} * i));
    const auto bits = [i](__m128i hits) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(hits))) << 16 * i;
    };
    const auto equal = [](__m128i x, char c) { return _mm_cmpeq_epi8(x, _mm_set1_epi8(c)); };
    // [ and ] differ from { and } in one bit.
    const __m128i curly = _mm_or_si128(block, _mm_set1_epi8(0x20));
    masks.quote |= bits(equal(block, '"'));
    masks.backslash |= bits(equal(block, '\\'));
    masks.bracket |= bits(_mm_or_si128(equal(curly, '{'), equal(curly, '}')));
    masks.control |= bits(_mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block));
  }
  return masks;
}
#else
Masks MasksOf(const char* bytes) {
  Masks masks;
  for (size_t i = 0; i < kChunk; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    masks.quote |= uint64_t{byte == '"'} << i;
    masks.backslash |= uint64_t{byte == '\\'} << i;
    masks.bracket |= uint64_t{(byte | 0x20) == '{' || (byte | 0x20) == '}'} << i;
    masks.control |= uint64_t{byte < 0x20} << i;
  }
  return masks;
}
#endif

// Bit i of the result: whether an odd number of bits of `mask` is set at or below i.
uint64_t PrefixParity(uint64_t mask) {
  for (int shift = 1; shift < 64; shift *= 2) {
    mask ^= mask << shift;
  }
  return mask;
}

class ArrayChecker {
 public:
  explicit ArrayChecker(const std::string& path) : path_(path) {}

  Status Add(std::string_view piece) {
    while (!piece.empty()) {
      if (held_ == 0 && piece.size() >= kChunk) {
        NSYS_TRY(AddChunk(piece.data()));
        piece.remove_prefix(kChunk);
        continue;
      }
      const size_t taken = std::min(kChunk - held_, piece.size());
      std::memcpy(chunk_.data() + held_, piece.data(), taken);
      held_ += taken;
      piece.remove_prefix(taken);
      if (held_ == kChunk) {
        held_ = 0;
        NSYS_TRY(AddChunk(chunk_.data()));
      }
    }
    return {};
  }

  // At the end of the text.
  Status Finish(int64_t events) {
    const size_t length = at_ + held_;
    if (held_ != 0) {
      std::memset(chunk_.data() + held_, ' ', kChunk - held_);
      NSYS_TRY(AddChunk(chunk_.data()));
    }
    if (in_string_ != 0) {
      return Fault("a string without end", length);
    }
    if (end_ == kNowhere) {
      return Fault("an array without end", length);
    }
    if (newline_ != end_ + 1 || length != end_ + 2) {
      return Fault("something besides a newline behind the array", end_ + 1);
    }
    if (elements_ != events) {
      return Error{
          .code = ErrorCode::kOutput,
          .message = fmt::format("{}: holds {} events and not {}", path_, elements_, events)};
    }
    return {};
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;
  static constexpr unsigned kDeepest = 64;

  Status Fault(std::string_view what, size_t at) const {
    return Error{.code = ErrorCode::kOutput,
                 .message = fmt::format("{}: {} at byte {} of the text", path_, what, at)};
  }

  Status AddChunk(const char* bytes) {
    const Masks masks = MasksOf(bytes);
    uint64_t quotes = masks.quote;
    if (masks.backslash != 0 || escaped_) {
      quotes &= ~EscapedBytes(masks.backslash);
    }
    // A string covers its first quote and what follows up to its last.
    const uint64_t strings = PrefixParity(quotes) ^ in_string_;
    in_string_ = 0 - (strings >> 63);
    if (masks.control != 0) {
      NSYS_TRY(CheckControl(masks.control));
    }
    for (uint64_t left = masks.bracket & ~strings; left != 0; left &= left - 1) {
      const auto place = static_cast<size_t>(std::countr_zero(left));
      const char before = place == 0 ? last_byte_ : bytes[place - 1];
      NSYS_TRY(AddBracket(bytes[place], before, at_ + place));
    }
    if (at_ == 0 && bytes[0] != '[') {
      return Fault("no array", 0);
    }
    last_byte_ = bytes[kChunk - 1];
    at_ += kChunk;
    return {};
  }

  // The bytes behind an odd number of backslashes, which stand for nothing of their own.
  uint64_t EscapedBytes(uint64_t backslash) {
    uint64_t escaped = escaped_ ? 1 : 0;
    // A backslash that is escaped itself escapes nothing; so from each free one to the next.
    for (uint64_t left = backslash & ~escaped; left != 0;) {
      const int place = std::countr_zero(left);
      left &= left - 1;
      if (place == 63) {
        escaped_ = true;
        return escaped;
      }
      const uint64_t next = uint64_t{2} << place;
      escaped |= next;
      left &= ~next;
    }
    escaped_ = false;
    return escaped;
  }

  // The only control character is the newline behind the array.
  Status CheckControl(uint64_t control) {
    const size_t at = at_ + static_cast<size_t>(std::countr_zero(control));
    if (std::popcount(control) != 1 || newline_ != kNowhere) {
      return Fault("a control character", at);
    }
    newline_ = at;
    return {};
  }

  Status AddBracket(char bracket, char before, size_t at) {
    const bool is_curly = (bracket & 0x20) != 0;
    if (bracket == '[' || bracket == '{') {
      return Open(is_curly, before, at);
    }
    if (depth_ == 0 || ((curly_ >> (depth_ - 1) & 1U) != 0) != is_curly) {
      return Fault("a bracket that closes nothing", at);
    }
    --depth_;
    if (depth_ == 0) {
      if (at != last_close_ + 1) {
        return Fault("something besides objects in the array", at);
      }
      end_ = at;
    } else if (depth_ == 1) {
      last_close_ = at;
    }
    return {};
  }

  Status Open(bool is_curly, char before, size_t at) {
    if (depth_ == 0 && at != 0) {
      return Fault("something behind the array", at);
    }
    if (depth_ == kDeepest) {
      return Fault("brackets too deep", at);
    }
    if (depth_ == 1) {
      // last_close_ is 0, the place of the array's bracket, before the first.
      const bool is_next = elements_ == 0 ? at == 1 : (at == last_close_ + 2 && before == ',');
      if (!is_curly || !is_next) {
        return Fault("something besides objects in the array", at);
      }
      ++elements_;
    }
    const uint64_t bit = uint64_t{1} << depth_;
    curly_ = is_curly ? curly_ | bit : curly_ & ~bit;
    ++depth_;
    return {};
  }

  const std::string& path_;
  std::array<char, kChunk> chunk_{};  // what is too short yet
  size_t held_ = 0;                   // bytes in it
  size_t at_ = 0;                     // bytes of the text before
  uint64_t in_string_ = 0;            // all ones when the text so far ends in a string
  bool escaped_ = false;              // whether it ends in a backslash that counts
  char last_byte_ = '\0';
  unsigned depth_ = 0;
  uint64_t curly_ = 0;     // by depth: whether the bracket is curly
  size_t last_close_ = 0;  // of an element
  size_t end_ = kNowhere;  // of the array
  size_t newline_ = kNowhere;
  int64_t elements_ = 0;
};

Status ReadPlain(const std::string& path, ArrayChecker& checker) {
  const auto fault = [&path] {
    return Error{.code = ErrorCode::kOutput,
                 .message = fmt::format("{}: cannot read: {}", path, std::strerror(errno))};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return fault();
  }
  std::vector<char> piece(size_t{256} << 10);
  Status status;
  while (status.ok()) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      status = fault();
    }
    if (got <= 0) {
      break;
    }
    status = checker.Add({piece.data(), static_cast<size_t>(got)});
  }
  ::close(descriptor);
  return status;
}

}  // namespace

Status CheckJsonTrace(const std::string& path, bool gzip, int64_t events) {
  ArrayChecker checker(path);
  if (gzip) {
    NSYS_TRY(ReadGzip(path, [&](std::string_view piece) { return checker.Add(piece); }));
  } else {
    NSYS_TRY(ReadPlain(path, checker));
  }
  return checker.Finish(events);
}

}  // namespace nsys::perfetto

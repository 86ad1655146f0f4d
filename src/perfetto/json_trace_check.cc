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
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/gzip_check.h"
#include "perfetto/json_trace.h"

namespace nsys::perfetto {
namespace {

constexpr size_t kChunk = 64;

struct Masks {
  uint64_t quote = 0;
  uint64_t odd_quotes = 0;  // whether an odd number of quotes stands at or before the byte
  uint64_t backslash = 0;
  uint64_t bracket = 0;  // of either shape
  uint64_t control = 0;  // below the blank
};

// Bit i of the result: whether an odd number of bits of `mask` is set at or below i.
uint64_t PrefixParity(uint64_t mask) {
  for (int shift = 1; shift < 64; shift *= 2) {
    mask ^= mask << shift;
  }
  return mask;
}

// The masks of `count` chunks that follow one another.
using MakeMasks = void (*)(const char* bytes, size_t count, Masks* masks);

void MakeMasksPlain(const char* bytes, size_t count, Masks* masks) {
  for (size_t k = 0; k < count; ++k) {
    Masks& of = masks[k] = {};
    for (size_t i = 0; i < kChunk; ++i) {
      const auto byte = static_cast<uint8_t>(bytes[k * kChunk + i]);
      of.quote |= uint64_t{byte == '"'} << i;
      of.backslash |= uint64_t{byte == '\\'} << i;
      of.bracket |= uint64_t{(byte | 0x20) == '{' || (byte | 0x20) == '}'} << i;
      of.control |= uint64_t{byte < 0x20} << i;
    }
    of.odd_quotes = PrefixParity(of.quote);
  }
}

#if defined(__x86_64__)
struct Halves {
  __m256i low, high;
};

__attribute__((target("avx2"))) inline uint64_t BitsOf(__m256i low, __m256i high) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
         static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high))) << 32;
}

__attribute__((target("avx2"))) inline uint64_t BitsEqual(const Halves& bytes, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  return BitsOf(_mm256_cmpeq_epi8(bytes.low, wanted), _mm256_cmpeq_epi8(bytes.high, wanted));
}

__attribute__((target("avx2,pclmul"))) void MakeMasksAvx2(const char* bytes, size_t count,
                                                          Masks* masks) {
  for (size_t k = 0; k < count; ++k) {
    const auto* at = reinterpret_cast<const __m256i*>(bytes + k * kChunk);
    const Halves block{_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
    Masks& of = masks[k];
    of.quote = BitsEqual(block, '"');
    of.backslash = BitsEqual(block, '\\');
    // [ and ] differ from { and } in one bit.
    const __m256i bit = _mm256_set1_epi8(0x20);
    const Halves curly{_mm256_or_si256(block.low, bit), _mm256_or_si256(block.high, bit)};
    of.bracket = BitsEqual(curly, '{') | BitsEqual(curly, '}');
    const __m256i most = _mm256_set1_epi8(0x1F);
    of.control = BitsOf(_mm256_cmpeq_epi8(_mm256_min_epu8(block.low, most), block.low),
                        _mm256_cmpeq_epi8(_mm256_min_epu8(block.high, most), block.high));
    // Without carries, a product with all ones is the sum modulo 2 of the bits at or below.
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(of.quote)),
                             _mm_set1_epi8(static_cast<char>(0xFF)), 0);
    of.odd_quotes = static_cast<uint64_t>(_mm_cvtsi128_si64(product));
  }
}
#endif

MakeMasks FastestMakeMasks() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("pclmul") != 0) {
    return MakeMasksAvx2;
  }
#endif
  return MakeMasksPlain;
}

class ArrayChecker {
 public:
  explicit ArrayChecker(const std::string& path) : path_(path) {}

  Status Add(std::string_view piece) {
    while (!piece.empty()) {
      if (held_ == 0 && piece.size() >= kChunk) {
        const size_t chunks = std::min(piece.size() / kChunk, kBatch);
        NSYS_TRY(AddChunks(piece.substr(0, chunks * kChunk)));
        piece.remove_prefix(chunks * kChunk);
        continue;
      }
      const size_t taken = std::min(kChunk - held_, piece.size());
      std::memcpy(chunk_.data() + held_, piece.data(), taken);
      held_ += taken;
      piece.remove_prefix(taken);
      if (held_ == kChunk) {
        held_ = 0;
        NSYS_TRY(AddChunks({chunk_.data(), kChunk}));
      }
    }
    return {};
  }

  // At the end of the text.
  Status Finish(int64_t events) {
    const size_t length = at_ + held_;
    if (held_ != 0) {
      std::memset(chunk_.data() + held_, ' ', kChunk - held_);
      NSYS_TRY(AddChunks({chunk_.data(), kChunk}));
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
  static constexpr size_t kBatch = 64;  // chunks whose masks are made at once
  static constexpr size_t kUnguessed = 4;

  Status Fault(std::string_view what, size_t at) const {
    return Error{.code = ErrorCode::kOutput,
                 .message = fmt::format("{}: {} at byte {} of the text", path_, what, at)};
  }

  // `bytes` are whole chunks.
  Status AddChunks(std::string_view bytes) {
    const size_t count = bytes.size() / kChunk;
    make_masks_(bytes.begin(), count, masks_.data());
    size_t found = 0;
    for (size_t k = 0; k < count; ++k) {
      const uint64_t strings = StringsOf(masks_[k]);
      if (masks_[k].control != 0) {
        NSYS_TRY(CheckControl(masks_[k].control, at_ + k * kChunk));
      }
      found += Place(masks_[k].bracket & ~strings, k * kChunk, &brackets_[found]);
    }
    for (size_t i = 0; i < found; ++i) {
      const size_t place = brackets_[i];
      const char before = place == 0 ? last_byte_ : bytes[place - 1];
      NSYS_TRY(AddBracket(bytes[place], before, at_ + place));
    }
    if (at_ == 0 && bytes[0] != '[') {
      return Fault("no array", 0);
    }
    last_byte_ = bytes.back();
    at_ += bytes.size();
    return {};
  }

  // Writes base + the place of each bit of `bits` to `places`, which has room for four more, and
  // gives their number. Most chunks have less than four: what is always done needs no guess of the
  // processor.
  static size_t Place(uint64_t bits, size_t base, uint16_t* places) {
    size_t count = 0;
    for (size_t i = 0; i < kUnguessed; ++i, bits &= bits - 1) {
      places[i] = static_cast<uint16_t>(base + static_cast<size_t>(std::countr_zero(bits)));
      count += bits != 0 ? 1 : 0;
    }
    for (; bits != 0; bits &= bits - 1) {
      places[count++] = static_cast<uint16_t>(base + static_cast<size_t>(std::countr_zero(bits)));
    }
    return count;
  }

  // The bytes of a chunk that are in a string: its first quote and what follows up to its last.
  uint64_t StringsOf(const Masks& masks) {
    uint64_t strings = masks.odd_quotes;
    if (masks.backslash != 0 || escaped_) {
      strings = PrefixParity(masks.quote & ~EscapedBytes(masks.backslash));
    }
    strings ^= in_string_;
    in_string_ = 0 - (strings >> 63);
    return strings;
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
  Status CheckControl(uint64_t control, size_t chunk) {
    const size_t at = chunk + static_cast<size_t>(std::countr_zero(control));
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
  const MakeMasks make_masks_ = FastestMakeMasks();
  std::array<Masks, kBatch> masks_{};
  std::array<uint16_t, kBatch * kChunk + kUnguessed> brackets_{};  // places in a batch
  std::array<char, kChunk> chunk_{};                               // what is too short yet
  size_t held_ = 0;                                                // bytes in it
  size_t at_ = 0;                                                  // bytes of the text before
  uint64_t in_string_ = 0;  // all ones when the text so far ends in a string
  bool escaped_ = false;    // whether it ends in a backslash that counts
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

// SPDX-License-Identifier: MIT
// Text written piece by piece at memory speed: constants, integers, quoted strings, straight into
// the storage of a std::string that only grows when it is full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace nsys {

// Appends to a string. The string is in disorder (longer than its text) while the writer lives.
class TextWriter {
 public:
  // Appends to what `out` holds.
  explicit TextWriter(std::string& out) : TextWriter(out, out.size()) {}
  // Overwrites all of `out`, whose length on entry only tells how much room there is already. So a
  // string that serves again and again is cleared once, when it grows.
  static TextWriter Over(std::string& out) { return {out, 0}; }
  ~TextWriter() {
    if (!keep_room_) {
      out_.resize(size());
    }
  }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  size_t size() const { return static_cast<size_t>(at_ - out_.data()); }
  std::string_view view() const { return {out_.data(), size()}; }
  // Leaves the string as long as its room: for Over, when view() has been used already.
  void KeepRoom() { keep_room_ = true; }

  void Put(char c) {
    Need(1);
    *at_++ = c;
  }
  // A constant.
  template <size_t n>
  void Put(const char (&text)[n]) {
    Need(n - 1);
    std::memcpy(at_, text, n - 1);
    at_ += n - 1;
  }
  void Put(std::string_view text) {
    Need(text.size());
    // Names and ids are short: two copies of a fixed length, which overlap, save the call of
    // memcpy.
    if (text.size() >= 16 && text.size() <= 32) {
      PutOverlapping<16>(text);
    } else if (text.size() >= 8 && text.size() < 16) {
      PutOverlapping<8>(text);
    } else {  // memcpy takes no null, which an empty text has
      std::copy(text.begin(), text.end(), at_);
    }
    at_ += text.size();
  }
  // What was written at [begin, end) once more.
  void PutAgain(size_t begin, size_t end) {
    Need(end - begin);
    std::memcpy(at_, out_.data() + begin, end - begin);
    at_ += end - begin;
  }
  void PutInteger(int64_t value);
  void PutUnsigned(uint64_t value);
  // ns/1000 with one to three places, exact: "0.0", "1721.505", "-2.5".
  void PutMicroseconds(int64_t ns);
  // The shortest decimal text that reads back as `value`, which is finite: "0.0", "3e-06".
  void PutDouble(double value);
  // The inside of a JSON string: `"`, `\` and control characters escaped, the rest as it is.
  void PutEscaped(std::string_view text);
  // With quotes around.
  void PutQuoted(std::string_view text) {
    Put('"');
    PutEscaped(text);
    Put('"');
  }

 private:
  TextWriter(std::string& out, size_t begin);

  // A text of kWidth to 2 * kWidth bytes.
  template <size_t kWidth>
  void PutOverlapping(std::string_view text) {
    const size_t last = text.size() - kWidth;
    std::memcpy(at_, text.data(), kWidth);
    std::memcpy(at_ + last, text.data() + last, kWidth);
  }

  void Need(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) [[unlikely]] {
      Grow(bytes);
    }
  }
  void Grow(size_t bytes);

  std::string& out_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  bool keep_room_ = false;
};

// Whether PutEscaped would change `text`.
bool NeedsEscape(std::string_view text);

}  // namespace nsys

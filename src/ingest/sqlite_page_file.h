// SPDX-License-Identifier: MIT
// An SQLite file as pages: mapped read-only, its header checked. What its trees hold is the
// business of sqlite_btree.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace nsys {

// Numbers of several bytes are stored with the highest byte first.
inline uint32_t BigEndian16(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0] << 8 | bytes[1]);
}

inline uint32_t BigEndian32(const uint8_t* bytes) {
  return BigEndian16(bytes) << 16 | BigEndian16(bytes + 2);
}

class PageFile {
 public:
  // A page is readable for so many bytes beyond its end, whatever stands there.
  static constexpr size_t kSlack = 256;

  // An error says what about the file cannot be read by pages, and leaves the file's name out.
  static Result<PageFile> Open(const std::string& path);

  // Whether pages were asked for that the file has lost meanwhile; they read as zeros.
  bool shrunk() const { return mapping_.shrunk(); }

  uint32_t pages() const { return pages_; }
  uint32_t page_size() const { return page_size_; }
  // The part of a page that SQLite uses itself: extensions may reserve some bytes at its end.
  uint32_t usable() const { return usable_; }
  bool auto_vacuum() const { return auto_vacuum_; }
  // Grows whenever the schema changes.
  uint32_t schema_cookie() const { return schema_cookie_; }

  // Whether a tree may have the page `number`: neither the first page, which no table has that can
  // be named, nor the one that holds locks.
  bool MayHold(uint32_t number) const {
    return number >= 2 && number <= pages_ && number != lock_page_;
  }

  // Tells the system that these pages will not be read again soon, so that they do not count as
  // memory of this process: reading one again is slow, not wrong.
  void Release(std::span<const uint32_t> numbers) const;
  // The same for all pages.
  void ReleaseAll() const { mapping_.Release(0, mapping_.size()); }

  // `number` is one that MayHold.
  const uint8_t* Page(uint32_t number) const {
    if (number == pages_) {
      return last_page_.data();
    }
    return mapping_.bytes() + static_cast<size_t>(number - 1) * page_size_;
  }

 private:
  explicit PageFile(MappedFile mapping) : mapping_(std::move(mapping)) {}
  // What is wrong with the header, or nullptr.
  const char* TakeHeader();

  MappedFile mapping_;
  std::vector<uint8_t> last_page_;  // a copy, for the bytes behind it
  uint32_t pages_ = 0;
  uint32_t page_size_ = 0;
  uint32_t usable_ = 0;
  uint32_t lock_page_ = 0;
  uint32_t schema_cookie_ = 0;
  bool auto_vacuum_ = false;
};

}  // namespace nsys

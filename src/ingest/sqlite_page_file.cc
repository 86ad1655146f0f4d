// SPDX-License-Identifier: MIT
#include "ingest/sqlite_page_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file_descriptor.h"

namespace nsys {
namespace {

constexpr size_t kHeaderBytes = 100;
constexpr uint32_t kSmallestPage = 512;
constexpr uint32_t kLargestPage = 65536;
constexpr uint32_t kSmallestUsable = 480;
constexpr uint32_t kLockByte = 1U << 30;

Error CannotRead(const char* why) {
  return {.code = ErrorCode::kProfile, .message = why, .hint = ""};
}

Result<MappedFile> Map(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.get() < 0 || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return CannotRead("it cannot be opened");
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size < kHeaderBytes) {
    return CannotRead("it has no header");
  }
  MappedFile mapping(file.get(), size);
  if (!mapping.is_mapped()) {
    return CannotRead("it cannot be mapped into memory");
  }
  return mapping;
}

}  // namespace

const char* PageFile::TakeHeader() {
  const uint8_t* header = mapping_.bytes();
  constexpr uint8_t kFractions[] = {64, 32, 32};
  if (std::memcmp(header, "SQLite format 3", 16) != 0 ||
      std::memcmp(header + 21, kFractions, sizeof kFractions) != 0) {
    return "its header is none of SQLite";
  }
  if (header[18] != 1 || header[19] != 1) {
    return "it is in the mode of write-ahead logs";
  }
  const uint32_t stated = BigEndian16(header + 16);
  page_size_ = stated == 1 ? kLargestPage : stated;
  if (page_size_ < kSmallestPage || !std::has_single_bit(page_size_)) {
    return "its page size is impossible";
  }
  usable_ = page_size_ - header[20];
  if (usable_ < kSmallestUsable) {
    return "too much of its pages is reserved";
  }
  const uint32_t format = BigEndian32(header + 44);
  if (format < 1 || format > 4) {
    return "the format of its schema is unknown";
  }
  if (BigEndian32(header + 56) != 1) {
    return "its texts are not UTF-8";
  }
  const uint64_t whole_pages = mapping_.size() / page_size_;
  // The stated count holds when the last writer kept it in step with the change counter.
  const uint32_t count = BigEndian32(header + 28);
  const bool counted = count > 0 && BigEndian32(header + 24) == BigEndian32(header + 92);
  const uint64_t pages = counted ? count : whole_pages;
  if (pages == 0 || pages > whole_pages || pages > UINT32_MAX - 1) {
    return "it is shorter than its header says";
  }
  pages_ = static_cast<uint32_t>(pages);
  lock_page_ = kLockByte / page_size_ + 1;
  auto_vacuum_ = BigEndian32(header + 52) != 0;
  schema_cookie_ = BigEndian32(header + 40);
  return nullptr;
}

void PageFile::Release(std::span<const uint32_t> numbers) const {
  if (numbers.empty()) {
    return;
  }
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  // Pages of other tables lie between them; with too many of those it would cost more than it
  // saves.
  constexpr size_t kMostForeign = 8;
  if ((*most - *least) / kMostForeign > numbers.size()) {
    return;
  }
  mapping_.Release(size_t{*least - 1} * page_size_, size_t{*most} * page_size_);
}

Result<PageFile> PageFile::Open(const std::string& path) {
  NSYS_ASSIGN(MappedFile mapping, Map(path));
  PageFile file(std::move(mapping));
  if (const char* why = file.TakeHeader(); why != nullptr) {
    return CannotRead(why);
  }
  const uint8_t* last = file.mapping_.bytes() + size_t{file.pages_ - 1} * file.page_size_;
  file.last_page_.assign(last, last + file.page_size_);
  file.last_page_.resize(file.page_size_ + kSlack);
  return file;
}

}  // namespace nsys

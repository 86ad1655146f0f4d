// SPDX-License-Identifier: MIT
// Where the bytes of a large output go. Blocks are packed on any thread and taken in their order,
// so that compressing is shared among threads and the bytes never depend on their number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nsys {

// A block on its way out.
struct PackedBlock {
  std::string bytes;    // as they go into the file
  uint64_t length = 0;  // of the block before packing
  uint32_t crc32 = 0;   // of the block before packing, where the format wants it
};

class BlockSink {
 public:
  virtual ~BlockSink() = default;

  // `block` in the form of the file; replaces what `packed` holds. Any thread.
  virtual void Pack(std::string_view block, PackedBlock& packed) const = 0;
  // Appends a block. In order, one thread.
  virtual Status Take(const PackedBlock& packed) = 0;
  // Writes what ends the file and flushes it to disk. Nothing may be taken afterwards.
  virtual Status Finish() = 0;

  // Bytes in the file so far.
  virtual uint64_t file_bytes() const = 0;
  // Bytes taken before packing.
  virtual uint64_t plain_bytes() const = 0;

  // For one who writes from one thread only.
  Status Write(std::string_view block) {
    Pack(block, scratch_);
    return Take(scratch_);
  }

 private:
  PackedBlock scratch_;
};

// Both make the file at `path`, which must not exist. Not finished, the file is incomplete and
// stays; removing it is the caller's business.
Result<std::unique_ptr<BlockSink>> OpenPlainSink(const std::string& path);

// One gzip member (RFC 1952) without name or time, so that the same text gives the same file.
// Blocks are deflated independently (ISA-L level 1), best of about 1 MiB. Members are never
// concatenated: browsers read the first only.
Result<std::unique_ptr<BlockSink>> OpenGzipSink(const std::string& path);

}  // namespace nsys

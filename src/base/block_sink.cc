// SPDX-License-Identifier: MIT
#include "base/block_sink.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>
#include <isa-l.h>
#include <zlib.h>

namespace nsys {
namespace {

Error WriteError(const std::string& path, int code) {
  return {.code = ErrorCode::kOutput,
          .message = fmt::format("cannot write {}: {}", path, std::strerror(code)),
          .hint = "check the free space and the permissions there"};
}

// A new file that bytes are appended to.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  ~NewFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status Open() {
    constexpr mode_t kMode = 0666;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    return descriptor_ < 0 ? Status(WriteError(path_, errno)) : Status();
  }

  Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        return WriteError(path_, errno);
      }
      bytes.remove_prefix(static_cast<size_t>(written));
      size_ += static_cast<uint64_t>(written);
    }
    return {};
  }

  Status Finish() {
    if (::fsync(descriptor_) != 0) {
      return WriteError(path_, errno);
    }
    return ::close(std::exchange(descriptor_, -1)) != 0 ? Status(WriteError(path_, errno))
                                                        : Status();
  }

  uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

class PlainSink : public BlockSink {
 public:
  explicit PlainSink(const std::string& path) : file_(path) {}
  Status Open() { return file_.Open(); }

  void Pack(std::string_view block, PackedBlock& packed) const override {
    packed.bytes.assign(block);
    packed.length = block.size();
  }
  Status Take(const PackedBlock& packed) override { return file_.Write(packed.bytes); }
  Status Finish() override { return file_.Finish(); }
  uint64_t file_bytes() const override { return file_.size(); }
  uint64_t plain_bytes() const override { return file_.size(); }

 private:
  NewFile file_;
};

// What one thread needs to deflate blocks; too large to be set up for each.
struct Deflater {
  isal_zstream stream{};
  std::vector<uint8_t> level_buffer = std::vector<uint8_t>(ISAL_DEF_LVL1_LARGE);
  std::vector<uint8_t> out = std::vector<uint8_t>(size_t{256} << 10);
};

// ISA-L enters the first byte of a stream by a path of its own, which takes the address of the
// stream for the text that follows: what it finds for the third byte then depends on where memory
// happens to be, and equal texts are now and then packed into different, equally right bytes. Given
// so many bytes and no flush, it goes no farther than that first byte, and comes to the second by
// the usual path.
constexpr size_t kFirstBytes = ISAL_LOOK_AHEAD + 1;

// Packs `text` (at most 32 bits of it) behind what the stream has.
void Feed(Deflater& deflater, std::string_view text, uint16_t flush, std::string& bytes) {
  isal_zstream& stream = deflater.stream;
  stream.flush = flush;
  // isal_zstream has no const.
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  do {
    stream.next_out = deflater.out.data();
    stream.avail_out = static_cast<uint32_t>(deflater.out.size());
    isal_deflate(&stream);
    bytes.append(reinterpret_cast<const char*>(deflater.out.data()),
                 deflater.out.size() - stream.avail_out);
  } while (stream.avail_out == 0);
}

// A block as it is, behind its length and the complement of that.
void Store(std::string_view block, std::string& bytes) {
  const auto length = static_cast<uint16_t>(block.size());
  bytes += '\0';  // not the last block, not packed, the rest of the byte unused
  for (const uint16_t number : {length, static_cast<uint16_t>(~length)}) {
    bytes += static_cast<char>(number & 0xFF);
    bytes += static_cast<char>(number >> 8);
  }
  bytes += block;
}

void Deflate(std::string_view block, std::string& bytes) {
  if (block.empty()) {
    return;
  }
  if (block.size() <= kFirstBytes) {
    Store(block, bytes);
    return;
  }
  thread_local Deflater deflater;
  isal_zstream& stream = deflater.stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_DEFLATE;
  stream.level = 1;
  stream.level_buf = deflater.level_buffer.data();
  stream.level_buf_size = static_cast<uint32_t>(deflater.level_buffer.size());
  stream.end_of_stream = 0;
  Feed(deflater, block.substr(0, kFirstBytes), NO_FLUSH, bytes);
  block.remove_prefix(kFirstBytes);
  constexpr size_t kMostAtOnce = size_t{1} << 30;
  while (!block.empty()) {
    const std::string_view part = block.substr(0, kMostAtOnce);
    block.remove_prefix(part.size());
    Feed(deflater, part, SYNC_FLUSH, bytes);  // ends on a whole byte
  }
}

class GzipSink : public BlockSink {
 public:
  explicit GzipSink(const std::string& path) : file_(path) {}
  Status Open() {
    constexpr std::string_view kHeader("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);  // no name, no time
    NSYS_TRY(file_.Open());
    return file_.Write(kHeader);
  }

  void Pack(std::string_view block, PackedBlock& packed) const override {
    packed.bytes.clear();
    packed.length = block.size();
    packed.crc32 =
        crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(block.data()), block.size());
    Deflate(block, packed.bytes);
  }

  Status Take(const PackedBlock& packed) override {
    NSYS_TRY(file_.Write(packed.bytes));
    crc32_ = static_cast<uint32_t>(
        crc32_combine(crc32_, packed.crc32, static_cast<z_off_t>(packed.length)));
    plain_bytes_ += packed.length;
    return {};
  }

  Status Finish() override {
    // An empty last block of fixed codes, then checksum and length, lowest byte first.
    std::string trailer("\x03\0", 2);
    for (const uint32_t word : {crc32_, static_cast<uint32_t>(plain_bytes_)}) {
      for (int shift = 0; shift < 32; shift += 8) {
        trailer.push_back(static_cast<char>(word >> shift & 0xFF));
      }
    }
    NSYS_TRY(file_.Write(trailer));
    return file_.Finish();
  }

  uint64_t file_bytes() const override { return file_.size(); }
  uint64_t plain_bytes() const override { return plain_bytes_; }

 private:
  NewFile file_;
  uint32_t crc32_ = 0;
  uint64_t plain_bytes_ = 0;
};

template <typename Sink>
Result<std::unique_ptr<BlockSink>> OpenSink(const std::string& path) {
  auto sink = std::make_unique<Sink>(path);
  NSYS_TRY(sink->Open());
  return std::unique_ptr<BlockSink>(std::move(sink));
}

}  // namespace

Result<std::unique_ptr<BlockSink>> OpenPlainSink(const std::string& path) {
  return OpenSink<PlainSink>(path);
}

Result<std::unique_ptr<BlockSink>> OpenGzipSink(const std::string& path) {
  return OpenSink<GzipSink>(path);
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "base/gzip_check.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>
#include <isa-l.h>

namespace nsys {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;

Error ReadError(const std::string& path, std::string_view what) {
  return {.code = ErrorCode::kOutput, .message = fmt::format("{}: {}", path, what)};
}

class GzipReader {
 public:
  explicit GzipReader(const std::string& path) : path_(path) {}
  ~GzipReader() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  Status Open() {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      return ReadError(path_, fmt::format("cannot read: {}", std::strerror(errno)));
    }
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;  // header, checksum and length are checked
    return {};
  }

  // Inflates the next piece; empty when there is no more.
  Result<std::string_view> Next() {
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      return std::string_view();
    }
    state_.next_out = out_.data();
    state_.avail_out = static_cast<uint32_t>(out_.size());
    while (state_.avail_out != 0 && state_.block_state != ISAL_BLOCK_FINISH) {
      if (state_.avail_in == 0) {
        NSYS_TRY(Refill());
      }
      const bool is_end = state_.avail_in == 0;
      const uint32_t room = state_.avail_out;
      NSYS_TRY(Inflate());  // at the end too: it may hold back what had no room before
      if (is_end && state_.avail_out == room && state_.block_state != ISAL_BLOCK_FINISH) {
        return ReadError(path_, "the gzip stream is cut short");
      }
    }
    return std::string_view(reinterpret_cast<const char*>(out_.data()),
                            out_.size() - state_.avail_out);
  }

  // To be called at the end: nothing may follow.
  Status CheckEnd() {
    if (state_.avail_in == 0) {
      NSYS_TRY(Refill());
    }
    return state_.avail_in != 0
               ? Status(ReadError(path_, "bytes follow the end of the gzip stream"))
               : Status();
  }

 private:
  Status Refill() {
    ssize_t got = 0;
    do {
      got = ::read(descriptor_, in_.data(), in_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      return ReadError(path_, fmt::format("cannot read: {}", std::strerror(errno)));
    }
    state_.next_in = in_.data();
    state_.avail_in = static_cast<uint32_t>(got);
    return {};
  }

  Status Inflate() {
    switch (isal_inflate(&state_)) {
      case ISAL_DECOMP_OK:
      case ISAL_END_INPUT:
        return {};
      case ISAL_INVALID_WRAPPER:
      case ISAL_UNSUPPORTED_METHOD:
        return ReadError(path_, "is no gzip file");
      case ISAL_INCORRECT_CHECKSUM:
        return ReadError(path_, "the checksum or the length of the gzip stream is wrong");
      default:
        return ReadError(path_, "the gzip stream is damaged");
    }
  }

  const std::string& path_;
  int descriptor_ = -1;
  inflate_state state_{};
  std::vector<uint8_t> in_ = std::vector<uint8_t>(kPieceBytes);
  std::vector<uint8_t> out_ = std::vector<uint8_t>(kPieceBytes);
};

}  // namespace

Status ReadGzip(const std::string& path,
                const std::function<Status(std::string_view piece)>& take) {
  const auto reader = std::make_unique<GzipReader>(path);  // too large for the stack of a thread
  NSYS_TRY(reader->Open());
  for (;;) {
    NSYS_ASSIGN(const std::string_view piece, reader->Next());
    if (piece.empty()) {
      return reader->CheckEnd();
    }
    NSYS_TRY(take(piece));
  }
}

}  // namespace nsys

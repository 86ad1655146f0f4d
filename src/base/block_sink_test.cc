// SPDX-License-Identifier: MIT
#include "base/block_sink.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/gzip_check.h"
#include "base/ordered_blocks.h"

namespace nsys {
namespace {

class BlockSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("nsys_block_sink_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string Bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void Save(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  // What zlib, which knows nothing of how the file was made, reads from it.
  static std::string Gunzip(const std::string& path) {
    std::string text;
    gzFile file = ::gzopen(path.c_str(), "rb");
    std::vector<char> piece(1 << 16);
    int got = 0;
    while ((got = ::gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
      text.append(piece.data(), static_cast<size_t>(got));
    }
    EXPECT_EQ(got, 0);
    EXPECT_EQ(::gzclose(file), Z_OK);
    return text;
  }

  // The text that ReadGzip gives, or the message of its error.
  static std::string Read(const std::string& path) {
    std::string text;
    const Status status = ReadGzip(path, [&](std::string_view piece) {
      text += piece;
      return Status();
    });
    if (status.ok()) {
      return text;
    }
    EXPECT_EQ(status.error().code, ErrorCode::kOutput);
    EXPECT_TRUE(status.error().message.starts_with(path)) << status.error().message;
    return "error" + status.error().message.substr(path.size());
  }

  // A gzip file of `blocks`.
  std::string Gzip(const std::string& name, const std::vector<std::string>& blocks) const {
    auto opened = OpenGzipSink(Path(name));
    EXPECT_TRUE(opened.ok());
    BlockSink& sink = *opened.value();
    size_t length = 0;
    for (const std::string& block : blocks) {
      EXPECT_TRUE(sink.Write(block).ok());
      length += block.size();
    }
    EXPECT_TRUE(sink.Finish().ok());
    EXPECT_EQ(sink.plain_bytes(), length);
    EXPECT_EQ(sink.file_bytes(), std::filesystem::file_size(Path(name)));
    return Path(name);
  }

  std::filesystem::path folder_;
};

std::string Noise(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(random()));
  }
  return text;
}

TEST_F(BlockSinkTest, PlainSinkWritesBlocksAsTheyAre) {
  auto opened = OpenPlainSink(Path("a"));
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(opened.value()->Write("one,").ok());
  ASSERT_TRUE(opened.value()->Write("").ok());
  ASSERT_TRUE(opened.value()->Write(std::string_view("t\0o", 3)).ok());
  EXPECT_EQ(opened.value()->plain_bytes(), 7U);
  EXPECT_EQ(opened.value()->file_bytes(), 7U);
  ASSERT_TRUE(opened.value()->Finish().ok());
  EXPECT_EQ(Bytes(Path("a")), std::string("one,t\0o", 7));
}

// ISA-L has to know the third byte of a block as it knows the first. Where it looks for it by the
// address of its own state, equal blocks get other bytes in one process of some thousands.
TEST_F(BlockSinkTest, TheBeginOfABlockIsFoundAgain) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const auto packed_bytes = [&](size_t from) {
      std::string text = Noise(1000, seed);
      const std::string part = text.substr(from, 8);
      for (size_t i = 0; i < 60; ++i) {
        text.replace(400 + 9 * i, part.size(), part);
      }
      const std::string path = Gzip(std::to_string(seed) + "_" + std::to_string(from), {text});
      EXPECT_EQ(Gunzip(path), text);
      return std::filesystem::file_size(path);
    };
    EXPECT_EQ(packed_bytes(2), packed_bytes(0)) << seed;
  }
}

TEST_F(BlockSinkTest, BlocksOfEverySizeComeBack) {
  std::vector<std::string> blocks;
  std::string text;
  for (const size_t bytes : {0, 1, 2, 17, 18, 288, 289, 290, 291, 577, 1000, 70000, 1, 0, 289}) {
    blocks.push_back(Noise(bytes / 2, 7) + std::string(bytes - bytes / 2, 'x'));
    text += blocks.back();
  }
  EXPECT_EQ(Gunzip(Gzip("sizes", blocks)), text);
  EXPECT_EQ(Read(Path("sizes")), text);
}

TEST_F(BlockSinkTest, FilesGetThePermissionsOfTheUmask) {
  const mode_t old = ::umask(027);
  ASSERT_TRUE(OpenPlainSink(Path("a")).ok());
  ::umask(old);
  struct stat status{};
  ASSERT_EQ(::stat(Path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_F(BlockSinkTest, ExistingFileIsAnErrorAndStays) {
  Save(Path("a"), "old");
  for (const auto open : {OpenPlainSink, OpenGzipSink}) {
    const auto opened = open(Path("a"));
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kOutput);
    EXPECT_EQ(opened.error().message, "cannot write " + Path("a") + ": File exists");
  }
  EXPECT_EQ(Bytes(Path("a")), "old");
  const auto nowhere = OpenGzipSink(Path("no/a"));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message,
            "cannot write " + Path("no/a") + ": No such file or directory");
}

TEST_F(BlockSinkTest, FullDiskIsAnErrorOfTake) {
  auto opened = OpenPlainSink(Path("a"));
  ASSERT_TRUE(opened.ok());
  struct rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  struct rlimit small = old;
  small.rlim_cur = 1000;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status first = opened.value()->Write(std::string(900, 'x'));
  const Status second = opened.value()->Write(std::string(900, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(first.ok());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kOutput);
  EXPECT_EQ(second.error().message, "cannot write " + Path("a") + ": File too large");
}

TEST_F(BlockSinkTest, GzipSinkMakesOneMemberThatZlibReads) {
  const std::string text(3'000'000, 'a');
  const std::string noise = Noise(700'000, 1);
  const std::string path = Gzip("a", {text, "", noise, "end"});
  EXPECT_EQ(Gunzip(path), text + noise + "end");
  EXPECT_EQ(Read(path), text + noise + "end");
  // zlib would read a second member too: the trailer has to speak for the whole text.
  const std::string bytes = Bytes(path);
  const auto word = [&](size_t from_end) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) {
      value |= uint32_t{static_cast<uint8_t>(bytes[bytes.size() - from_end + i])} << 8 * i;
    }
    return value;
  };
  const std::string whole = text + noise + "end";
  EXPECT_EQ(word(4), whole.size());
  EXPECT_EQ(word(8), ::crc32(0, reinterpret_cast<const Bytef*>(whole.data()),
                             static_cast<uInt>(whole.size())));
}

TEST_F(BlockSinkTest, EmptyGzipFileIsWhole) {
  const std::string path = Gzip("a", {});
  EXPECT_EQ(Gunzip(path), "");
  EXPECT_EQ(Read(path), "");
  EXPECT_EQ(Bytes(path).size(), 20U);
}

TEST_F(BlockSinkTest, GzipBytesDependOnTheBlocksOnly) {
  std::vector<std::string> blocks;
  for (unsigned i = 0; i < 40; ++i) {
    blocks.push_back(Noise(i * 100, i) + std::string(5000, 'z'));
  }
  const std::string alone = Bytes(Gzip("alone", blocks));
  for (const int threads : {1, 2, 7}) {
    const std::string path = Path("with" + std::to_string(threads));
    auto opened = OpenGzipSink(path);
    ASSERT_TRUE(opened.ok());
    BlockSink& sink = *opened.value();
    const Status status = OrderedBlocks<PackedBlock>::Run(
        blocks.size(), threads,
        [&](size_t block, PackedBlock& packed) {
          sink.Pack(blocks[block], packed);
          return Status();
        },
        [&](size_t, PackedBlock& packed) { return sink.Take(packed); });
    ASSERT_TRUE(status.ok());
    ASSERT_TRUE(sink.Finish().ok());
    EXPECT_EQ(Bytes(path), alone) << threads;
  }
}

TEST_F(BlockSinkTest, ReadGzipTakesTextOfEverySize) {
  // Around the size of its pieces, where text may be held back inside the inflater.
  for (const size_t bytes : {262143, 262144, 262145, 524288, 524289}) {
    const std::string text = Noise(1000, 3) + std::string(bytes - 1000, 'b');
    EXPECT_EQ(Read(Gzip(std::to_string(bytes), {text})), text) << bytes;
  }
}

TEST_F(BlockSinkTest, ReadGzipReadsFilesOfOthers) {
  const std::string text = Noise(100'000, 5) + std::string(900'000, 'c');
  gzFile file = ::gzopen(Path("a").c_str(), "wb9");
  ASSERT_EQ(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())), 1'000'000);
  ASSERT_EQ(::gzclose(file), Z_OK);
  EXPECT_EQ(Read(Path("a")), text);
}

TEST_F(BlockSinkTest, ReadGzipRefusesEveryCutFile) {
  const std::string bytes = Bytes(Gzip("whole", {std::string(300, 'a') + Noise(100, 2)}));
  for (size_t length = 0; length < bytes.size(); ++length) {
    Save(Path("cut"), bytes.substr(0, length));
    EXPECT_EQ(Read(Path("cut")), "error: the gzip stream is cut short") << length;
  }
}

TEST_F(BlockSinkTest, ReadGzipRefusesBytesBehindTheEnd) {
  const std::string bytes = Bytes(Gzip("whole", {std::string(300, 'a') + Noise(100, 2)}));
  for (const size_t extra : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 20U, 300'000U}) {
    Save(Path("long"), bytes + std::string(extra, '\0'));
    EXPECT_EQ(Read(Path("long")), "error: bytes follow the end of the gzip stream") << extra;
  }
  Save(Path("two"), bytes + bytes);
  EXPECT_EQ(Read(Path("two")), "error: bytes follow the end of the gzip stream");
}

TEST_F(BlockSinkTest, ReadGzipRefusesWhatIsDamaged) {
  const std::string bytes = Bytes(Gzip("whole", {Noise(5000, 2)}));
  const auto with_flip = [&](size_t at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Save(Path("damaged"), damaged);
    return Read(Path("damaged"));
  };
  EXPECT_EQ(with_flip(0), "error: is no gzip file");
  EXPECT_EQ(with_flip(2), "error: is no gzip file");
  const std::string wrong = "error: the checksum or the length of the gzip stream is wrong";
  EXPECT_EQ(with_flip(bytes.size() - 1), wrong);
  EXPECT_EQ(with_flip(bytes.size() - 8), wrong);
  EXPECT_TRUE(with_flip(2500).starts_with("error: the ")) << with_flip(2500);
  EXPECT_EQ(Read(Path("absent")), "error: cannot read: No such file or directory");
}

TEST_F(BlockSinkTest, ReadGzipStopsWhenTheTextIsRefused) {
  const std::string path = Gzip("a", {std::string(2'000'000, 'a')});
  int pieces = 0;
  const Status status = ReadGzip(path, [&](std::string_view) {
    ++pieces;
    return Status(Error{.code = ErrorCode::kOutput, .message = "no"});
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "no");
  EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace nsys

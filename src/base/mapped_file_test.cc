// SPDX-License-Identifier: MIT
#include "base/mapped_file.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

namespace nsys {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  static constexpr size_t kBytes = size_t{64} << 10;

  MappedFileTest() : path_((std::filesystem::temp_directory_path() / "nsys-ai-XXXXXX").string()) {
    fd_ = ::mkstemp(path_.data());
    const std::string content(kBytes, 'x');
    EXPECT_EQ(::write(fd_, content.data(), kBytes), static_cast<ssize_t>(kBytes));
  }
  ~MappedFileTest() override {
    ::close(fd_);
    ::unlink(path_.c_str());
  }

  void Truncate(size_t bytes) const { ASSERT_EQ(::ftruncate(fd_, static_cast<off_t>(bytes)), 0); }

  static size_t Sum(const MappedFile& file) {
    size_t sum = 0;
    for (size_t i = 0; i < file.size(); ++i) {
      sum += file.bytes()[i];
    }
    return sum;
  }

  std::string path_;
  int fd_ = -1;
};

TEST_F(MappedFileTest, ShowsTheFile) {
  const MappedFile file(fd_, kBytes);
  ASSERT_TRUE(file.is_mapped());
  EXPECT_EQ(Sum(file), kBytes * 'x');
  EXPECT_FALSE(file.shrunk());
}

TEST_F(MappedFileTest, ReadsZerosForLostPagesAndTells) {
  MappedFile file(fd_, kBytes);
  Truncate(kBytes / 2);
  EXPECT_FALSE(file.shrunk());
  EXPECT_EQ(Sum(file), kBytes / 2 * 'x');
  EXPECT_TRUE(file.shrunk());
  const MappedFile moved(std::move(file));
  EXPECT_TRUE(moved.shrunk());
  Truncate(kBytes);
  EXPECT_TRUE(moved.shrunk());
}

TEST_F(MappedFileTest, IsTheSameAfterARelease) {
  const MappedFile file(fd_, kBytes);
  EXPECT_EQ(Sum(file), kBytes * 'x');
  file.Release(0, kBytes);
  file.Release(100, 2 * kBytes);
  EXPECT_EQ(Sum(file), kBytes * 'x');
  EXPECT_FALSE(file.shrunk());
}

TEST_F(MappedFileTest, TellsOfNoOtherMapping) {
  const std::optional<MappedFile> shrunk(std::in_place, fd_, kBytes);
  Truncate(0);
  EXPECT_EQ(Sum(*shrunk), 0U);
  Truncate(kBytes);
  const MappedFile later(fd_, kBytes);
  EXPECT_EQ(Sum(later), 0U);
  EXPECT_TRUE(shrunk->shrunk());
  EXPECT_FALSE(later.shrunk());
}

TEST_F(MappedFileTest, ServesManyThreads) {
  const MappedFile file(fd_, kBytes);
  Truncate(4096);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { EXPECT_EQ(Sum(file), size_t{4096} * 'x'); });
    }
  }
  EXPECT_TRUE(file.shrunk());
}

TEST_F(MappedFileTest, HasAnEndToItsNumber) {
  std::vector<MappedFile> files;
  while (files.size() < 1000 && (files.empty() || files.back().is_mapped())) {
    files.emplace_back(fd_, kBytes);
  }
  EXPECT_LT(files.size(), 1000U);
  files.clear();
  EXPECT_TRUE(MappedFile(fd_, kBytes).is_mapped());
}

using MappedFileDeathTest = MappedFileTest;

TEST_F(MappedFileDeathTest, LeavesOtherFaultsAlone) {
  const MappedFile file(fd_, kBytes);
  EXPECT_DEATH(std::raise(SIGBUS), "");
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "base/folder_lock.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace nsys {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class FolderLockTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "folder-lock-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_;
};

TEST_F(FolderLockTest, OneHolderAndNothingLeftBehind) {
  {
    const auto lock = FolderLock::Take(folder_, milliseconds(0));
    ASSERT_TRUE(lock.ok());
    EXPECT_FALSE(FolderLock::Take(folder_, milliseconds(30)).ok());
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_TRUE(FolderLock::Take(folder_, milliseconds(0)).ok());
}

TEST_F(FolderLockTest, FreeWhenItsHolderWasKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::Take(folder_, milliseconds(0));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(fs::is_empty(folder_));
  EXPECT_TRUE(FolderLock::Take(folder_, milliseconds(0)).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(FolderLockTest, ALinkIsNotFollowed) {
  fs::create_symlink(folder_ + "/elsewhere", folder_ + "/" + std::string(kFolderLockName));
  EXPECT_FALSE(FolderLock::Take(folder_, milliseconds(0)).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/elsewhere"));
}

TEST_F(FolderLockTest, UnfinishedThingsAreRemoved) {
  fs::create_directories(folder_ + "/half/deep");
  std::ofstream(folder_ + "/half/deep/file") << "x";
  std::ofstream(folder_ + "/part") << "x";
  std::ofstream(folder_ + "/done") << "x";
  const pid_t child = ::fork();
  if (child == 0) {
    const Unfinished half(folder_ + "/half");
    const Unfinished part(folder_ + "/part");
    {
      const Unfinished done(folder_ + "/done");
    }
    RemoveUnfinished();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(fs::exists(folder_ + "/half"));
  EXPECT_FALSE(fs::exists(folder_ + "/part"));
  EXPECT_TRUE(fs::exists(folder_ + "/done"));
}

}  // namespace
}  // namespace nsys

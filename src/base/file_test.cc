// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace nsys {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "nsys-ai-file-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  size_t Entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(FileTest, ReplacesAFileWholeAndKeepsItsPermissions) {
  std::ofstream(Path("x")) << "old";
  ::chmod(Path("x").c_str(), 0600);
  EXPECT_TRUE(WriteFileAtomically(Path("x"), "new").ok());
  EXPECT_EQ(Read(Path("x")), "new");
  EXPECT_EQ(fs::status(Path("x")).permissions(), fs::perms(0600));
  EXPECT_EQ(Entries(), 1U) << "no temporary name is left";
}

TEST_F(FileTest, FollowsALinkInsteadOfReplacingIt) {
  std::ofstream(Path("target")) << "old";
  fs::create_symlink("target", Path("link"));
  EXPECT_TRUE(WriteFileAtomically(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Read(Path("target")), "new");
}

TEST_F(FileTest, WritesIntoWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const int keep_open = ::open(Path("pipe").c_str(), O_RDWR);
  EXPECT_TRUE(WriteFileAtomically(Path("pipe"), "text").ok());
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
  char got[4] = {};
  EXPECT_EQ(::read(keep_open, got, 4), 4);
  EXPECT_EQ(std::string(got, 4), "text");
  ::close(keep_open);
}

TEST_F(FileTest, RefusesFoldersAndMissingFolders) {
  EXPECT_FALSE(WriteFileAtomically(folder_.string(), "x").ok());
  EXPECT_FALSE(WriteFileAtomically(Path("none/x"), "x").ok());
  EXPECT_EQ(Entries(), 0U);
}

TEST_F(FileTest, ReadsRegularFilesUpToASize) {
  std::ofstream(Path("a")) << "12345";
  fs::create_symlink("a", Path("link"));
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const auto read = [&](const std::string& name, size_t most) {
    return ReadFile(Path(name), most, ErrorCode::kSkill);
  };
  EXPECT_EQ(read("a", 5).value(), "12345");
  EXPECT_EQ(read("link", 5).value(), "12345");
  for (const char* name : {"pipe", "", "none", "a/b"}) {
    EXPECT_FALSE(read(name, 5).ok()) << name;
  }
  ASSERT_FALSE(read("a", 4).ok());
  EXPECT_EQ(read("a", 4).error().code, ErrorCode::kSkill);
}

TEST_F(FileTest, KnowsWhatWouldOverwriteACapture) {
  std::ofstream(Path("a")) << "capture";
  fs::create_symlink("a", Path("b"));
  fs::create_hard_link(Path("a"), Path("c"));
  fs::create_directory(Path("folder"));
  EXPECT_TRUE(IsSameFileOrInside(Path("a"), Path("a")));
  EXPECT_TRUE(IsSameFileOrInside(Path("b"), Path("a")));
  EXPECT_TRUE(IsSameFileOrInside(Path("c"), Path("a")));
  EXPECT_TRUE(IsSameFileOrInside(Path("folder/x.parquet"), Path("folder")));
  EXPECT_TRUE(IsSameFileOrInside(Path("folder/../a"), Path("a")));
  EXPECT_FALSE(IsSameFileOrInside(Path("d"), Path("a")));
  EXPECT_FALSE(IsSameFileOrInside(Path("folder2"), Path("folder")));
}

}  // namespace
}  // namespace nsys

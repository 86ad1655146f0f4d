// SPDX-License-Identifier: MIT
#include "ingest/input_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace nsys {
namespace {

namespace fs = std::filesystem;

class InputFilesTest : public testing::Test {
 protected:
  InputFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "nsys-ai-input-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    Write("a", "first");
  }
  ~InputFilesTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }

  fs::path folder_;
};

TEST_F(InputFilesTest, AreTheSameUntilSomebodyWrites) {
  InputFiles files;
  files.Add(Path("a"));
  EXPECT_TRUE(files.CheckUnchanged().ok());
  Write("a", "other");  // as long, and right after it was stamped
  const Status status = files.CheckUnchanged();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kProfile);
  EXPECT_EQ(status.error().message, Path("a") + " changed while it was read");
  EXPECT_FALSE(status.error().hint.empty());
}

TEST_F(InputFilesTest, AreNotThoseThatReplaceThem) {
  InputFiles files;
  files.Add(Path("a"));
  Write("b", "first");
  fs::last_write_time(Path("b"), fs::last_write_time(Path("a")));
  fs::rename(Path("b"), Path("a"));
  EXPECT_FALSE(files.CheckUnchanged().ok());
}

TEST_F(InputFilesTest, ComeAndGo) {
  InputFiles files;
  files.Add(Path("a"));
  fs::remove(Path("a"));
  EXPECT_FALSE(files.CheckUnchanged().ok());
  InputFiles missing;
  missing.Add(Path("a"));
  EXPECT_TRUE(missing.CheckUnchanged().ok());
  Write("a", "first");
  EXPECT_FALSE(missing.CheckUnchanged().ok());
}

TEST_F(InputFilesTest, AreWhatLinksLeadTo) {
  Write("b", "first");
  fs::create_symlink(Path("a"), Path("link"));
  InputFiles files;
  files.Add(Path("link"));
  EXPECT_TRUE(files.CheckUnchanged().ok());
  fs::remove(Path("link"));
  fs::create_symlink(Path("b"), Path("link"));
  EXPECT_FALSE(files.CheckUnchanged().ok());
}

}  // namespace
}  // namespace nsys

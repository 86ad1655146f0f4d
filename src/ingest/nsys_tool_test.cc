// SPDX-License-Identifier: MIT
#include "ingest/nsys_tool.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace nsys {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr const char* kTarget = "target-linux-sbsa-armv8";
constexpr const char* kOtherTarget = "target-linux-x64";
#else
constexpr const char* kTarget = "target-linux-x64";
constexpr const char* kOtherTarget = "target-linux-sbsa-armv8";
#endif

class NsysToolTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "nsys-tool-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    root_ = folder;
    ::unsetenv("NSYS");
    const char* path = std::getenv("PATH");
    path_ = path == nullptr ? "" : path;
    ::setenv("PATH", (root_ + "/path").c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(root_);
  }

  std::string Install(const std::string& place, bool program = true) {
    const fs::path path = root_ + place;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, program ? fs::perms::owner_all : fs::perms::owner_read);
    return path.string();
  }
  std::string Found() {
    const auto found = FindNsys(root_);
    EXPECT_TRUE(found.ok());
    return found.ok() ? found.value() : "";
  }
  std::string Versioned(const std::string& version, const std::string& target = kTarget) {
    return "/opt/nvidia/nsight-systems/" + version + "/" + target + "/nsys";
  }

  std::string root_;
  std::string path_;
};

TEST_F(NsysToolTest, TheNewestVersionByNumber) {
  EXPECT_EQ(Found(), "");
  Install(Versioned("2024.9.1"));
  const std::string newest = Install(Versioned("2024.10.1"));
  Install(Versioned("2023.4.4"));
  Install(Versioned("2026.1.1", kOtherTarget));  // for another kind of machine
  Install(Versioned("2026.2.1"), false);         // no program
  Install("/opt/nvidia/nsight-systems/2027.1.1/bin/nsys");
  fs::create_directories(root_ + Versioned("2028.1.1"));  // a folder
  EXPECT_EQ(Found(), newest);
}

TEST_F(NsysToolTest, OtherPlacesInTheirOrder) {
  const std::string in_path = Install("/path/nsys");
  EXPECT_EQ(Found(), in_path);
  const std::string in_lib = Install(std::string("/usr/lib/nsight-systems/") + kTarget + "/nsys");
  EXPECT_EQ(Found(), in_lib);
  Install("/usr/local/cuda-12.4/bin/nsys");
  const std::string toolkit = Install("/usr/local/cuda-12.10/bin/nsys");
  EXPECT_EQ(Found(), toolkit);
  const std::string versioned = Install(Versioned("2024.6.1"));
  EXPECT_EQ(Found(), versioned);
}

TEST_F(NsysToolTest, ANamedOneWins) {
  Install(Versioned("2024.6.1"));
  const std::string named = Install("/path/mine");
  ::setenv("NSYS", "mine", 1);
  EXPECT_EQ(Found(), named);
  ::setenv("NSYS", (root_ + "/none").c_str(), 1);
  EXPECT_FALSE(FindNsys(root_).ok());
  ::unsetenv("NSYS");
  const auto by_option = FindNamedNsys("--nsys ", root_ + "/none");
  ASSERT_FALSE(by_option.ok());
  EXPECT_EQ(by_option.error().message, "--nsys " + root_ + "/none is not an executable");
}

TEST_F(NsysToolTest, RunsInAFolder) {
  const std::string log = root_ + "/log";
  EXPECT_EQ(RunLogged({"/bin/pwd"}, log, fs::canonical(root_).string()), 0);
  std::string line;
  std::getline(std::ifstream(log), line);
  EXPECT_EQ(line, fs::canonical(root_).string());
  EXPECT_EQ(RunLogged({root_ + "/none"}, log), 127);
}

}  // namespace
}  // namespace nsys

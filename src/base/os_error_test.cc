// SPDX-License-Identifier: MIT
#include "base/os_error.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(OsError, OpenFilesThatAreTooMany) {
  for (const int error : {EMFILE, ENFILE}) {
    EXPECT_TRUE(IsOutOfFiles(error));
    EXPECT_TRUE(TellsOfOutOfFiles(std::string("cannot open x: ") + std::strerror(error)));
    EXPECT_NE(HintFor(error, "other").find("ulimit -n"), std::string::npos);
  }
  EXPECT_FALSE(TellsOfOutOfFiles(std::strerror(ENOSPC)));
  EXPECT_EQ(HintFor(ENOSPC, "other"), "other");
}

TEST(OsError, MemoryThatEnded) {
  for (const char* message :
       {"libx.so: failed to map segment from shared object",
        "Out of Memory Error: Allocation failure", "bad: Cannot allocate memory"}) {
    EXPECT_TRUE(TellsOfOutOfMemory(message)) << message;
  }
  EXPECT_FALSE(TellsOfOutOfMemory("Invalid Input Error: No magic bytes found"));
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "base/block_sink.h"
#include "perfetto/json_trace.h"

namespace nsys::perfetto {
namespace {

// What CheckJsonTrace says of a text that should hold so many elements; empty when it is good. With
// blanks in a string of the first element, every bracket is tried at every place in a chunk.
std::string Check(const std::string& text, int64_t events, bool gzip = false) {
  const auto path =
      std::filesystem::temp_directory_path() / ("nsys_json_check_" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  if (gzip) {
    auto sink = OpenGzipSink(path.string());
    EXPECT_TRUE(sink.ok());
    EXPECT_TRUE(sink.value()->Write(text).ok());
    EXPECT_TRUE(sink.value()->Finish().ok());
  } else {
    std::ofstream(path, std::ios::binary) << text;
  }
  const Status status = CheckJsonTrace(path.string(), gzip, events);
  std::filesystem::remove(path);
  if (status.ok()) {
    return "";
  }
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  EXPECT_TRUE(status.error().message.starts_with(path.string()));
  return status.error().message.substr(path.string().size());
}

std::string Wide(size_t blanks) { return "[{\"\":\"" + std::string(blanks, ' ') + "\"}"; }

TEST(CheckJsonTraceTest, GoodArraysPassAtEveryOffset) {
  EXPECT_EQ(Check("[]\n", 0), "");
  EXPECT_EQ(Check("[{}]\n", 1), "");
  for (size_t blanks = 0; blanks < 140; ++blanks) {
    EXPECT_EQ(Check(Wide(blanks) + R"(,{"a":[1,{"b":[]}]},{"c]":"\"}\\"},{"\\\\\"":"[{"}])"
                                   "\n",
                    4),
              "")
        << blanks;
  }
}

TEST(CheckJsonTraceTest, GzipIsReadAndChecked) {
  const std::string text = Wide(600'000) + ",{}]\n";
  EXPECT_EQ(Check(text, 2, true), "");
  EXPECT_EQ(Check(text, 3, true), ": holds 2 events and not 3");
  EXPECT_EQ(Check(text, 2, false), "");
  const std::string path =
      (std::filesystem::temp_directory_path() / ("nsys_json_plain_" + std::to_string(::getpid())))
          .string();
  std::ofstream(path) << text;
  EXPECT_EQ(CheckJsonTrace(path, true, 2).error().message, path + ": is no gzip file");
  std::filesystem::remove(path);
  EXPECT_EQ(CheckJsonTrace(path, false, 2).error().message,
            path + ": cannot read: No such file or directory");
}

TEST(CheckJsonTraceTest, EveryFaultIsFoundAtEveryOffset) {
  for (size_t blanks = 0; blanks < 70; ++blanks) {
    const std::string wide = Wide(blanks);
    EXPECT_EQ(Check(wide + ",{}]\n", 1), ": holds 2 events and not 1");
    for (const char* rest : {"",
                             "]",
                             ",{}\n",
                             ",{}",
                             ",{]\n",
                             ",{}}\n",
                             "]]\n",
                             "]\n\n",
                             "]\n ",
                             "] \n",
                             "{}]\n",
                             ",,{}]\n",
                             ",]\n",
                             " ,{}]\n",
                             ", {}]\n",
                             ",1]\n",
                             ",[]]\n",
                             ",{\"}]\n",
                             ",{\"\\\"}]\n",
                             ",{\"\\\\\\\"}]\n",
                             ",{\"\n\"}]\n",
                             ",{\"\t\"}]\n",
                             ",{}]\n[]\n",
                             ",{}]x",
                             ";{}]\n",
                             ",{}x]\n",
                             ",{[}]]\n"}) {
      EXPECT_NE(Check(wide + rest, 2), "") << blanks << " " << rest;
      EXPECT_NE(Check(wide + rest, 1), "") << blanks << " " << rest;
    }
  }
  for (const char* text : {"", "\n", "{}\n", " []\n", "x[]\n", "[1]\n", "[,{}]\n", "[ {}]\n"}) {
    EXPECT_NE(Check(text, 0), "") << text;
    EXPECT_NE(Check(text, 1), "") << text;
  }
}

TEST(CheckJsonTraceTest, EveryCutIsFound) {
  const std::string text = Wide(100) + R"(,{"a":[1,{"b\"":[]}]},{"c":"\\"}])"
                                       "\n";
  ASSERT_EQ(Check(text, 3), "");
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(Check(text.substr(0, length), 3), "") << length;
  }
}

TEST(CheckJsonTraceTest, DepthIsBounded) {
  const std::string deep(62, '[');
  const std::string shallow(62, ']');
  EXPECT_EQ(Check("[{" + deep + shallow + "}]\n", 1), "");
  EXPECT_NE(Check("[{[" + deep + shallow + "]}]\n", 1), "");
}

}  // namespace
}  // namespace nsys::perfetto

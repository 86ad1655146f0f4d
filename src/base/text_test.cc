// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(Text, ReplacesInvalidUtf8) {
  EXPECT_EQ(ToValidUtf8("ok \xC3\xA9"), "ok \xC3\xA9");
  EXPECT_EQ(ToValidUtf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")
      << "a lone surrogate";
  EXPECT_EQ(ToValidUtf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "an overlong form";
  EXPECT_EQ(ToValidUtf8("cut \xE2\x82"), "cut \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_TRUE(IsValidUtf8("\xF4\x8F\xBF\xBF"));
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80")) << "above U+10FFFF";
}

// Whatever the place of a byte in its word, and of the text's end.
TEST(Text, FindsInvalidUtf8EverywhereInAText) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string ascii(size, 'a');
    EXPECT_TRUE(IsValidUtf8(ascii));
    for (size_t at = 0; at < size; ++at) {
      std::string bad = ascii;
      bad[at] = '\xFF';
      EXPECT_FALSE(IsValidUtf8(bad)) << size << " " << at;
      std::string good = ascii;
      good.replace(at, 1, "\xC3\xA9");
      EXPECT_TRUE(IsValidUtf8(good)) << size << " " << at;
    }
  }
}

TEST(Text, PrintableHidesControlCharacters) {
  EXPECT_EQ(Printable("a\n\x1b[31mb\x7f"), "a  [31mb ");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            " 31m")
      << "the one-character form of escape [";
}

TEST(Text, CutsInTheMiddleByCodePoints) {
  EXPECT_EQ(CutMiddle("short", 5), "short");
  EXPECT_EQ(CutMiddle("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(CutMiddle("äöüßäöüß", 4), "äö…ß");
  EXPECT_EQ(DisplayWidth(CutMiddle("abcdefghijklmnop", 8)), 8U);
}

TEST(Text, FindsNearestName) {
  const std::vector<std::string> names = {"top_kernels", "kernel_instances", "gpu_idle_gaps",
                                          "limit", "device"};
  EXPECT_EQ(NearestName("top_kernel", names), "top_kernels");
  EXPECT_EQ(NearestName("gpu_idle", names), "gpu_idle_gaps") << "the only one with that beginning";
  EXPECT_EQ(NearestName("limt", names), "limit");
  EXPECT_EQ(NearestName("zzz", names), std::nullopt);
  EXPECT_EQ(NearestName("", names), std::nullopt);
  EXPECT_EQ(NearestName("x", names), std::nullopt);
}

TEST(Text, ContainsIgnoreCase) {
  EXPECT_TRUE(ContainsIgnoreCase("Sample_0 step", "sAMPLE_0"));
  EXPECT_FALSE(ContainsIgnoreCase("sampleX0", "sample_0")) << "an underscore is no wildcard";
  EXPECT_TRUE(ContainsIgnoreCase("x", ""));
  EXPECT_FALSE(ContainsIgnoreCase("", "x"));
}

TEST(Wrapped, BreaksAtBlanksAndKeepsLongWords) {
  EXPECT_EQ(Wrapped("one two three", 7, "  "), "  one two\n  three\n");
  EXPECT_EQ(Wrapped("  a  unbreakable b ", 5, ""), "a\nunbreakable\nb\n");
  EXPECT_EQ(Wrapped("", 5, "  "), "");
}

}  // namespace
}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "trace/string_pool.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"

namespace nsys {
namespace {

// Texts of every length, many of them twice, some that are no UTF-8.
std::vector<std::string> SomeTexts() {
  std::mt19937 random(5);
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) {
    std::string text(random() % 40, static_cast<char>('a' + random() % 2));
    if (!text.empty() && random() % 3 == 0) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(StringPool, EqualTextsHaveEqualIdsHoweverTheyCome) {
  const std::vector<std::string> texts = SomeTexts();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  StringPool together;
  std::vector<StringId> ids(views.size());
  const int64_t repaired = together.InternAll(views, ids);
  StringPool one_by_one;
  std::map<std::string, StringId> known;
  int64_t invalid = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    invalid += IsValidUtf8(texts[i]) ? 0 : 1;
    EXPECT_EQ(one_by_one.Intern(texts[i]), ids[i]);
    EXPECT_EQ(together.Get(ids[i]), ToValidUtf8(texts[i]));
    const auto [at, added] = known.try_emplace(ToValidUtf8(texts[i]), ids[i]);
    EXPECT_EQ(at->second, ids[i]);
  }
  EXPECT_EQ(together.size(), known.size());
  EXPECT_EQ(repaired, invalid);
  EXPECT_GT(invalid, 0);
}

TEST(StringPool, NumbersTextsInTheOrderTheyCome) {
  StringPool pool;
  const std::string_view texts[] = {"b", "a", "b", ""};
  StringId ids[4];
  EXPECT_EQ(pool.InternAll(texts, ids), 0);
  EXPECT_EQ(Index(ids[0]), 0U);
  EXPECT_EQ(Index(ids[1]), 1U);
  EXPECT_EQ(Index(ids[2]), 0U);
  EXPECT_EQ(Index(ids[3]), 2U);
}

}  // namespace
}  // namespace nsys

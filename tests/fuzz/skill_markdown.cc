// SPDX-License-Identifier: MIT
// Any bytes as the file of a custom skill: reading it either works or gives an error that names a
// line, and what was read is the same skill when it is written and read again.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-skill_markdown -max_len=4096 CORPUS_FOLDER
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "query/markdown_skill.h"
#include "query/sql_skill.h"

namespace {

void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto skill = nsys::ParseMarkdownSkill(text);
  if (!skill.ok()) {
    Require(skill.error().message.starts_with("line "));
    return 0;
  }
  const std::string written = nsys::ToMarkdown(skill.value());
  const auto again = nsys::ParseMarkdownSkill(written);
  Require(again.ok() && nsys::ToMarkdown(again.value()) == written);
  Require(again.value().sql == skill.value().sql);
  const auto made = nsys::SqlSkill::Make(std::move(skill).value(), "given.md", nullptr);
  Require(made.ok() || made.error().message.starts_with("line "));
  if (made.ok()) {
    static_cast<void>(made.value()->skill().run != nullptr);
  }
  return 0;
}

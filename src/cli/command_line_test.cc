// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace nsys {
namespace {

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

SkillRunRequest ParseRun(const std::string& line) {
  auto request = ParseCommandLine(Words(line));
  EXPECT_TRUE(request.ok()) << line << ": " << (request.ok() ? "" : request.error().message);
  const auto* run = request.ok() ? std::get_if<SkillRunRequest>(&request.value()) : nullptr;
  return run != nullptr ? *run : SkillRunRequest{};
}

Error ParseError(const std::string& line) {
  auto request = ParseCommandLine(Words(line));
  EXPECT_FALSE(request.ok()) << line;
  return request.ok() ? Error{} : request.error();
}

TEST(CommandLine, ReadsARun) {
  const SkillRunRequest run = ParseRun(
      "skill run top_kernels x.sqlite --format json -p limit=3 -p name=a=b --trim 1.5 3 --max-rows "
      "2 --device 1");
  EXPECT_EQ(run.name, "top_kernels");
  EXPECT_EQ(run.profile, "x.sqlite");
  EXPECT_EQ(run.format, OutputFormat::kJson);
  EXPECT_EQ(run.params,
            (std::vector<GivenParam>{{"limit", "3"}, {"name", "a=b"}, {"device", "1"}}));
  ASSERT_TRUE(run.window.has_value());
  EXPECT_EQ(run.window->begin_ns, 1'500'000'000);
  EXPECT_EQ(run.window->end_ns, 3'000'000'000);
  EXPECT_EQ(run.max_rows, 2);
}

TEST(CommandLine, ReadsARunOfAllSkills) {
  auto request = ParseCommandLine(
      Words("skill run-all x.sqlite --only top_kernels,,gpu_idle_gaps -p limit=3 --format jsonl"));
  ASSERT_TRUE(request.ok());
  const auto* all = std::get_if<SkillRunAllRequest>(&request.value());
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(all->run.profile, "x.sqlite");
  EXPECT_EQ(all->run.format, OutputFormat::kJsonLines);
  EXPECT_EQ(all->run.params, (std::vector<GivenParam>{{"limit", "3"}}));
  EXPECT_EQ(all->only, (std::vector<std::string>{"top_kernels", "gpu_idle_gaps"}));
}

TEST(CommandLine, OptionsMayStandAnywhere) {
  const SkillRunRequest run =
      ParseRun("skill run --trim 1 2 -p limit=1 top_kernels --format json x.sqlite");
  EXPECT_EQ(run.name, "top_kernels");
  EXPECT_EQ(run.profile, "x.sqlite");
  EXPECT_EQ(run.params.size(), 1U);
}

TEST(CommandLine, WindowsMayBeNegativeOrOpen) {
  const SkillRunRequest run = ParseRun("skill run top_kernels x --trim -2.5 inf");
  ASSERT_TRUE(run.window.has_value());
  EXPECT_EQ(run.window->begin_ns, -2'500'000'000);
  EXPECT_EQ(run.window->end_ns, std::numeric_limits<int64_t>::max());
}

TEST(CommandLine, RefusesBadWindows) {
  EXPECT_EQ(ParseError("skill run top_kernels x --trim 3 1").code, ErrorCode::kTrimOutOfRange);
  EXPECT_EQ(ParseError("skill run top_kernels x --trim 1 1").code, ErrorCode::kTrimOutOfRange);
  EXPECT_EQ(ParseError("skill run top_kernels x --trim nan 1").code, ErrorCode::kUsage);
  EXPECT_EQ(ParseError("skill run top_kernels x --trim inf inf").code, ErrorCode::kUsage);
  EXPECT_EQ(ParseError("skill run top_kernels x --trim 1").code, ErrorCode::kUsage);
  EXPECT_EQ(ParseError("skill run top_kernels x --trim 0 1e12").code, ErrorCode::kUsage);
  EXPECT_EQ(ParseError("skill run top_kernels x --trim 0 1 --iteration 0").code, ErrorCode::kUsage);
}

TEST(CommandLine, RefusesBadNumbersAndParameters) {
  for (const char* line :
       {"skill run top_kernels x --max-rows -1", "skill run top_kernels x --max-rows two",
        "skill run top_kernels x --iteration -1", "skill run top_kernels x -p limit",
        "skill run top_kernels x -p =3", "skill run top_kernels x --threads 0",
        "skill run top_kernels x --reader page", "skill run-all x --reader ''",
        "skill run top_kernels x --format yaml", "skill list --format csv", "skill run",
        "skill run a b c"}) {
    EXPECT_EQ(ParseError(line).code, ErrorCode::kUsage) << line;
  }
}

TEST(CommandLine, SkillsThatOnlyCalculateNeedNoCapture) {
  EXPECT_EQ(ParseRun("skill run theoretical_flops -p operation=mlp").profile, "");
  EXPECT_EQ(ParseRun("skill run theoretical_flops - -p operation=mlp").profile, "-");
}

TEST(CommandLine, SuggestsTheNearestWord) {
  EXPECT_NE(ParseError("skil list").hint.find("did you mean 'skill'?"), std::string::npos);
  EXPECT_NE(ParseError("skill lst").hint.find("did you mean 'list'?"), std::string::npos);
  EXPECT_NE(
      ParseError("skill run top_kernels x --formt json").hint.find("did you mean '--format'?"),
      std::string::npos);
}

template <typename T>
T ParseAs(const std::string& line) {
  auto request = ParseCommandLine(Words(line));
  EXPECT_TRUE(request.ok()) << line << ": " << (request.ok() ? "" : request.error().message);
  const T* found = request.ok() ? std::get_if<T>(&request.value()) : nullptr;
  EXPECT_NE(found, nullptr) << line;
  return found != nullptr ? *found : T{};
}

TEST(CommandLine, SkillsDirStandsBeforeTheCommandOrBehindIt) {
  for (const std::string words : {"--skills-dir D %", "% --skills-dir=D"}) {
    const auto with = [&](const std::string& command) {
      const size_t space = words.find('%');
      return "skill " + std::string(words).replace(space, 1, command);
    };
    EXPECT_EQ(ParseAs<SkillListRequest>(with("list")).skills_dir, "D");
    EXPECT_EQ(ParseAs<SkillInfoRequest>(with("info a")).skills_dir, "D");
    EXPECT_EQ(ParseAs<SkillRunRequest>(with("run a x")).skills_dir, "D");
    EXPECT_EQ(ParseAs<SkillRemoveRequest>(with("remove a")).skills_dir, "D");
    EXPECT_EQ(ParseAs<SkillSaveRequest>(with("save a -o b.md")).skills_dir, "D");
    const auto add = ParseAs<SkillAddRequest>(with("add f.md --force --profile x"));
    EXPECT_EQ(add.skills_dir, "D");
    EXPECT_EQ(add.file, "f.md");
    EXPECT_EQ(add.profile, "x");
    EXPECT_TRUE(add.replace);
  }
  EXPECT_EQ(ParseAs<SkillListRequest>("skill list").skills_dir, std::nullopt);
  for (const char* line :
       {"skill --skills-dir a list --skills-dir b", "skill add", "skill remove", "skill remove a b",
        "skill save a", "skill save a --output=", "skill add a --forse"}) {
    EXPECT_EQ(ParseError(line).code, ErrorCode::kUsage) << line;
  }
}

TEST(CommandLine, HelpHasAStatus) {
  const auto status = [](const std::string& line) {
    auto request = ParseCommandLine(Words(line));
    EXPECT_TRUE(request.ok()) << line;
    const auto* help = request.ok() ? std::get_if<HelpRequest>(&request.value()) : nullptr;
    EXPECT_NE(help, nullptr) << line;
    return help == nullptr ? -1 : help->exit_status;
  };
  EXPECT_EQ(status("--help"), 0);
  EXPECT_EQ(status("skill --help"), 0);
  EXPECT_EQ(status("skill run --help"), 0);
  EXPECT_EQ(status("--version"), 0);
  EXPECT_EQ(status(""), 2);
  EXPECT_EQ(status("skill"), 2);
}

TEST(CommandLine, JsonErrorsAreWantedByFormat) {
  EXPECT_TRUE(WantsJsonErrors(Words("skill run x y --format json")));
  EXPECT_TRUE(WantsJsonErrors(Words("skill run x y --format=jsonl")));
  EXPECT_FALSE(WantsJsonErrors(Words("skill run x y --format text")));
}

}  // namespace
}  // namespace nsys

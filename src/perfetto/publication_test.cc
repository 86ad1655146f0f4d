// SPDX-License-Identifier: MIT
#include "perfetto/publication.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace nsys::perfetto {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

using Files = std::map<std::string, std::string>;  // name in the folder -> text

void Put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class PublicationTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "publication-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    root_ = fs::canonical(folder).string();
    home_ = root_ + "/model";
  }
  void TearDown() override { fs::remove_all(root_); }

  PublicationPlan Plan(bool with_export = true) const {
    return {.home = home_,
            .files = {home_ + "/m.parquet", home_ + "/m.pftrace", home_ + "/m.json"},
            .export_folder = with_export ? home_ + "/parquet" : "",
            .manifest = ".m.nsys-ai-set",
            .stale = {},
            .keep = "",
            .wait = milliseconds(0)};
  }

  // Publishes `generation` by `plan`; every file says which generation it is of.
  static Status Publish(PublicationPlan plan, const std::string& generation,
                        const Publication::Hook& hook = {}) {
    const bool with_export = !plan.export_folder.empty();
    const size_t files = plan.files.size();
    NSYS_ASSIGN(const auto publication, Publication::Begin(std::move(plan)));
    if (with_export) {
      NSYS_ASSIGN(const std::string work, publication->WorkFolder());
      fs::create_directory(work + "/parquet");
      Put(work + "/parquet/T.parquet", generation);
    }
    for (size_t i = 0; i < files; ++i) {
      Put(publication->TemporaryFile(i), generation);
    }
    return publication->Commit(hook);
  }

  // What a reader finds: no hidden names.
  Files Visible() const {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(home_)) {
      const std::string name = fs::relative(entry.path(), home_).string();
      if (!name.starts_with('.') && entry.is_regular_file()) {
        std::ostringstream text;
        text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        files[name] = text.str();
      }
    }
    return files;
  }
  std::set<std::string> Hidden() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(home_)) {
      if (const std::string name = entry.path().filename().string(); name.starts_with('.')) {
        names.insert(name);
      }
    }
    return names;
  }
  static Files Set(const std::string& generation, bool with_export = true) {
    Files files = {{"m.parquet", generation}, {"m.pftrace", generation}, {"m.json", generation}};
    if (with_export) {
      files["parquet/T.parquet"] = generation;
    }
    return files;
  }

  std::string root_;
  std::string home_;
};

TEST_F(PublicationTest, PublishesAndReplacesTheWholeSet) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  EXPECT_EQ(Visible(), Set("old"));
  ASSERT_TRUE(Publish(Plan(), "new").ok());
  EXPECT_EQ(Visible(), Set("new"));
  EXPECT_EQ(Hidden(), std::set<std::string>{".m.nsys-ai-set"});
}

TEST_F(PublicationTest, WhatIsNotMadeAgainGoesWithTheOldSet) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  Put(home_ + "/notes.txt", "mine");
  PublicationPlan plan = Plan(false);
  plan.files = {home_ + "/m.json"};
  ASSERT_TRUE(Publish(plan, "new").ok());
  EXPECT_EQ(Visible(), (Files{{"m.json", "new"}, {"notes.txt", "mine"}}));
}

TEST_F(PublicationTest, StaleNamesGoWithoutAManifestToo) {
  fs::create_directories(home_ + "/parquet");
  Put(home_ + "/parquet/T.parquet", "stale");
  Put(home_ + "/m.pftrace", "stale");
  PublicationPlan plan = Plan(false);
  plan.files = {home_ + "/m.json"};
  plan.stale = {home_ + "/parquet", home_ + "/m.pftrace", home_ + "/m.json"};
  ASSERT_TRUE(Publish(plan, "new").ok());
  EXPECT_EQ(Visible(), (Files{{"m.json", "new"}}));
}

TEST_F(PublicationTest, AFolderMayBeMovedBetweenPublications) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  fs::rename(home_, root_ + "/moved");
  home_ = root_ + "/moved";
  PublicationPlan plan = Plan(false);
  plan.files = {home_ + "/m.json"};
  ASSERT_TRUE(Publish(plan, "new").ok());
  EXPECT_EQ(Visible(), (Files{{"m.json", "new"}}));
}

TEST_F(PublicationTest, NamesOfFilesThatWerePutElsewhereMeanNothingInTheFolder) {
  fs::create_directories(root_ + "/elsewhere");
  PublicationPlan plan = Plan(false);
  plan.files = {home_ + "/m.json", root_ + "/elsewhere/mine.txt"};
  ASSERT_TRUE(Publish(plan, "old").ok());
  Put(home_ + "/mine.txt", "mine");
  plan.files = {home_ + "/m.json"};
  ASSERT_TRUE(Publish(plan, "new").ok());
  EXPECT_EQ(Visible(), (Files{{"m.json", "new"}, {"mine.txt", "mine"}}));
}

TEST_F(PublicationTest, TheInputIsNeverRemoved) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  PublicationPlan plan = Plan(false);
  plan.keep = home_ + "/parquet";
  ASSERT_TRUE(Publish(plan, "new").ok());
  Files wanted = Set("new", false);
  wanted["parquet/T.parquet"] = "old";
  EXPECT_EQ(Visible(), wanted);
}

TEST_F(PublicationTest, WithoutCommitNothingChangesAndNothingStays) {
  {
    const auto publication = Publication::Begin(Plan());
    ASSERT_TRUE(publication.ok());
    ASSERT_TRUE(publication.value()->WorkFolder().ok());
    Put(publication.value()->TemporaryFile(0), "half");
  }
  EXPECT_FALSE(fs::exists(home_)) << "a folder made for nothing";
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  const auto hidden = Hidden();
  {
    const auto publication = Publication::Begin(Plan());
    ASSERT_TRUE(publication.ok());
    Put(publication.value()->TemporaryFile(2), "half");
  }
  EXPECT_EQ(Visible(), Set("old"));
  EXPECT_EQ(Hidden(), hidden);
}

TEST_F(PublicationTest, AMissingFileFailsBeforeAnythingIsTouched) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  {
    const auto publication = Publication::Begin(Plan(false));
    ASSERT_TRUE(publication.ok());
    Put(publication.value()->TemporaryFile(0), "new");
    EXPECT_FALSE(publication.value()->Commit().ok());
  }
  EXPECT_EQ(Visible(), Set("old"));
}

TEST_F(PublicationTest, OneRunAtATime) {
  const auto first = Publication::Begin(Plan());
  ASSERT_TRUE(first.ok());
  const auto second = Publication::Begin(Plan());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos)
      << second.error().message;
  EXPECT_NE(second.error().hint.find("--wait"), std::string::npos);
}

TEST_F(PublicationTest, AWaitingRunGoesOnWhenTheFirstIsDone) {
  auto first = Publication::Begin(Plan());
  ASSERT_TRUE(first.ok());
  std::thread waiting([&] {
    PublicationPlan plan = Plan();
    plan.wait.reset();
    EXPECT_TRUE(Publish(plan, "second").ok());
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(fs::exists(home_ + "/m.json"));
  first = Error{.code = ErrorCode::kOutput, .message = ""};  // ends it
  waiting.join();
  EXPECT_EQ(Visible(), Set("second"));
}

// The steps of replacing a set, as their hook calls them.
std::vector<std::string> Steps(const std::function<Status(const Publication::Hook&)>& publish) {
  std::vector<std::string> steps;
  EXPECT_TRUE(publish([&](std::string_view step) { steps.emplace_back(step); }).ok());
  return steps;
}

// The old set, the new one, or a part of either without the mark: never files of two generations.
void ExpectOneGeneration(const Files& files, const Files& before, const Files& after) {
  std::set<std::string> generations;
  for (const auto& [name, text] : files) {
    generations.insert(text);
  }
  EXPECT_LE(generations.size(), 1U);
  if (files.contains("m.json")) {
    EXPECT_EQ(files, files.at("m.json") == "new" ? after : before);
  }
}

TEST_F(PublicationTest, KilledAfterAnyStepTheNextRunFinishes) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  const auto steps = Steps([&](const auto& hook) { return Publish(Plan(), "old", hook); });
  ASSERT_EQ(steps.size(), 13U);  // journal, 4 away, all away, 4 in, all in, settled, removed
  EXPECT_EQ(steps[1], "away " + home_ + "/m.json");
  EXPECT_EQ(steps[9], "in " + home_ + "/m.json");
  for (size_t stop = 0; stop < steps.size(); ++stop) {
    SCOPED_TRACE(steps[stop]);
    ASSERT_TRUE(Publish(Plan(), "old").ok());
    const pid_t child = ::fork();
    if (child == 0) {
      size_t step = 0;
      static_cast<void>(Publish(Plan(), "new", [&](std::string_view) {
        if (step++ == stop) {
          ::kill(::getpid(), SIGKILL);
        }
      }));
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ExpectOneGeneration(Visible(), Set("old"), Set("new"));
    // Another run that fails before it publishes anything.
    ASSERT_TRUE(Publication::Begin(Plan()).ok());
    EXPECT_EQ(Visible(), Set("new"));
    EXPECT_EQ(Hidden(), std::set<std::string>{".m.nsys-ai-set"});
  }
}

TEST_F(PublicationTest, ACutShortPublicationThatLostAFileIsUndone) {
  ASSERT_TRUE(Publish(Plan(false), "old").ok());
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(Publish(Plan(false), "new", [&](std::string_view step) {
      if (step.starts_with("in ") && step.ends_with("m.parquet")) {
        ::_exit(9);
      }
    }));
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  ASSERT_EQ(::unlink(HiddenName(home_ + "/m.json", kTemporaryPrefix).c_str()), 0);
  ASSERT_TRUE(Publication::Begin(Plan(false)).ok());
  EXPECT_EQ(Visible(), Set("old", false));
}

TEST_F(PublicationTest, ARenameThatFailsUndoesThoseBefore) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  const auto publication = Publication::Begin(Plan(false));
  ASSERT_TRUE(publication.ok());
  for (size_t i = 0; i < 3; ++i) {
    Put(publication.value()->TemporaryFile(i), "new");
  }
  // Somebody puts a folder in the way when the old set has gone.
  const Status status = publication.value()->Commit([&](std::string_view step) {
    if (step == "all away") {
      fs::create_directories(home_ + "/m.pftrace/x");
    }
  });
  EXPECT_FALSE(status.ok());
  fs::remove_all(home_ + "/m.pftrace/x");
  Files visible = Visible();
  EXPECT_EQ(visible["m.json"], "old");
  EXPECT_EQ(visible["m.parquet"], "old");
  EXPECT_EQ(visible["parquet/T.parquet"], "old");
}

TEST_F(PublicationTest, AForeignJournalIsNotFollowed) {
  fs::create_directories(home_);
  Put(home_ + "/" + std::string(kJournalName), "not a journal");
  const auto publication = Publication::Begin(Plan());
  ASSERT_FALSE(publication.ok());
  EXPECT_NE(publication.error().message.find(kJournalName), std::string::npos);
}

TEST_F(PublicationTest, ASignalWaitsForTheEndOfACommit) {
  ASSERT_TRUE(Publish(Plan(), "old").ok());
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int signal_number) {
      if (!HoldSignal(signal_number)) {
        RemoveUnfinished();
        ::_exit(128 + signal_number);
      }
    });
    static_cast<void>(Publish(Plan(), "new", [&](std::string_view step) {
      if (step == "all away") {
        std::raise(SIGTERM);
      }
    }));
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  EXPECT_EQ(Visible(), Set("new"));
}

TEST(Journal, ReadsBackWhatItWrote) {
  const Journal journal{.home = "/home",
                        .manifest = ".m",
                        .entries = {{.path = "/a b\n/c", .temporary = "/t", .old = "", .inode = 7},
                                    {.path = "/d", .temporary = "", .old = "/o", .inode = 0}}};
  const auto read = Journal::FromText(journal.ToText());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->ToText(), journal.ToText());
  EXPECT_EQ(read->home, "/home");
  EXPECT_EQ(read->manifest, ".m");
  EXPECT_EQ(read->entries.size(), 2U);
  EXPECT_EQ(read->entries[0].path, "/a b\n/c");
  EXPECT_EQ(read->entries[0].inode, 7U);
  const std::string text = journal.ToText();
  for (size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_FALSE(Journal::FromText(std::string_view(text).substr(0, cut)).has_value()) << cut;
  }
}

}  // namespace
}  // namespace nsys::perfetto

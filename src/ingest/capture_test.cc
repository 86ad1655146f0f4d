// SPDX-License-Identifier: MIT
#include "ingest/capture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/file_kind.h"
#include "ingest/ingest_test_util.h"
#include "ingest/nsys_export.h"
#include "ingest/nsys_tool.h"

namespace nsys {
namespace {

using namespace ingest_test;
using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Sets a variable for the length of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    const char* old = getenv(name);
    if (old != nullptr) {
      old_ = old;
    }
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

void SetTime(const std::string& path, time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

Error OpenError(const std::string& path) {
  const auto opened = OpenCapture(path, 1);
  if (opened.ok()) {
    return {.code = ErrorCode::kUsage, .message = "opened"};
  }
  EXPECT_EQ(opened.error().message.find('\n'), std::string::npos);
  return opened.error();
}

// A program that acts like nsys: writes an SQLite file, logs its arguments beside itself.
std::string FakeNsys(const TempFolder& folder, const std::string& body,
                     const char* help = "sqlite") {
  const std::string path = folder / "nsys";
  WriteFile(path,
            std::string("#!/bin/sh\nif [ \"$2\" = --help ]; then echo 'types: ") + help +
                "'; exit 0; fi\nprintf '%s\\n' \"$@\" >> '" + folder.path() +
                "/arguments'\nfor a in \"$@\"; do case $a in --output=*) out=${a#--output=};; "
                "esac; done\n" +
                body + "\n");
  chmod(path.c_str(), 0755);
  return path;
}

TEST(JudgeContent, NamesWhatIsThere) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {""sv, "an empty file"},
      {"\0\0\0\0"sv, "a file that holds nothing but zeros"},
      {"ARROW1\0\0x"sv, "an Arrow file"},
      {"\x89HDF\r\n\x1A\n"sv, "an HDF5 file"},
      {"\x1F\x8B\x08"sv, "a gzip archive"},
      {"PK\x03\x04"sv, "a zip archive"},
      {"\x28\xB5\x2F\xFD"sv, "a zstd archive"},
      {"{\"a\":1}\n"sv, "JSON"},
      {"[1]"sv, "JSON"},
      {"{\"a\":1}\n{\"a\":2}\n"sv, "JSON lines"},
      {"\n<!DOCTYPE html><html>"sv, "an HTML page"},
      {"<?xml version='1.0'?>"sv, "an XML file"},
      {"version https://git-lfs.github.com/spec/v1\n"sv, "a Git LFS pointer"},
      {"hello\n"sv, "plain text"},
      {" \n "sv, "a text file with nothing but white space"},
      {"\x01\x02\xFF\xFE"sv, "binary data, not SQLite (encrypted or compressed?)"},
  };
  for (const auto& [bytes, what] : cases) {
    const FileFacts facts = JudgeContent(bytes, static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(facts.kind, FileKind::kOther) << what;
    EXPECT_EQ(facts.what, what);
    EXPECT_NE(facts.hint, "") << what;
  }
  EXPECT_EQ(JudgeContent("SQLite format 3\0"sv, 16).kind, FileKind::kSqlite);
  EXPECT_EQ(JudgeContent("PAR1"sv, 4).kind, FileKind::kParquetFile);
  EXPECT_EQ(JudgeContent("NVIDIA Nsight\0\x01"sv, 15).kind, FileKind::kReport);
}

TEST(OpenCapture, ThingsThatAreNoCapture) {
  const TempFolder folder;
  EXPECT_EQ(OpenError(folder / "none").code, ErrorCode::kProfileNotFound);
  EXPECT_EQ(OpenError("").code, ErrorCode::kProfileNotFound);
  EXPECT_EQ(OpenError(folder / "none/x").code, ErrorCode::kProfileNotFound);
  mkfifo((folder / "pipe").c_str(), 0600);
  EXPECT_THAT(OpenError(folder / "pipe").message, HasSubstr("is a pipe"));
  EXPECT_THAT(OpenError("/dev/null").message, HasSubstr("is a device"));
  WriteFile(folder / "x\n.txt", "text");
  EXPECT_THAT(OpenError(folder / "x\n.txt").message, HasSubstr("plain text"));
  WriteFile(folder / "one.parquet", "PAR1....PAR1");
  EXPECT_THAT(OpenError(folder / "one.parquet").hint, HasSubstr("folder"));
  WriteFile(folder / "x.qdstrm", "raw\x01");
  EXPECT_THAT(OpenError(folder / "x.qdstrm").message, HasSubstr("not imported"));
  std::filesystem::create_directories(folder / "d");
  EXPECT_THAT(OpenError(folder / "d").message, HasSubstr("holds no .parquet tables"));
  WriteFile(folder / "d/y.sqlite", "");
  EXPECT_THAT(OpenError(folder / "d").hint, HasSubstr("y.sqlite"));
}

TEST(OpenCapture, SqliteWithoutNsightTables) {
  const TempFolder folder;
  MakeSqlite(folder / "a.sqlite",
             "CREATE TABLE books (id INTEGER); CREATE TABLE authors (id INTEGER)");
  const Error error = OpenError(folder / "a.sqlite");
  EXPECT_EQ(error.code, ErrorCode::kSchema);
  EXPECT_THAT(error.message, HasSubstr("its tables are authors, books"));
  MakeSqlite(folder / "b.sqlite", "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)");
  EXPECT_TRUE(OpenCapture(folder / "b.sqlite", 1).ok());
  MakeSqlite(folder / "c.nsys-rep", SampleSql());
  EXPECT_TRUE(OpenCapture(folder / "c.nsys-rep", 1).ok());
}

TEST(OpenCapture, ReportUsesTheNewestFreshSibling) {
  const TempFolder folder;
  const ScopedVariable no_nsys("PATH", folder.path());
  WriteFile(folder / "x.nsys-rep", "dummy");
  MakeSqlite(folder / "x.sqlite", SampleSql());
  SetTime(folder / "x.nsys-rep", 1000);
  SetTime(folder / "x.sqlite", 1000);
  EXPECT_TRUE(OpenCapture(folder / "x.nsys-rep", 1).ok());
  SetTime(folder / "x.sqlite", 999);
  const Error error = OpenError(folder / "x.nsys-rep");
  EXPECT_EQ(error.code, ErrorCode::kExportToolMissing);
  EXPECT_THAT(error.hint, HasSubstr("nsys export --type=parquetdir --include-blobs=true -o"));
  EXPECT_THAT(error.hint, HasSubstr("x.sqlite is older than the report"));
  std::filesystem::create_directories(folder / "x_pqtdir");
  WriteFile(folder / "x_pqtdir/A.parquet", "");
  EXPECT_THAT(FindSiblingExports(folder / "x.nsys-rep").fresh, ElementsAre(folder / "x_pqtdir"));
  SetTime(folder / "x.sqlite", 2000);
  SetTime(folder / "x_pqtdir/A.parquet", 2000);
  EXPECT_THAT(FindSiblingExports(folder / "x.nsys-rep").fresh,
              ElementsAre(folder / "x.sqlite", folder / "x_pqtdir"));
}

TEST(OpenCapture, EmptyReportIsSaidToBeEmpty) {
  const TempFolder folder;
  WriteFile(folder / "x.nsys-rep", "");
  EXPECT_THAT(OpenError(folder / "x.nsys-rep").message, HasSubstr("is an empty file"));
}

TEST(OpenCapture, ReportIsExportedAndTheExportRemoved) {
  const TempFolder folder, tools, temporary;
  MakeSqlite(tools / "made.sqlite", SampleSql());
  const ScopedVariable nsys("NSYS", FakeNsys(tools, "cp '" + tools / "made.sqlite" + "' \"$out\""));
  const ScopedVariable scratch("TMPDIR", temporary.path());
  WriteFile(folder / "50%h it's.nsys-rep", "dummy");
  {
    const auto opened = OpenCapture(folder / "50%h it's.nsys-rep", 1);
    ASSERT_TRUE(opened.ok()) << opened.error().message << opened.error().hint;
    EXPECT_EQ(NamesIn(temporary.path()).size(), 1U);
    EXPECT_TRUE(LoadTrace(*opened.value(), ReadEverything(), {}).ok());
  }
  EXPECT_THAT(NamesIn(temporary.path()), IsEmpty());
  EXPECT_EQ(NamesIn(folder.path()).size(), 1U);
  const std::string arguments = ReadFile(tools / "arguments");
  EXPECT_THAT(arguments,
              HasSubstr("export\n--type=sqlite\n--include-blobs=true\n--force-overwrite=true\n"
                        "--quiet=true\n--output="));
  EXPECT_THAT(arguments, HasSubstr("/50_h it's.sqlite\n"));
}

TEST(OpenCapture, FailedExportTellsTheLastLineAndLeavesNothing) {
  const TempFolder folder, tools, temporary;
  const ScopedVariable nsys(
      "NSYS",
      FakeNsys(tools, "echo first >&2; echo 'bad report version' >&2; exit 3", "parquetdir"));
  const ScopedVariable scratch("TMPDIR", temporary.path());
  WriteFile(folder / "x.nsys-rep", "dummy");
  const Error error = OpenError(folder / "x.nsys-rep");
  EXPECT_EQ(error.code, ErrorCode::kExport);
  EXPECT_THAT(error.message, HasSubstr("bad report version"));
  EXPECT_THAT(NamesIn(temporary.path()), IsEmpty());
  EXPECT_THAT(ReadFile(tools / "arguments"), HasSubstr("--type=parquetdir"));
}

TEST(FindNsys, NewestVersionByNumber) {
  const TempFolder root;
  for (const char* version : {"2024.9.1", "2024.10.1"}) {
    for (const char* target : {"target-linux-x64", "target-linux-sbsa-armv8"}) {
      const std::string folder =
          root / (std::string("opt/nvidia/nsight-systems/") + version + "/" + target);
      std::filesystem::create_directories(folder);
      WriteFile(folder + "/nsys", "#!/bin/sh\n");
      chmod((folder + "/nsys").c_str(), 0755);
    }
  }
  const auto found = FindNsys(root.path());
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found.value(), HasSubstr("/2024.10.1/target-linux-"));
  const ScopedVariable wrong("NSYS", root / "none");
  EXPECT_EQ(FindNsys(root.path()).error().code, ErrorCode::kExportToolMissing);
}

TEST(RemoveTemporaryExports, RemovesFoldersOfLiveExports) {
  const TempFolder folder, tools, temporary;
  MakeSqlite(tools / "made.sqlite", SampleSql());
  const ScopedVariable scratch("TMPDIR", temporary.path());
  WriteFile(folder / "x.nsys-rep", "dummy");
  const auto made = TemporaryExport::Make(
      FakeNsys(tools, "cp '" + tools / "made.sqlite" + "' \"$out\""), folder / "x.nsys-rep");
  ASSERT_TRUE(made.ok()) << made.error().message;
  RemoveTemporaryExports();
  EXPECT_THAT(NamesIn(temporary.path()), IsEmpty());
}

}  // namespace
}  // namespace nsys

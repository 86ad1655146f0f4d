// SPDX-License-Identifier: MIT
#include "ingest/file_kind.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/os_error.h"
#include "base/text.h"

namespace nsys {
namespace {

constexpr size_t kHeadBytes = 64 * 1024;

struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view hint;
};

using namespace std::string_view_literals;

constexpr std::string_view kUnpackHint =
    "unpack it, then give the .sqlite export or the folder of Parquet tables inside";
constexpr std::string_view kExportHint =
    "export the report with `nsys export --type=sqlite` or `--type=parquetdir` and give the result";

constexpr std::array kMagics = {
    Magic{"ARROW1\0\0"sv, "an Arrow file", kExportHint},
    Magic{"\xFF\xFF\xFF\xFF"sv, "an Arrow stream", kExportHint},
    Magic{"\x89HDF\r\n\x1A\n"sv, "an HDF5 file", kExportHint},
    Magic{"\x1F\x8B"sv, "a gzip archive", kUnpackHint},
    Magic{"PK\x03\x04"sv, "a zip archive", kUnpackHint},
    Magic{"PK\x05\x06"sv, "an empty zip archive", kUnpackHint},
    Magic{"\x28\xB5\x2F\xFD"sv, "a zstd archive", kUnpackHint},
    Magic{"\xFD"
          "7zXZ\0"sv,
          "an xz archive", kUnpackHint},
    Magic{"BZh"sv, "a bzip2 archive", kUnpackHint},
    Magic{"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive", kUnpackHint},
    Magic{"\x7F"
          "ELF"sv,
          "a program or library (ELF)", kExportHint},
};

std::string_view WithoutLeadingBlanks(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) {
    head.remove_prefix(3);
  }
  const size_t at = head.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view() : head.substr(at);
}

bool LooksLikeText(std::string_view head) {
  const bool control = std::any_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\f' &&
           c != '\x1B';
  });
  if (control) {
    return false;
  }
  // The head may end within a character.
  for (size_t cut = 0; cut < 4 && cut <= head.size(); ++cut) {
    if (IsValidUtf8(head.substr(0, head.size() - cut))) {
      return true;
    }
  }
  return false;
}

// A text file by its beginning. `head` is known to be text.
FileFacts JudgeText(std::string_view head) {
  FileFacts facts{.what = "plain text", .hint = std::string(kExportHint)};
  const std::string_view text = WithoutLeadingBlanks(head);
  const std::string lower = LowerAscii(text.substr(0, 64));
  if (text.empty()) {
    facts.what = "a text file with nothing but white space";
  } else if (lower.starts_with("<!doctype html") || lower.starts_with("<html")) {
    facts.what = "an HTML page";
    facts.hint = "a download that needed a login often leaves such a page; download the file again";
    facts.never_report = true;
  } else if (lower.starts_with("<?xml") || lower.starts_with("<svg")) {
    facts.what = "an XML file";
  } else if (text.starts_with("version https://git-lfs")) {
    facts.what = "a Git LFS pointer";
    facts.hint = "fetch the real file with `git lfs pull`";
    facts.never_report = true;
  } else if (text.starts_with('{') || text.starts_with('[')) {
    const size_t line = text.find('\n');
    const bool lines = line != std::string_view::npos && text.starts_with('{') &&
                       text[line == 0 ? 0 : line - 1] == '}' &&
                       WithoutLeadingBlanks(text.substr(line)).starts_with('{');
    facts.what = lines ? "JSON lines" : "JSON";
  }
  return facts;
}

Error NotFound(const std::string& path) {
  return {.code = ErrorCode::kProfileNotFound,
          .message = fmt::format("there is nothing at {}", ShownPath(path)),
          .hint = "check the path"};
}

std::string_view SpecialFileName(mode_t mode) {
  if (S_ISDIR(mode)) {
    return "a folder";
  }
  if (S_ISFIFO(mode)) {
    return "a pipe";
  }
  if (S_ISSOCK(mode)) {
    return "a socket";
  }
  if (S_ISCHR(mode)) {
    return "a device";
  }
  if (S_ISBLK(mode)) {
    return "a block device";
  }
  return "something special";
}

// The error about what is no regular file.
Error NotRegular(const std::string& path, mode_t mode) {
  return {.code = ErrorCode::kProfile,
          .message =
              fmt::format("{} is {}, not a regular file", ShownPath(path), SpecialFileName(mode)),
          .hint = "save the capture as a file and give that"};
}

Result<std::string> ReadHead(const std::string& path) {
  NSYS_ASSIGN(const FileDescriptor file, OpenRegularFile(path));
  std::string head(kHeadBytes, '\0');
  size_t filled = 0;
  while (filled < head.size()) {
    const ssize_t got = read(file.get(), head.data() + filled, head.size() - filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return CannotOpen(path, errno);
    }
    if (got == 0) {
      break;
    }
    filled += static_cast<size_t>(got);
  }
  head.resize(filled);
  return head;
}

}  // namespace

Error CannotOpen(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return NotFound(path);
  }
  const bool permission = error == EACCES || error == EPERM;
  return {.code = ErrorCode::kProfile,
          .message = permission
                         ? fmt::format("no permission to read {}", ShownPath(path))
                         : fmt::format("cannot open {}: {}", ShownPath(path), std::strerror(error)),
          .hint = permission ? "ask its owner for permission to read it"
                             : HintFor(error, "check the path, and the disk it is on")};
}

Result<FileDescriptor> OpenRegularFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    const int error = errno;
    std::error_code ignored;
    if (error == ENOENT && std::filesystem::is_symlink(path, ignored)) {
      return Error{
          .code = ErrorCode::kProfile,
          .message = fmt::format("{} is a symbolic link that leads nowhere", ShownPath(path)),
          .hint = "bring back what it leads to, or remove it"};
    }
    return CannotOpen(path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    return NotRegular(path, info.st_mode);
  }
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return CannotOpen(path, errno);
  }
  return file;
}

std::string ShownPath(std::string_view path) { return Printable(path); }

bool HasSuffix(std::string_view path, std::string_view suffix) {
  return path.size() > suffix.size() &&
         LowerAscii(path.substr(path.size() - suffix.size())) == LowerAscii(suffix);
}

FileFacts JudgeContent(std::string_view head, int64_t size) {
  if (head.empty()) {
    return {.what = "an empty file",
            .hint = "the export or the copy did not finish; export the report again",
            .size = size,
            .never_report = true};
  }
  if (head.starts_with("SQLite format 3\0"sv)) {
    return {.kind = FileKind::kSqlite, .size = size};
  }
  if (head.starts_with("PAR1")) {
    return {.kind = FileKind::kParquetFile, .size = size};
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return {.what = "a file that holds nothing but zeros",
            .hint = "the copy did not finish, or the disk was full; copy or export it again",
            .size = size,
            .never_report = true};
  }
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) {
      return {.what = std::string(magic.what), .hint = std::string(magic.hint), .size = size};
    }
  }
  const bool text = LooksLikeText(head);
  const std::string_view banner = head.substr(0, 256);
  if (!text && (banner.find("NVIDIA") != std::string_view::npos ||
                banner.find("Nsight") != std::string_view::npos)) {
    return {.kind = FileKind::kReport, .size = size};
  }
  if (text) {
    FileFacts facts = JudgeText(head);
    facts.size = size;
    return facts;
  }
  return {.what = "binary data, not SQLite (encrypted or compressed?)",
          .hint = std::string(kExportHint),
          .size = size};
}

Result<FileFacts> InspectFile(const std::string& path) {
  if (path.empty()) {
    return NotFound(path);
  }
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return CannotOpen(path, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return FileFacts{.kind = FileKind::kDirectory};
  }
  if (!S_ISREG(info.st_mode)) {
    return NotRegular(path, info.st_mode);
  }
  NSYS_ASSIGN(const std::string head, ReadHead(path));
  return JudgeContent(head, info.st_size);
}

}  // namespace nsys

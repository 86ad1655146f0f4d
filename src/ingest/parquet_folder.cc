// SPDX-License-Identifier: MIT
#include "ingest/parquet_folder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "ingest/file_kind.h"

namespace nsys {
namespace {

constexpr std::string_view kSuffix = ".parquet";

// The entries of `folder` that have a name of their own, in byte order.
std::vector<std::string> EntriesOf(const std::string& folder, int* error = nullptr) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), &closedir);
  if (!entries) {
    if (error != nullptr) {
      *error = errno;
    }
    return names;
  }
  while (const dirent* entry = readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with('.')) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsOfType(const std::string& path, mode_t type) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & S_IFMT) == type;
}

// The parts of the table in `folder`.
std::vector<std::string> PartsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : EntriesOf(folder)) {
    if (name.ends_with(kSuffix)) {
      paths.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  return paths;
}

}  // namespace

std::vector<std::string> ListParquetFiles(const std::string& folder) {
  std::vector<std::string> names = EntriesOf(folder);
  std::erase_if(names, [&](const std::string& name) {
    return !name.ends_with(kSuffix) || !IsOfType(fmt::format("{}/{}", folder, name), S_IFREG);
  });
  return names;
}

ParquetListing ListParquetTables(const std::string& folder, bool table_folders) {
  ParquetListing listing;
  for (const std::string& entry : EntriesOf(folder, &listing.error)) {
    const std::string path = fmt::format("{}/{}", folder, entry);
    if (!entry.ends_with(kSuffix)) {
      if (HasSuffix(entry, kSuffix) && IsOfType(path, S_IFREG)) {
        listing.warnings.push_back(
            fmt::format("the file {} is not read: the name of a table ends "
                        "in {}, in these letters",
                        ShownPath(path), kSuffix));
      }
      continue;
    }
    ParquetTable table{.name = entry.substr(0, entry.size() - kSuffix.size()), .paths = {}};
    if (!IsOfType(path, S_IFDIR)) {
      table.paths.push_back(path);  // when it is no regular file either, opening it tells
    } else if (!table_folders) {
      listing.warnings.push_back(fmt::format(
          "the folder {} is not read: only convert reads tables in parts", ShownPath(path)));
    } else {
      table.paths = PartsIn(path);
      if (table.paths.empty()) {
        listing.warnings.push_back(
            fmt::format("the folder {} holds no part of a table", ShownPath(path)));
      }
    }
    if (!table.paths.empty()) {
      listing.tables.push_back(std::move(table));
    }
  }
  std::sort(listing.tables.begin(), listing.tables.end(),
            [](const ParquetTable& a, const ParquetTable& b) { return a.name < b.name; });
  return listing;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "ingest/sqlite_temp.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <sqlite3.h>

namespace nsys {
namespace {

struct Shim {
  std::string name;
  sqlite3_vfs* base = nullptr;
  sqlite3_vfs* memory = nullptr;
  sqlite3_vfs vfs = {};
};

int OpenFile(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags,
             int* out_flags) {
  const auto* shim = static_cast<const Shim*>(vfs->pAppData);
  if (name != nullptr) {
    return shim->base->xOpen(shim->base, name, file, flags, out_flags);
  }
  const int opened = shim->memory->xOpen(shim->memory, name, file, flags, out_flags);
  if (opened == SQLITE_OK) {
    sqlite3_int64 most = sqlite3_int64{1} << 46;  // what limits it is the memory of the statement
    file->pMethods->xFileControl(file, SQLITE_FCNTL_SIZE_LIMIT, &most);
  }
  return opened;
}

}  // namespace

const char* MemoryTempVfs(const char* base) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Shim>> shims;  // registered until the process ends
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Shim>& shim = shims[base];
  if (shim) {
    return shim->name.c_str();
  }
  sqlite3_vfs* of_base = sqlite3_vfs_find(base);
  sqlite3_vfs* memory = sqlite3_vfs_find("memdb");
  if (of_base == nullptr || memory == nullptr) {
    return nullptr;
  }
  shim = std::make_unique<Shim>();
  shim->name = std::string("nsys-ai-") + base;
  shim->base = of_base;
  shim->memory = memory;
  shim->vfs = *of_base;  // its other methods do not look at the VFS they are called with
  shim->vfs.pNext = nullptr;
  shim->vfs.zName = shim->name.c_str();
  shim->vfs.szOsFile = std::max(of_base->szOsFile, memory->szOsFile);
  shim->vfs.pAppData = shim.get();
  shim->vfs.xOpen = OpenFile;
  if (sqlite3_vfs_register(&shim->vfs, 0) != SQLITE_OK) {
    shim.reset();
    return nullptr;
  }
  return shim->name.c_str();
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// For the tests of this folder: temporary folders, small SQLite files, and captures as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/load.h"
#include "ingest/table_source.h"

namespace nsys::ingest_test {

// A folder that goes away with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string name = testing::TempDir() + "nsys-ai-test-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline void Execute(sqlite3* db, const std::string& sql) {
  char* message = nullptr;
  ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message) << "\n"
      << sql;
}

using OpenDatabase = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

inline OpenDatabase OpenForWriting(const std::string& path) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  return OpenDatabase(db, &sqlite3_close);
}

inline void MakeSqlite(const std::string& path, const std::string& sql) {
  const OpenDatabase db = OpenForWriting(path);
  Execute(db.get(), "PRAGMA synchronous=OFF;" + sql);
}

// Every table and column that can be loaded.
inline Reads ReadEverything() {
  const ColumnSet all = {Column::kTime,   Column::kLane,  Column::kCorrelation, Column::kName,
                         Column::kThread, Column::kBytes, Column::kKind};
  Reads reads;
  for (size_t i = 0; i < kTableCount; ++i) {
    reads.Add(static_cast<TableId>(i), all);
  }
  return reads;
}

// A capture with all tables that are read, odd values among them.
inline std::string SampleSql() {
  return R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'gemm'),(2,'void gemm<float>()'),(3,'cudaLaunchKernel_v7000'),
  (4,CAST(x'6261FF64' AS TEXT)),(5,CAST(x'610062' AS TEXT)),(6,'step'),(70000000,'far');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, shortName INTEGER, demangledName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (100,200,0,1,NULL,7,11,281474993487872,1,2),
  (50,60,1,1,0,7,12,281474993487872,4,NULL),
  (50,55,0,1,3,7,13,281474993487872,99,98),
  (300,290,0,1,NULL,7,14,281474993487872,1,2),
  (NULL,1,0,1,NULL,7,15,281474993487872,1,2),
  (400,NULL,0,1,NULL,7,16,281474993487872,1,2),
  (50,55,0,1,NULL,9,NULL,-144115188075855872,5,70000000);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90,95,281474993487873,11,3),
  (40,45,281474993487874,12,3),(41,46,NULL,NULL,NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, eventType INTEGER, text TEXT,
  textId INTEGER, globalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (10,20,59,NULL,6,281474993487873,0),
  (5,NULL,34,CAST(x'6DFF' AS TEXT),NULL,281474993487873,1),(7,9,60,'plain',NULL,NULL,NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,
  copyKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10,30,0,1,7,21,281474993487872,4096,1);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  deprecatedSyncType INTEGER, syncType INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (10,30,0,1,7,22,281474993487872,4,NULL);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,1,1),(1,0,1),(0,1,2);
)";
}

// All of `trace` as text, with texts in place of their ids.
inline std::string Dump(const Trace& trace) {
  std::string out;
  const auto number = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : std::string("-");
  };
  for (const Process& process : trace.processes) {
    out += fmt::format("P {}\n", process.global_pid);
  }
  for (const Thread& thread : trace.threads) {
    out += fmt::format("T {} {}\n", thread.global_tid, Index(thread.process));
  }
  for (const Lane& lane : trace.lanes) {
    out += fmt::format("L {} {} {} {} {}\n", number(lane.device), number(lane.stream),
                       number(lane.global_pid), number(lane.context), number(lane.green_context));
  }
  for (const NvtxLane& lane : trace.nvtx_lanes) {
    out += fmt::format("N {} {}\n", Index(lane.thread), lane.domain);
  }
  const auto gpu = [&](const char* name, const GpuEvents& events, size_t row) {
    out += fmt::format("{} {} {} lane {} corr {}", name, events.start_ns[row], events.end_ns[row],
                       Index(events.lane[row]), events.correlation[row]);
  };
  const KernelTable& kernels = trace.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    gpu("kernel", kernels, row);
    out +=
        fmt::format(" '{}' '{}' '{}'\n", trace.Text(kernels.name[row]),
                    trace.Text(kernels.short_name[row]), trace.Text(kernels.demangled_name[row]));
  }
  for (size_t row = 0; row < trace.copies.size(); ++row) {
    gpu("copy", trace.copies, row);
    out += fmt::format(" {} {}\n", trace.copies.bytes[row], trace.copies.kind[row]);
  }
  for (size_t row = 0; row < trace.syncs.size(); ++row) {
    gpu("sync", trace.syncs, row);
    out += fmt::format(" {}\n", trace.syncs.type[row]);
  }
  for (size_t row = 0; row < trace.calls.size(); ++row) {
    out += fmt::format("call {} {} {} {} '{}'\n", trace.calls.start_ns[row],
                       trace.calls.end_ns[row], Index(trace.calls.thread[row]),
                       trace.calls.correlation[row], trace.Text(trace.calls.name[row]));
  }
  for (size_t row = 0; row < trace.nvtx.size(); ++row) {
    out += fmt::format("nvtx {} {} {} {} '{}'\n", trace.nvtx.start_ns[row], trace.nvtx.end_ns[row],
                       Index(trace.nvtx.lane[row]), trace.nvtx.event_type[row],
                       trace.Text(trace.nvtx.text[row]));
  }
  for (const int64_t device : trace.device_inventory) {
    out += fmt::format("D {}\n", device);
  }
  for (const std::string& warning : trace.warnings) {
    out += "W " + warning + "\n";
  }
  return out;
}

}  // namespace nsys::ingest_test

// SPDX-License-Identifier: MIT
// Loading of the small tables, of processor samples and of profiler overhead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/ingest_test_util.h"
#include "ingest/load.h"
#include "ingest/sqlite_source.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Trace LoadTables(const std::string& sql, std::initializer_list<TableId> tables) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", sql);
  auto source = OpenSqlite(folder / "x.sqlite");
  EXPECT_TRUE(source.ok());
  Reads reads;
  for (const TableId table : tables) {
    reads.Add(table, {Column::kWhole});
  }
  auto trace = LoadTrace(*source.value(), reads, {.threads = 1, .progress = {}});
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return std::move(trace).value();
}

TEST(LoadInventory, Samples) {
  const Trace trace = LoadTables(
      "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, globalTid INTEGER, cpuCycles "
      "INTEGER); INSERT INTO COMPOSITE_EVENTS VALUES (0,30,16777223,5),(1,10,16777218,7),"
      "(2,10,NULL,1),(3,NULL,16777218,9),(4,5,16777218,-1),(5,5,16777218,NULL),"
      "(6,5,16777218,9223372036854775807)",
      {TableId::kSamples});
  EXPECT_THAT(trace.samples.start_ns, ElementsAre(10, 10, 30));
  EXPECT_THAT(trace.samples.end_ns, ElementsAre(10, 10, 30));
  EXPECT_THAT(trace.samples.cycles, ElementsAre(7, 1, 5));
  ASSERT_EQ(trace.threads.size(), 2U);
  EXPECT_EQ(trace.threads[1].global_tid, 16777223);
  EXPECT_THAT(trace.samples.thread, ElementsAre(ThreadId{0}, ThreadId::kNone, ThreadId{1}));
  EXPECT_EQ(trace.rows_left_out[static_cast<size_t>(TableId::kSamples)], 4);
  EXPECT_THAT(trace.warnings, ElementsAre(HasSubstr("COMPOSITE_EVENTS: 4 rows without a time")));
}

TEST(LoadInventory, SamplesWithoutCyclesAreMissingAColumn) {
  const Trace trace = LoadTables(
      "CREATE TABLE COMPOSITE_EVENTS (start INTEGER, globalTid INTEGER);"
      "INSERT INTO COMPOSITE_EVENTS VALUES (1,2)",
      {TableId::kSamples});
  EXPECT_EQ(trace.samples.size(), 0U);
  EXPECT_THAT(trace.schema.Missing(TableId::kSamples, Column::kWhole), ElementsAre("cpuCycles"));
}

constexpr const char* kOverheadColumns =
    " (start INTEGER, \"end\" INTEGER, globalTid INTEGER, nameId INTEGER);";

TEST(LoadInventory, ProfilerOverhead) {
  const Trace trace = LoadTables(
      std::string("CREATE TABLE PROFILER_OVERHEAD") + kOverheadColumns +
          "INSERT INTO PROFILER_OVERHEAD VALUES (50,60,1,1),(10,20,1,1),(5,NULL,1,1),(9,3,1,1)",
      {TableId::kOverhead});
  EXPECT_THAT(trace.overheads.start_ns, ElementsAre(10, 50));
  EXPECT_THAT(trace.overheads.end_ns, ElementsAre(20, 60));
  EXPECT_EQ(trace.rows_left_out[static_cast<size_t>(TableId::kOverhead)], 2);
}

TEST(LoadInventory, ProfilerOverheadUnderItsLowerCaseName) {
  const Trace trace = LoadTables(std::string("CREATE TABLE profiler_overhead") + kOverheadColumns +
                                     "INSERT INTO profiler_overhead VALUES (1,2,1,1)",
                                 {TableId::kOverhead});
  EXPECT_EQ(trace.schema.resolved[static_cast<size_t>(TableId::kOverhead)], "profiler_overhead");
  EXPECT_THAT(trace.overheads.end_ns, ElementsAre(2));
  EXPECT_THAT(trace.schema.unknown_gpu_tables, IsEmpty());
}

TEST(LoadInventory, ThreadNamesByPriorityThenText) {
  const Trace trace = LoadTables(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1,'python'),"
      "(2,'main'),(3,'a thread');"
      "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
      "INSERT INTO ThreadNames VALUES (1,0,9),(2,5,9),(3,5,9),(1,NULL,4),(99,7,4),(1,7,NULL)",
      {TableId::kThreadNames});
  std::vector<std::string> names;
  for (const ThreadName& name : trace.thread_names) {
    names.push_back(std::to_string(name.global_tid) + " " + std::to_string(name.priority) + " " +
                    std::string(trace.Text(name.name)));
  }
  EXPECT_THAT(names, ElementsAre("4 0 python", "9 5 a thread", "9 5 main", "9 0 python"));
}

TEST(LoadInventory, GpusAndDevices) {
  const Trace trace = LoadTables(
      "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, chipName TEXT, totalMemory INTEGER, "
      "memoryBandwidth INTEGER, smCount INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (1,'GPU one',NULL,80,3350,132),(0,NULL,'GH100',NULL,NULL,"
      "NULL);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1,0,7),(0,1,7),(1,0,6),(0,NULL,6)",
      {TableId::kGpu, TableId::kCudaDevice});
  ASSERT_EQ(trace.gpus.size(), 2U);
  EXPECT_EQ(trace.gpus[0].chip, "GH100");
  EXPECT_FALSE(trace.gpus[0].name.has_value());
  EXPECT_EQ(trace.gpus[1].name, "GPU one");
  EXPECT_EQ(trace.gpus[1].bytes_per_second, 3350);
  EXPECT_EQ(trace.gpus[1].memory_bytes, 80);
  EXPECT_EQ(trace.gpus[1].multiprocessors, 132);
  ASSERT_EQ(trace.cuda_devices.size(), 3U);
  EXPECT_EQ(trace.cuda_devices[0].pid, 6);
  EXPECT_EQ(trace.cuda_devices[2].gpu, 0);
  EXPECT_THAT(trace.device_inventory, ElementsAre(0, 1));
}

TEST(LoadInventory, OldExportsNumberDevicesAsTheSystemDoes) {
  const Trace trace = LoadTables(
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3,7)",
      {TableId::kCudaDevice});
  EXPECT_THAT(trace.device_inventory, ElementsAre(3));
}

TEST(LoadInventory, NamesOfEnumerations) {
  const Trace trace = LoadTables(
      "CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER, name TEXT, label TEXT);"
      "INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (2,'WAIT','w'),(2,'AGAIN','w'),(NULL,'x','x'),(3,"
      "NULL,'y');"
      "CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT);"
      "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'PAGEABLE'),(1,CAST(x'50FF' AS TEXT))",
      {TableId::kSyncTypes, TableId::kMemoryKinds});
  EXPECT_THAT(trace.sync_types, ElementsAre(Pair(2, "WAIT"))) << "the first one counts";
  EXPECT_THAT(trace.memory_kinds, ElementsAre(Pair(0, "PAGEABLE"), Pair(1, "P\xEF\xBF\xBD")));
}

TEST(LoadInventory, NetworkCards) {
  const Trace trace = LoadTables(
      "CREATE TABLE TARGET_INFO_NIC_INFO (name TEXT, vendorId INTEGER);"
      "INSERT INTO TARGET_INFO_NIC_INFO VALUES ('mlx5_1',5555),('eth0',NULL),(NULL,1)",
      {TableId::kNics});
  ASSERT_EQ(trace.nics.size(), 3U);
  EXPECT_EQ(trace.nics[0].name, "");
  EXPECT_EQ(trace.nics[1].name, "eth0");
  EXPECT_FALSE(trace.nics[1].vendor.has_value());
  EXPECT_EQ(trace.nics[2].vendor, 5555);
}

TEST(LoadInventory, PayloadSchemasRepeatPerProcess) {
  const Trace trace = LoadTables(
      "CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT, type "
      "INTEGER, payloadSize INTEGER);"
      "INSERT INTO NVTX_PAYLOAD_SCHEMAS VALUES (1,7,'AllReduce',1,24),(1,7,'AllReduce',1,24),"
      "(2,7,'other domain',1,8);"
      "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, "
      "flags INTEGER, type INTEGER, name TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);"
      "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1,7,1,0,18,'size',0,8),(1,7,0,0,18,'comm',0,"
      "0),(1,7,1,0,18,'size',0,8),(1,9,0,0,1,'no schema',0,0),(2,7,0,0,5,'rank',2,NULL)",
      {TableId::kPayloadSchemas, TableId::kPayloadEntries});
  ASSERT_EQ(trace.payload_schemas.size(), 2U);
  const PayloadSchema& schema = trace.payload_schemas[0];
  EXPECT_EQ(schema.name, "AllReduce");
  EXPECT_EQ(schema.bytes, 24);
  ASSERT_EQ(schema.fields.size(), 2U) << "each field once";
  EXPECT_EQ(schema.fields[0].name, "comm");
  EXPECT_EQ(schema.fields[1].offset, 8);
  EXPECT_EQ(trace.payload_schemas[1].domain, 2);
  EXPECT_EQ(trace.payload_schemas[1].fields[0].array_or_union, 2);
  EXPECT_FALSE(trace.payload_schemas[1].fields[0].offset.has_value());
}

TEST(LoadInventory, AbsentTablesStayEmpty) {
  const Trace trace =
      LoadTables("CREATE TABLE unrelated (x INTEGER)",
                 {TableId::kSamples, TableId::kOverhead, TableId::kCudaDevice, TableId::kGpu,
                  TableId::kThreadNames, TableId::kNics, TableId::kMemoryKinds, TableId::kSyncTypes,
                  TableId::kPayloadSchemas, TableId::kPayloadEntries});
  EXPECT_EQ(trace.samples.size() + trace.overheads.size(), 0U);
  EXPECT_TRUE(trace.gpus.empty() && trace.thread_names.empty() && trace.nics.empty());
  EXPECT_TRUE(trace.payload_schemas.empty() && trace.sync_types.empty());
  EXPECT_TRUE(trace.warnings.empty());
}

}  // namespace
}  // namespace nsys

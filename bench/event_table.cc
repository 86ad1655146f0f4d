// SPDX-License-Identifier: MIT
// bench-event_table CAPTURE: what the event table costs beside its limit, which is packing the same
// pages by zstd and nothing else. CPU seconds, one thread, in turns.
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cpu_clock.h"
#include "ingest/capture.h"
#include "ingest/load.h"
#include "parquet_reader.h"
#include "perfetto/event_table.h"
#include "perfetto/layout.h"

namespace nsys::bench {
namespace {

constexpr int kRounds = 3;
constexpr int kZstdLevel = 1;  // that of the encoder

[[noreturn]] void Die(const std::string& why) {
  fmt::print(stderr, "bench-event_table: {}\n", why);
  std::exit(1);
}

template <typename T>
T OrDie(Result<T> result) {
  if (!result.ok()) {
    Die(result.error().message);
  }
  return std::move(result).value();
}

int64_t WriteTable(const Trace& trace, const perfetto::Layout& layout, const std::string& path) {
  std::filesystem::remove(path);
  const auto sink = OrDie(OpenPlainSink(path));
  const int64_t rows = OrDie(perfetto::WriteEventTable(trace, layout, {}, *sink));
  if (const Status status = sink->Finish(); !status.ok()) {
    Die(status.error().message);
  }
  return rows;
}

int Main(const std::string& capture) {
  const perfetto::Options options{.report = "bench"};
  const auto source = OrDie(OpenCapture(capture, 1));
  const Trace trace =
      OrDie(LoadTrace(*source, perfetto::LayoutReads(options), {.for_drawing = true}));
  const perfetto::Layout layout = OrDie(perfetto::MakeLayout(trace, options));
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("event_table.{}.parquet", getpid());

  int64_t rows = 0;
  uint64_t bytes = 0;
  ZSTD_CCtx* const zstd = ZSTD_createCCtx();
  std::string packed;
  const auto pack = [&](const std::string& body) {
    packed.resize(std::max(packed.size(), ZSTD_compressBound(body.size())));
    bytes += body.size();
    ZSTD_compressCCtx(zstd, packed.data(), packed.size(), body.data(), body.size(), kZstdLevel);
  };
  std::vector<double> ours;
  std::vector<double> limit;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(CpuSecondsOf([&] { rows = WriteTable(trace, layout, path); }));
    bytes = 0;
    double seconds = 0;
    testing::ForEachParquetPage(
        path, [&](const std::string& body) { seconds += CpuSecondsOf([&] { pack(body); }); });
    limit.push_back(seconds);
  }
  ZSTD_freeCCtx(zstd);
  const double cpu = Median(ours);
  const auto megabytes = static_cast<double>(bytes) / 1e6;
  fmt::print("{} rows, {:.1f} MB of pages, {:.1f} MB of file\n", rows, megabytes,
             static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  fmt::print(
      "event table {:.3f} s ({:.2f} M rows/s, {:.0f} MB/s); zstd alone {:.3f} s ({:.0f} "
      "MB/s); {:.2f}x\n",
      cpu, static_cast<double>(rows) / cpu / 1e6, megabytes / cpu, Median(limit),
      megabytes / Median(limit), cpu / Median(limit));
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace nsys::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench-event_table CAPTURE\n");
    return 2;
  }
  return nsys::bench::Main(argv[1]);
}

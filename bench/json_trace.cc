// SPDX-License-Identifier: MIT
// bench-json_trace CAPTURE: how fast the JSON trace of a capture is written. CPU seconds of one
// thread: the text alone; the text and gzip into a file, beside gzip (ISA-L level 1) alone of the
// same bytes into it; and reading the file back.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>

#include "base/block_sink.h"
#include "cpu_clock.h"
#include "ingest/capture.h"
#include "ingest/load.h"
#include "perfetto/json_trace.h"
#include "perfetto/layout.h"

namespace nsys::bench {
namespace {

constexpr int kRounds = 3;

// Drops what it gets.
class NoSink : public BlockSink {
 public:
  void Pack(std::string_view block, PackedBlock& packed) const override {
    packed.length = block.size();
  }
  Status Take(const PackedBlock& packed) override {
    bytes_ += packed.length;
    return {};
  }
  Status Finish() override { return {}; }
  uint64_t file_bytes() const override { return 0; }
  uint64_t plain_bytes() const override { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

// Passes on, and adds up the time that this takes. For one thread.
class TimedSink : public BlockSink {
 public:
  explicit TimedSink(BlockSink& inner) : inner_(inner) {}
  void Pack(std::string_view block, PackedBlock& packed) const override {
    const double before = CpuSeconds();
    inner_.Pack(block, packed);
    seconds += CpuSeconds() - before;
  }
  Status Take(const PackedBlock& packed) override {
    const double before = CpuSeconds();
    Status status = inner_.Take(packed);
    seconds += CpuSeconds() - before;
    return status;
  }
  Status Finish() override {
    const double before = CpuSeconds();
    Status status = inner_.Finish();
    seconds += CpuSeconds() - before;
    return status;
  }
  uint64_t file_bytes() const override { return inner_.file_bytes(); }
  uint64_t plain_bytes() const override { return inner_.plain_bytes(); }

  mutable double seconds = 0;

 private:
  BlockSink& inner_;
};

struct Times {
  std::vector<double> text;
  std::vector<double> both;
  std::vector<double> gzip;
  std::vector<double> check;
};

Status RunOnce(const Trace& trace, const perfetto::Layout& layout, const std::string& path,
               Times& times) {
  NoSink nothing;
  double before = CpuSeconds();
  NSYS_ASSIGN(const int64_t events, perfetto::WriteJsonTrace(trace, layout, {}, nothing));
  times.text.push_back(CpuSeconds() - before);

  std::filesystem::remove(path);
  NSYS_ASSIGN(const auto file, OpenGzipSink(path));
  TimedSink timed(*file);
  before = CpuSeconds();
  NSYS_TRY(perfetto::WriteJsonTrace(trace, layout, {}, timed));
  NSYS_TRY(timed.Finish());
  times.both.push_back(CpuSeconds() - before);
  times.gzip.push_back(timed.seconds);

  before = CpuSeconds();
  NSYS_TRY(perfetto::CheckJsonTrace(path, true, events));
  times.check.push_back(CpuSeconds() - before);
  if (times.text.size() == 1) {
    fmt::print("{} events, {:.1f} MB of JSON, {:.1f} MB of gzip\n", events,
               static_cast<double>(file->plain_bytes()) / 1e6,
               static_cast<double>(file->file_bytes()) / 1e6);
  }
  if (times.text.size() == kRounds) {
    const double gigabytes = static_cast<double>(file->plain_bytes()) / 1e9;
    const double text = Median(times.text);
    const double both = Median(times.both);
    const double gzip = Median(times.gzip);
    fmt::print("JSON alone               {:>7.3f} s  {:>6.2f} GB/s\n", text, gigabytes / text);
    fmt::print("JSON and gzip            {:>7.3f} s  {:>6.2f} GB/s\n", both, gigabytes / both);
    fmt::print("ISA-L level 1 alone      {:>7.3f} s  {:>6.2f} GB/s  ratio {:.2f}x\n", gzip,
               gigabytes / gzip, both / gzip);
    const double check = Median(times.check);
    fmt::print("check of the file        {:>7.3f} s  {:>6.2f} GB/s\n", check, gigabytes / check);
  }
  return {};
}

Status Run(const std::string& capture, const std::string& path) {
  NSYS_ASSIGN(const auto source, OpenCapture(capture, 1));
  perfetto::Options options;
  options.report = std::filesystem::path(capture).stem().string();
  LoadOptions load;
  load.for_drawing = true;
  NSYS_ASSIGN(const Trace trace, LoadTrace(*source, perfetto::LayoutReads(options), load));
  const double before = CpuSeconds();
  NSYS_ASSIGN(const perfetto::Layout layout, perfetto::MakeLayout(trace, options));
  fmt::print("layout                   {:>7.3f} s\n", CpuSeconds() - before);
  Times times;
  for (int round = 0; round < kRounds; ++round) {
    NSYS_TRY(RunOnce(trace, layout, path, times));
  }
  return {};
}

}  // namespace
}  // namespace nsys::bench

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: {} CAPTURE [FILE.json.gz to keep]\n", argv[0]);
    return 2;
  }
  const std::string path = argc == 3 ? argv[2]
                                     : (std::filesystem::temp_directory_path() /
                                        fmt::format("nsys_ai_bench_{}.json.gz", ::getpid()))
                                           .string();
  const nsys::Status status = nsys::bench::Run(argv[1], path);
  if (argc == 2) {
    std::filesystem::remove(path);
  }
  if (!status.ok()) {
    fmt::print(stderr, "{}\n", status.error().message);
    return 1;
  }
  return 0;
}

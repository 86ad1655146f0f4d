// SPDX-License-Identifier: MIT
// bench-proto_trace: writing a Perfetto trace in its own format, beside the same trace as JSON and
// gzip, of a made-up capture or of one that is given. CPU seconds, in turns, one thread.
//   bench-proto_trace [CAPTURE]
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "cpu_clock.h"
#include "ingest/capture.h"
#include "ingest/load.h"
#include "perfetto/json_trace.h"
#include "perfetto/layout.h"
#include "perfetto/proto_trace.h"
#include "trace_builder.h"

namespace nsys::bench {
namespace {

using perfetto::Layout;

constexpr int kRounds = 3;
constexpr int64_t kLaunches = 300'000;

// Launches of a training loop: a call and its kernel, ranges around every few, now and then a copy.
Trace MadeUp() {
  TraceBuilder builder;
  for (int64_t i = 0; i < kLaunches; ++i) {
    const int64_t at = i * 10'000;
    builder.Call("cudaLaunchKernel", {.start_ns = at, .end_ns = at + 4000, .correlation = i});
    builder.Kernel(
        "kernel_" + std::to_string(i % 100),
        {.start_ns = at + 20'000,
         .end_ns = at + 29'000,
         .correlation = i,
         .shape = {.grid = {static_cast<int32_t>(i % 1000), 4, 1}, .block = {256, 1, 1}}});
    if (i % 4 == 0) {
      builder.Range("layer_" + std::to_string(i / 4 % 50),
                    {.start_ns = at - 100, .end_ns = at + 39'000});
    }
    if (i % 50 == 0) {
      builder.Copy({.start_ns = at + 29'100,
                    .end_ns = at + 29'900,
                    .bytes = 1'000'000,
                    .correlation = i,
                    .from_memory = 1,
                    .to_memory = 2});
    }
  }
  return builder.Build();
}

// Counts bytes and keeps none.
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
  uint64_t file_bytes() const override { return bytes_; }
  uint64_t plain_bytes() const override { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

// A gzip file that is gone when it is closed.
std::unique_ptr<BlockSink> GzipSink() {
  const std::string path = "bench-proto_trace.gz.tmp";
  std::remove(path.c_str());
  Result<std::unique_ptr<BlockSink>> sink = OpenGzipSink(path);
  std::remove(path.c_str());
  return std::move(sink).value();
}

int64_t Slices(const Layout& layout) {
  return 2 * layout.counts.kernels + layout.counts.copies +
         static_cast<int64_t>(layout.copy_usage.size() + layout.call_slices.size() +
                              layout.range_slices.size() + layout.projections.size() +
                              layout.extra_slices.size());
}

void Report(const Trace& trace, const Layout& layout) {
  const int64_t slices = Slices(layout);
  uint64_t proto_bytes = 0;
  uint64_t json_bytes = 0;
  const auto proto = [&](BlockSink& sink) {
    Keep(perfetto::WriteProtoTrace(trace, layout, {.threads = 1}, sink));
    proto_bytes = sink.file_bytes();
  };
  const auto json = [&](BlockSink& sink) {
    Keep(perfetto::WriteJsonTrace(trace, layout, {.threads = 1}, sink));
    json_bytes = sink.file_bytes();
  };
  const auto print = [&](const char* what, const Pair& cpu) {
    fmt::print(
        "{:<12}  {:>7.3f} s  {:>6.2f} M slices/s  {:>9} bytes   JSON {:>7.3f} s  {:>9} bytes  "
        "{:>5.2f}x\n",
        what, cpu.ours, static_cast<double>(slices) / cpu.ours / 1e6, proto_bytes, cpu.limit,
        json_bytes, cpu.limit / cpu.ours);
  };
  fmt::print("{} slices\n", slices);
  print("text alone", InTurns(
                          kRounds,
                          [&] {
                            NoSink plain;
                            proto(plain);
                          },
                          [&] {
                            NoSink plain;
                            json(plain);
                          }));
  print("with gzip", InTurns(kRounds, [&] { proto(*GzipSink()); }, [&] { json(*GzipSink()); }));
}

int Run(const char* path) {
  Trace trace;
  if (path == nullptr) {
    trace = MadeUp();
  } else {
    Result<std::unique_ptr<TableSource>> source = OpenCapture(path, 1);
    if (!source.ok()) {
      fmt::print(stderr, "{}\n", source.error().message);
      return 1;
    }
    Result<Trace> loaded =
        LoadTrace(*source.value(), perfetto::LayoutReads({}), {.threads = 1, .for_drawing = true});
    if (!loaded.ok()) {
      fmt::print(stderr, "{}\n", loaded.error().message);
      return 1;
    }
    trace = std::move(loaded).value();
  }
  perfetto::Options options;
  options.report = "bench";
  const Result<Layout> layout = perfetto::MakeLayout(trace, options);
  if (!layout.ok()) {
    fmt::print(stderr, "{}\n", layout.error().message);
    return 1;
  }
  Report(trace, layout.value());
  return 0;
}

}  // namespace
}  // namespace nsys::bench

int main(int argc, char** argv) { return nsys::bench::Run(argc > 1 ? argv[1] : nullptr); }

// SPDX-License-Identifier: MIT
#include "cli/convert_summary.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

using Figures = std::vector<std::pair<std::string_view, int64_t>>;

// Up to the anchor: the names and the order that readers of the line know.
Figures KnownFigures(const Conversion& conversion) {
  const perfetto::Counts& counts = conversion.counts;
  return {{"kernels", counts.kernels},
          {"cuda_api", counts.calls},
          {"cuda_sync_api", counts.sync_calls},
          {"launch_dependencies", counts.linked_kernels},
          {"core_launch_dependencies", counts.linked_kernels},
          {"memcpy", counts.copies},
          {"h2d", counts.h2d},
          {"d2h", counts.d2h},
          {"d2d", counts.d2d},
          {"memcpy_launch_dependencies", counts.linked_copies},
          {"pcie_usage_launch_dependencies", counts.usage_flows},
          {"nvtx", counts.ranges},
          {"nvtx_timestamp_repaired", counts.repaired_ranges},
          {"nvtx_kernel", counts.projected_ranges},
          {"stream_overlap_lanes", counts.stream_lanes},
          {"projected_nvtx_overlap_lanes", counts.nvtx_kernel_lanes},
          {"stream_dependencies", 0},
          {"json_events", conversion.json_events},
          {"parquet_rows", conversion.parquet_rows},
          {"anchor_ns", conversion.anchor_ns}};
}

Figures FurtherFigures(const Conversion& conversion) {
  const perfetto::Counts& counts = conversion.counts;
  return {{"memcpy_other", counts.other_copies},
          {"skewed_links", counts.skewed_links},
          {"clamped", counts.clamped},
          {"nvtx_start_end", counts.start_end_ranges},
          {"nvtx_marks", counts.marks},
          {"nvtx_open", counts.open_ranges},
          {"nvtx_text_log", counts.text_ranges},
          {"nvtx_kernel_other", counts.projected_other_ranges},
          {"nvtx_ambiguous", counts.ambiguous_ranges},
          {"extra_slices", counts.extra_slices},
          {"counter_samples", counts.counter_samples},
          {"pftrace_packets", conversion.packets}};
}

std::string_view AnchorName(const Conversion& conversion) {
  return conversion.anchored ? "critical_path_batch_0" : "first_trace_event";
}

std::string Encoded(std::string_view report) {
  std::string text;
  for (const char c : report) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7F || c == '%') {
      text += fmt::format("%{:02X}", byte);
    } else {
      text += c;
    }
  }
  return ToValidUtf8(text);
}

}  // namespace

std::string SummaryLine(const Conversion& conversion) {
  std::string line = "report=" + Encoded(conversion.report);
  for (const auto& [name, figure] : KnownFigures(conversion)) {
    line += fmt::format(" {}={}", name, figure);
  }
  line += fmt::format(" alignment_anchor={}", AnchorName(conversion));
  for (const auto& [name, figure] : FurtherFigures(conversion)) {
    line += fmt::format(" {}={}", name, figure);
  }
  return line;
}

std::string SummaryText(const Conversion& conversion) {
  std::string text;
  if (!conversion.nsys.empty()) {
    text += fmt::format("nsys: {} ({})\n", Printable(conversion.nsys_version),
                        Printable(conversion.nsys));
  }
  text += SummaryLine(conversion) + "\n";
  for (const ConvertedFile& file : conversion.files) {
    text += fmt::format("{:<12}  {:>10}  {}\n", OutputKindName(file.kind), FormatBytes(file.bytes),
                        file.path);
  }
  if (!conversion.files.empty() && conversion.files.back().kind == OutputKind::kJson) {
    text += conversion.files.back().path + "\n";
  }
  return text;
}

Object SummaryObject(const Conversion& conversion) {
  Object object{{"input", ToValidUtf8(conversion.input)},
                {"report", ToValidUtf8(conversion.report)}};
  if (!conversion.nsys.empty()) {
    object.Set("nsys", Object{{"path", conversion.nsys}, {"version", conversion.nsys_version}});
  }
  Object counts;
  for (const auto& [name, figure] : KnownFigures(conversion)) {
    counts.Set(name, figure);
  }
  counts.Set("alignment_anchor", AnchorName(conversion));
  for (const auto& [name, figure] : FurtherFigures(conversion)) {
    counts.Set(name, figure);
  }
  object.Set("summary", std::move(counts));
  object.Set("origin_ns", conversion.origin_ns);
  object.Set("json_text_bytes", conversion.json_bytes);
  List files;
  for (const ConvertedFile& file : conversion.files) {
    files.emplace_back(Object{{"kind", OutputKindName(file.kind)},
                              {"path", ToValidUtf8(file.path)},
                              {"bytes", file.bytes}});
  }
  object.Set("files", std::move(files));
  const bool has_json =
      !conversion.files.empty() && conversion.files.back().kind == OutputKind::kJson;
  object.Set("json", has_json ? Value(ToValidUtf8(conversion.files.back().path)) : Value());
  return object;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
// Which annotated regions of the code cost the most GPU time?
//
// A region is a path of push-pop ranges around launches (analysis/attribution.h); its time is the
// sum of the durations of the kernels launched in it, on all GPUs, so that kernels which run at the
// same time count each. Paths are told apart by the normal labels of their ranges
// (trace/nvtx_labels.h), so that "aten::mm, op_id = 1" and "…, op_id = 2" are one region, called
// "aten::mm"; a label that stands for one text only is shown as that text. `raw` tells every text
// apart. Where layers stand at some depth (analysis/layers.h), all that lies below a path of that
// depth is added to it. compute = total − communication. Order: total descending, path.
#include <algorithm>

#include <fmt/core.h>

#include "analysis/regions.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr size_t kTopKernels = 3;
constexpr size_t kSampledNames = 5;  // with report=compact
constexpr size_t kToldNames = 3;     // in the text form

enum class Report { kFull, kCompact };

std::optional<Report> ReadReport(std::string_view text) {
  const std::string word = LowerAscii(text);
  if (word.empty() || word == "full" || word == "default") {
    return Report::kFull;
  }
  if (word == "compact" || word == "slim" || word == "minimal") {
    return Report::kCompact;
  }
  return std::nullopt;
}

List TextList(const std::vector<std::string>& texts) { return List(texts.begin(), texts.end()); }

Object MakeMeta(const LayerDetection& detection, Report report) {
  Object meta{{"_detection_meta", true},
              {"layer_depth", detection.depth ? Value(int64_t{*detection.depth}) : Value()}};
  if (report == Report::kFull) {
    meta.Set("layer_names", TextList(detection.names));
  }
  meta.Set("detection_method", detection.method);
  meta.Set("grouping_type", detection.grouping);
  meta.Set("confidence", detection.confidence);
  if (!detection.depth) {
    List depths;
    for (const uint32_t depth : detection.depths) {
      depths.emplace_back(int64_t{depth});
    }
    meta.Set("available_depths", std::move(depths));
    Object samples;
    for (const auto& [depth, texts] : detection.samples) {
      samples.Set(std::to_string(depth), TextList(texts));
    }
    meta.Set("depth_samples", std::move(samples));
  }
  if (report == Report::kCompact) {
    const auto sampled =
        static_cast<std::ptrdiff_t>(std::min(kSampledNames, detection.names.size()));
    meta.Set("layer_names_sample",
             TextList({detection.names.begin(), detection.names.begin() + sampled}));
    meta.Set("layer_names_total", detection.names.size());
    meta.Set("layer_names_omitted", true);
  }
  return meta;
}

List KernelList(const Trace& trace, const std::vector<KernelSum>& kernels) {
  List list;
  for (const KernelSum& kernel : kernels) {
    list.push_back(Object{{"kernel_name", trace.Text(kernel.name)},
                          {"total_ms", NsToMs(kernel.total_ns, 3)},
                          {"count", kernel.kernels},
                          {"total_ns", kernel.total_ns}});
  }
  return list;
}

Object MakeRow(const RegionBreakdown& breakdown, const Region& region) {
  return {{"nvtx_region", breakdown.Name(region)},
          {"nvtx_depth", int64_t{breakdown.attribution->paths.depth(region.node)}},
          {"nvtx_path", breakdown.Path(region)},
          {"kernel_count", region.kernels},
          {"total_gpu_ms", NsToMs(region.total_ns, 2)},
          {"compute_ms", NsToMs(region.compute_ns(), 2)},
          {"nccl_ms", NsToMs(region.communication_ns, 2)},
          {"nccl_pct", Percent(region.communication_ns, region.total_ns, 1).value_or(0.0)},
          {"tc_achieved_pct",
           Percent(region.tensor_active_ns, region.tensor_eligible_ns, 1).value_or(0.0)},
          {"avg_kernel_ms", MeanMs(region.total_ns, region.kernels, 3)},
          {"max_kernel_ms", NsToMs(region.longest_ns, 3)}};
}

void AddRows(const Query& query, const RegionBreakdown& breakdown, Report report, Answer& answer) {
  const size_t shown =
      std::min(static_cast<size_t>(query.params.Int("limit")), breakdown.regions.size());
  std::vector<std::vector<KernelSum>> kernels;
  if (report == Report::kFull) {
    kernels = TopKernels(query.views, breakdown, shown, kTopKernels);
  }
  for (size_t i = 0; i < shown; ++i) {
    const Region& region = breakdown.regions[i];
    Object row = MakeRow(breakdown, region);
    if (report == Report::kFull) {
      row.Set("top_kernels", KernelList(query.trace, kernels[i]));
    }
    row.Set("is_outlier", region.outlier);
    if (report == Report::kCompact) {
      row.Set("kernels_included", false);
    }
    row.Set("is_layer", region.is_layer);
    row.Set("total_gpu_ns", region.total_ns);
    row.Set("nccl_ns", region.communication_ns);
    row.Set("tc_eligible_ns", region.tensor_eligible_ns);
    answer.rows.push_back(std::move(row));
  }
}

void AddNotes(const Query& query, const RegionBreakdown& breakdown, Answer& answer) {
  const Attribution& attribution = *breakdown.attribution;
  answer.notes.push_back(fmt::format(
      "{} of {}, all GPUs added up; they hold {} of kernel time, {} % of the whole. {} more "
      "kernels were launched outside of any range, {} have no launch call in the capture.",
      answer.rows.size(), Counted(std::ssize(breakdown.regions), "region"),
      FormatDuration(breakdown.attributed_ns),
      Percent(breakdown.attributed_ns, breakdown.all_ns, 1).value_or(0.0), attribution.outside,
      attribution.without_call));
  if (auto note = StartEndNote(query.trace)) {
    answer.notes.push_back(*std::move(note));
  }
  if (breakdown.detection && breakdown.detection->depth) {
    answer.notes.emplace_back(
        "Paths that go deeper count for the region above them; -p auto_depth=false lists each.");
  }
  if (!query.params.Flag("raw")) {
    answer.notes.emplace_back(
        "Ranges whose texts differ in running ids and addresses only are one region; -p raw=true "
        "keeps them apart.");
  }
}

Result<Answer> Run(const Query& query) {
  const auto report = ReadReport(query.params.Text("report"));
  if (!report) {
    return Answer::Problem({{"error", fmt::format("report '{}' is neither full nor compact",
                                                  query.params.Text("report"))}});
  }
  if (auto abstention = AbstainWithoutPushPop(query.trace)) {
    return *std::move(abstention);
  }
  const auto depth = query.params.OptionalInt("depth");
  if (depth && *depth < 0) {
    return Answer::Problem({{"error", fmt::format("depth {} is below 0, the outermost", *depth)}});
  }
  RegionQuery regions{.window = query.window,
                      .labels = query.params.Flag("raw") ? LabelKind::kRaw : LabelKind::kNormal,
                      .find_layers = query.params.Flag("auto_depth")};
  if (depth) {
    regions.depth = static_cast<uint32_t>(std::min<int64_t>(*depth, PathTree::kNoNode));
  }
  const RegionBreakdown& breakdown = BreakDownRegions(query.views, regions);
  Answer answer;
  if (breakdown.detection) {
    answer.about_before.push_back(MakeMeta(*breakdown.detection, *report));
  }
  AddRows(query, breakdown, *report, answer);
  AddNotes(query, breakdown, answer);
  return answer;
}

// ---- text form

// "12 layers at depth 2: layer_0, …".
std::string DetectionLine(const Object& meta) {
  const int64_t* depth = meta.Find("layer_depth")->AsInt();
  if (depth == nullptr) {
    return "No layers or repeated operations in the range texts: every path stands for itself.";
  }
  const Value* full = meta.Find("layer_names");
  const List& names = *(full != nullptr ? full : meta.Find("layer_names_sample"))->AsList();
  const int64_t total =
      full != nullptr ? std::ssize(names) : *meta.Find("layer_names_total")->AsInt();
  std::vector<std::string> first;
  for (size_t i = 0; i < names.size() && i < kToldNames; ++i) {
    first.push_back(CutMiddle(Printable(*names[i].AsText()), 60));
  }
  const bool layers = *meta.Find("grouping_type")->AsText() == "layer";
  return fmt::format("{} at depth {}: {}{}",
                     Counted(total, layers ? "layer" : "repeated operation"), *depth,
                     Join(first, ", "), std::ssize(first) < total ? ", …" : ".");
}

// `text` in exactly `width` columns; what is too long keeps its end, which tells more.
std::string Padded(const std::string& text, size_t width) {
  const std::string printable = Printable(text);
  const size_t length = DisplayWidth(printable);
  if (length <= width) {
    return printable + std::string(width - length, ' ');
  }
  size_t at = 0;
  for (size_t dropped = 0; dropped < length - width + 1; ++dropped) {
    ++at;
    while (at < printable.size() && (static_cast<uint8_t>(printable[at]) & 0xC0U) == 0x80U) {
      ++at;
    }
  }
  return "…" + printable.substr(at);
}

std::string RegionLine(const Object& row) {
  constexpr size_t kPathWidth = 46;
  const int64_t total = *row.Find("total_gpu_ns")->AsInt();
  const int64_t nccl = *row.Find("nccl_ns")->AsInt();
  const bool eligible = *row.Find("tc_eligible_ns")->AsInt() > 0;
  const std::string tensor =
      eligible ? fmt::format("{:.1f} %", *row.Find("tc_achieved_pct")->AsDouble()) : "-";
  std::string marks = *row.Find("is_layer")->AsBool() ? "layer" : "";
  if (*row.Find("is_outlier")->AsBool()) {
    marks += marks.empty() ? "outlier" : ", outlier";
  }
  std::string line = fmt::format("{}  {:>7}  {:>9}  {:>9}  {:>9}  {:>7}  {}",
                                 Padded(*row.Find("nvtx_path")->AsText(), kPathWidth),
                                 FormatCount(*row.Find("kernel_count")->AsInt()),
                                 FormatDuration(total), FormatDuration(total - nccl),
                                 nccl > 0 ? FormatDuration(nccl) : "-", tensor, marks);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string ReportText(const Answer& answer) {
  std::string text;
  if (!answer.about_before.empty()) {
    text = DetectionLine(answer.about_before.front()) + "\n\n";
  }
  text += fmt::format("{:<46}  {:>7}  {:>9}  {:>9}  {:>9}  {:>7}  {}\n", "Region", "Kernels",
                      "Total", "Compute", "Comm.", "TC use", "Mark");
  text += fmt::format("{:-<46}  {:->7}  {:->9}  {:->9}  {:->9}  {:->7}  {:-<14}\n", "", "", "", "",
                      "", "", "");
  for (const Object& row : answer.rows) {
    text += RegionLine(row);
    const Value* kernels = row.Find("top_kernels");
    if (kernels == nullptr) {
      continue;
    }
    for (const Value& kernel : *kernels->AsList()) {
      const Object& cells = *kernel.AsObject();
      const std::string name = CutMiddle(Printable(*cells.Find("kernel_name")->AsText()), 42);
      text += fmt::format("    {}{}  {:>7}  {:>9}\n", name,
                          std::string(42 - std::min<size_t>(42, DisplayWidth(name)), ' '),
                          FormatCount(*cells.Find("count")->AsInt()),
                          FormatDuration(*cells.Find("total_ns")->AsInt()));
    }
  }
  return text;
}

std::vector<ColumnSpec> Columns() {
  return {
      {"nvtx_region", Unit::kText, "its last label, or its whole path where it is a group"},
      {"nvtx_depth", Unit::kCount, "ranges around it; the outermost has 0"},
      {"nvtx_path", Unit::kText, "labels from the outermost, joined with ' > '", "Region"},
      {"kernel_count", Unit::kCount, "kernels launched in it", "Kernels"},
      {"total_gpu_ms", Unit::kMs, "summed duration of these kernels", "Total"},
      {"compute_ms", Unit::kMs, "total − communication", "Compute"},
      {"nccl_ms", Unit::kMs, "communication kernels, by name", "Comm."},
      {"nccl_pct", Unit::kPct, "communication / total"},
      {"tc_achieved_pct", Unit::kPct,
       "time of kernels that use Tensor Cores / of those that could, by name; 0 where none could "
       "(tc_eligible_ns)",
       "TC use"},
      {"avg_kernel_ms", Unit::kMs, "total / kernels"},
      {"max_kernel_ms", Unit::kMs, "longest kernel"},
      {"top_kernels", Unit::kNested, "three names with most time; not with report=compact"},
      {"is_outlier", Unit::kFlag,
       "total above Q3 + 1.5 · IQR (without IQR or below 4 regions: twice the median) and above "
       "1.5 · median, layers among layers, others among others"},
      {"kernels_included", Unit::kFlag, "false with report=compact"},
      {"is_layer", Unit::kFlag, "whether it is one of the layers found", "Mark"},
      {"total_gpu_ns", Unit::kNs, "total, exact"},
      {"nccl_ns", Unit::kNs, "communication, exact"},
      {"tc_eligible_ns", Unit::kNs, "time of kernels that could use Tensor Cores, by name"}};
}

}  // namespace

Skill skill_nvtx_layer_breakdown() {
  return {
      .name = "nvtx_layer_breakdown",
      .category = Category::kNvtx,
      .title = "NVTX Region GPU Time Breakdown",
      .doc =
          "Ranks annotated regions, layers where they can be told, by the GPU time of the kernels "
          "launched in them; with compute and communication apart, outliers and top kernels.",
      .needs = {TableId::kNvtx, TableId::kRuntime, TableId::kKernel, TableId::kStringIds},
      .reads = AttributionReads(),
      .reads_for = AttributionReadsIn,
      .params = {Param::Count("limit", 20, "largest number of regions to list"),
                 Param::Optional("depth", ParamType::kInt,
                                 "only paths of just this depth, without looking for layers"),
                 Param::Flag("auto_depth", true, "look for layers, and group at their depth"),
                 Param::Text("report", "full", "full, or compact: without kernels and layer names"),
                 Param::Flag("raw", false, "tell ranges apart by every character of their text")},
      .columns = Columns(),
      .about_columns = {{"_detection_meta", Unit::kFlag,
                         "true: the row says how regions were formed"},
                        {"layer_depth", Unit::kId,
                         "depth at which regions are grouped; null when flat"},
                        {"layer_names", Unit::kNested, "labels found there"},
                        {"detection_method", Unit::kText,
                         "numbered_pattern, repeated_siblings or fallback_top_level"},
                        {"grouping_type", Unit::kText, "layer, operation or flat"},
                        {"confidence", Unit::kCount,
                         "0 to 1: numbered labels / 3, at most 1; 0.6 for repeated ones; else 0.2"},
                        {"available_depths", Unit::kNested, "depths that occur; when flat"},
                        {"depth_samples", Unit::kNested, "labels by depth; when flat"},
                        {"layer_names_sample", Unit::kNested, "first five labels; compact only"},
                        {"layer_names_total", Unit::kCount, "number of labels; compact only"},
                        {"layer_names_omitted", Unit::kFlag, "true; compact only"}},
      .empty_text = "no kernel was launched inside a range",
      .report = ReportText,
      .run = Run};
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "cli/convert_options.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/option_values.h"
#include "cli/usage_error.h"

namespace nsys {
namespace {

using perfetto::ApiScope;
using perfetto::GraphFlows;
using perfetto::KernelNaming;
using perfetto::NvtxScope;

void AddOutputs(CLI::App& convert, ConvertOptions& options) {
  convert
      .add_option("-o,--output", options.folder,
                  "Write into DIR (several inputs: DIR/<report> each) instead of the workspace")
      ->option_text("DIR");
  convert
      .add_option("--format", options.formats,
                  "Which of json, pftrace and parquet, with commas (default: all)")
      ->option_text("LIST")
      ->allow_extra_args(false);
  convert
      .add_option("--output-json", options.output_json,
                  "Name the JSON trace; gzip when the name ends in .gz")
      ->option_text("FILE");
  convert
      .add_option("--output-pftrace", options.output_pftrace,
                  "Name the protobuf trace; gzip when the name ends in .gz")
      ->option_text("FILE");
  convert.add_option("--output-parquet", options.output_parquet, "Name the table of events")
      ->option_text("FILE");
  convert
      .add_option("--output-dependencies", options.output_dependencies,
                  "Name the (empty) table of kernel dependencies")
      ->option_text("FILE");
  convert
      .add_option("--report", options.report,
                  "Name of the report (default: the input's without its ending)")
      ->option_text("NAME");
  convert.add_option("--summary", options.summary, "text (default) or json")->option_text("FORMAT");
}

void AddContents(CLI::App& convert, ConvertOptions& options) {
  convert
      .add_option("--with", options.extras,
                  "More tracks, with commas: memset, sync, graph, osrt, memory, metrics, overhead, "
                  "or all")
      ->option_text("LIST")
      ->allow_extra_args(false);
  convert
      .add_option("--trim", options.trim,
                  "Only what touches this window, in seconds on the capture's clock; END may be "
                  "inf")
      ->option_text("START END")
      ->expected(2);
  convert
      .add_option("--nvtx-scope", options.nvtx_scope,
                  "An NVTX range covers launches of its whole process (default) or of its thread")
      ->option_text("SCOPE");
  convert.add_option("--kernel-name", options.kernel_name, "short (default), demangled or mangled")
      ->option_text("FORM");
  convert
      .add_option("--api", options.api,
                  "CUDA calls to draw: linked (default), sync-wide (all that wait), or all")
      ->option_text("SCOPE");
  convert
      .add_option("--graph-flows", options.graph_flows,
                  "Arrows of a graph launch to all of its kernels (default) or the first")
      ->option_text("WHICH");
  convert
      .add_option("--max-regions", options.max_regions,
                  "At most N names in a kernel's NVTXRegions (default: 64)")
      ->option_text("N");
  convert.add_flag("--host-tracks", options.host_tracks,
                   "CPU rows once per process, not under each of its devices");
  convert.add_flag("--strict-clocks", options.strict_clocks,
                   "Fail when the clock of an NVTX range is ambiguous");
}

void AddBehaviour(CLI::App& convert, ConvertOptions& options) {
  convert.add_flag("--keep-going", options.keep_going, "Skip tables that cannot be read");
  convert.add_flag("--fail-fast", options.fail_fast, "Stop at the first input that fails");
  convert.add_flag("--wait", options.wait,
                   "Wait as long as it takes while another run writes into the folder");
  convert
      .add_option("--nsys", options.nsys,
                  "The nsys that exports reports (default: $NSYS, else the newest installed)")
      ->option_text("PATH");
  convert
      .add_option("--threads", options.threads,
                  "Threads (default: one per core); the outputs do not depend on it")
      ->option_text("N");
  convert.add_option("--reader", options.reader, kReaderHelp)->option_text("READER");
  convert.add_option("--parquet-dir", options.parquet_dirs, "The same as INPUT")
      ->option_text("DIR")
      ->allow_extra_args(false)
      ->group("");
}

Status ReadFormats(const ConvertOptions& options, ConvertRequest& request) {
  const bool named = options.output_json || options.output_parquet || options.output_dependencies ||
                     options.output_pftrace;
  if (options.formats.empty()) {
    const bool folder = !named || options.folder;
    request.json = request.parquet = request.pftrace = folder;
    return {};
  }
  static constexpr std::pair<const char*, bool ConvertRequest::*> kFormats[] = {
      {"json", &ConvertRequest::json},
      {"pftrace", &ConvertRequest::pftrace},
      {"parquet", &ConvertRequest::parquet}};
  request.json = request.parquet = request.pftrace = false;
  for (const std::string& word : SplitAtCommas(options.formats)) {
    NSYS_ASSIGN(bool ConvertRequest::* const format, Choose("--format", word, kFormats));
    request.*format = true;
  }
  return {};
}

Status ReadExtras(const std::vector<std::string>& words, perfetto::Extras& extras) {
  using perfetto::Extras;
  static constexpr std::pair<const char*, bool Extras::*> kExtras[] = {
      {"memset", &Extras::memset},     {"sync", &Extras::sync},
      {"graph", &Extras::graph},       {"osrt", &Extras::osrt},
      {"memory", &Extras::memory},     {"metrics", &Extras::metrics},
      {"overhead", &Extras::overhead}, {"all", nullptr}};
  for (const std::string& word : SplitAtCommas(words)) {
    NSYS_ASSIGN(bool Extras::* const extra, Choose("--with", word, kExtras));
    for (const auto& [name, member] : kExtras) {
      if (member != nullptr && (extra == nullptr || extra == member)) {
        extras.*member = true;
      }
    }
  }
  return {};
}

Status ReadContents(const ConvertOptions& options, perfetto::Options& contents) {
  static constexpr std::pair<const char*, NvtxScope> kScopes[] = {{"process", NvtxScope::kProcess},
                                                                  {"thread", NvtxScope::kThread}};
  static constexpr std::pair<const char*, KernelNaming> kNames[] = {
      {"short", KernelNaming::kShort},
      {"demangled", KernelNaming::kDemangled},
      {"mangled", KernelNaming::kMangled}};
  static constexpr std::pair<const char*, ApiScope> kApis[] = {
      {"linked", ApiScope::kLinked}, {"sync-wide", ApiScope::kSyncWide}, {"all", ApiScope::kAll}};
  static constexpr std::pair<const char*, GraphFlows> kFlows[] = {{"all", GraphFlows::kAll},
                                                                  {"first", GraphFlows::kFirst}};
  NSYS_ASSIGN(contents.nvtx_scope, Choose("--nvtx-scope", options.nvtx_scope, kScopes));
  NSYS_ASSIGN(contents.kernel_naming, Choose("--kernel-name", options.kernel_name, kNames));
  NSYS_ASSIGN(contents.api_scope, Choose("--api", options.api, kApis));
  NSYS_ASSIGN(contents.graph_flows, Choose("--graph-flows", options.graph_flows, kFlows));
  NSYS_TRY(ReadExtras(options.extras, contents.extras));
  NSYS_ASSIGN(const std::optional<int64_t> regions,
              ParseCountOption("--max-regions", options.max_regions, 0));
  contents.max_regions = regions.value_or(contents.max_regions);
  NSYS_ASSIGN(const std::optional<Window> window, ParseTrim(options.trim));
  if (window) {
    contents.trim = Span{window->begin_ns, window->end_ns};
  }
  contents.host_tracks = options.host_tracks;
  contents.strict_clocks = options.strict_clocks;
  contents.report = options.report.value_or("");
  return {};
}

// Options that take a path or a name take no empty one.
Status ReadNames(const ConvertOptions& options, ConvertRequest& request) {
  const std::pair<const char*, std::pair<const std::optional<std::string>*, std::string*>> names[] =
      {{"--output", {&options.folder, &request.folder}},
       {"--output-json", {&options.output_json, &request.output_json}},
       {"--output-parquet", {&options.output_parquet, &request.output_parquet}},
       {"--output-dependencies", {&options.output_dependencies, &request.output_dependencies}},
       {"--output-pftrace", {&options.output_pftrace, &request.output_pftrace}},
       {"--nsys", {&options.nsys, &request.nsys}},
       {"--report", {&options.report, &request.options.report}}};
  for (const auto& [option, places] : names) {
    if (*places.first && (*places.first)->empty()) {
      return UsageError(fmt::format("{} takes a name, not ''", option),
                        "leave it out, or name one");
    }
    *places.second = places.first->value_or("");
  }
  return {};
}

Status CheckInputs(const ConvertRequest& request) {
  if (request.inputs.empty()) {
    return UsageError("an input is missing",
                      "for example: nsys-ai convert train.nsys-rep (or .sqlite, or a parquetdir)");
  }
  for (const std::string& input : request.inputs) {
    if (input.empty()) {
      return UsageError("an input is named ''", "give the path of a report or an export");
    }
  }
  const std::pair<const char*, bool> singles[] = {
      {"--output-json", !request.output_json.empty()},
      {"--output-parquet", !request.output_parquet.empty()},
      {"--output-dependencies", !request.output_dependencies.empty()},
      {"--output-pftrace", !request.output_pftrace.empty()},
      {"--report", !request.options.report.empty()}};
  for (const auto& [option, given] : singles) {
    if (given && request.inputs.size() > 1) {
      return UsageError(
          fmt::format("{} names one thing, but there are {} inputs", option, request.inputs.size()),
          "convert them one by one, or leave the option out");
    }
  }
  return {};
}

}  // namespace

CLI::App* AddConvertCommand(CLI::App& app, ConvertOptions& options) {
  CLI::App* convert = app.add_subcommand("convert", "Convert captures to Perfetto traces");
  convert->add_option("INPUT", options.inputs,
                      "Reports (.nsys-rep, .qdrep) or exports (.sqlite, parquetdir)");
  AddOutputs(*convert, options);
  AddContents(*convert, options);
  AddBehaviour(*convert, options);
  convert->footer(
      "Writes <report>.perfetto.json.gz, .pftrace, .perfetto.parquet and "
      ".kernel_dependencies.parquet (of a\nreport also parquet/, its export) into "
      "$NSYS_WORKSPACE_ROOT/<report>, else ~/.nsys-workspace/<report>,\nall of them or none. The "
      "last line of standard output is the path of the JSON trace; open it, or the\n.pftrace, at "
      "https://ui.perfetto.dev.\n\n"
      "Examples:\n"
      "  nsys-ai convert train.nsys-rep\n"
      "  nsys-ai convert train.sqlite -o traces --format pftrace --with memset,sync\n"
      "  nsys-ai convert train.parquetdir --trim 12.5 13.0 --output-json window.json");
  return convert;
}

Result<ConvertRequest> ToConvertRequest(const ConvertOptions& options) {
  ConvertRequest request{.inputs = options.inputs};
  request.inputs.insert(request.inputs.end(), options.parquet_dirs.begin(),
                        options.parquet_dirs.end());
  NSYS_TRY(ReadFormats(options, request));
  NSYS_TRY(ReadContents(options, request.options));
  NSYS_TRY(ReadNames(options, request));
  static constexpr std::pair<const char*, bool> kSummaries[] = {{"text", false}, {"json", true}};
  NSYS_ASSIGN(request.json_summary, Choose("--summary", options.summary, kSummaries));
  NSYS_ASSIGN(const std::optional<int64_t> threads,
              ParseCountOption("--threads", options.threads, 1));
  request.threads = static_cast<int>(std::min<int64_t>(threads.value_or(0), 256));
  NSYS_ASSIGN(request.reader, ParseReader(options.reader));
  request.keep_going = options.keep_going;
  request.fail_fast = options.fail_fast;
  request.wait = options.wait;
  NSYS_TRY(CheckInputs(request));
  return request;
}

}  // namespace nsys

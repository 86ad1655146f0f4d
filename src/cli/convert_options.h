// SPDX-License-Identifier: MIT
// nsys-ai convert: its options and what they ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/sqlite_pages.h"
#include "perfetto/options.h"

namespace CLI {
class App;
}

namespace nsys {

struct ConvertRequest {
  std::vector<std::string> inputs;
  std::string folder;  // -o; empty: the workspace
  // Files named one by one; empty: not named.
  std::string output_json;
  std::string output_parquet;
  std::string output_dependencies;
  std::string output_pftrace;
  // Which outputs are made in the folder. None: files are named one by one, and there is no folder.
  bool json = true;
  bool parquet = true;
  bool pftrace = true;
  bool UsesFolder() const { return json || parquet || pftrace; }

  perfetto::Options options;  // `report` is empty unless given
  bool keep_going = false;
  bool fail_fast = false;
  bool wait = false;
  bool json_summary = false;
  std::string nsys;
  int threads = 0;                     // 0: as many as the machine has
  std::optional<SqliteReader> reader;  // told of when given
};

// Words as typed.
struct ConvertOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> parquet_dirs;
  std::optional<std::string> folder;
  std::optional<std::string> output_json;
  std::optional<std::string> output_parquet;
  std::optional<std::string> output_dependencies;
  std::optional<std::string> output_pftrace;
  std::vector<std::string> formats;
  std::optional<std::string> report;
  std::vector<std::string> extras;
  std::string nvtx_scope = "process";
  std::string kernel_name = "short";
  std::string api = "linked";
  std::string graph_flows = "all";
  std::optional<std::string> max_regions;
  std::vector<std::string> trim;
  bool strict_clocks = false;
  bool host_tracks = false;
  bool keep_going = false;
  bool fail_fast = false;
  bool wait = false;
  std::optional<std::string> nsys;
  std::optional<std::string> threads;
  std::optional<std::string> reader;
  std::string summary = "text";
};

// Declares the command on `app` and gives it; `options` are filled when it is parsed.
CLI::App* AddConvertCommand(CLI::App& app, ConvertOptions& options);

Result<ConvertRequest> ToConvertRequest(const ConvertOptions& options);

}  // namespace nsys

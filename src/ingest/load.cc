// SPDX-License-Identifier: MIT
// LoadTrace: reads the tables at the same time, then gives lanes and threads the numbers of the
// whole trace, which depend on the keys alone and not on which table was read first.
#include "ingest/load.h"
#include "ingest/schema_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "ingest/table_loaders.h"

namespace nsys {
namespace {

struct Job {
  TableId table;
  std::function<Status()> run;
};

// Runs the jobs on `threads` threads; the error of the first job in their order that has one.
Status RunAll(const std::vector<Job>& jobs, int threads) {
  std::vector<Status> results(jobs.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      results[i] = jobs[i].run();
    }
  };
  {
    const size_t workers = std::min(static_cast<size_t>(std::max(threads, 1)), jobs.size());
    std::vector<std::jthread> pool;
    for (size_t i = 1; i < workers; ++i) {
      pool.emplace_back(work);
    }
    work();
  }
  for (Status& result : results) {
    NSYS_TRY(std::move(result));
  }
  return {};
}

template <typename Id>
void Renumber(std::vector<Id>& column, const std::vector<uint32_t>& places) {
  for (Id& id : column) {
    if (id != Id::kNone) {
      id = Id{places[Index(id)]};
    }
  }
}

class Loader {
 public:
  Loader(const TableSource& source, const Reads& reads, const LoadOptions& options)
      : source_(source), reads_(reads), options_(options) {}

  Result<Trace> Load();

 private:
  bool Wants(Column column) const;
  bool WantsTexts() const;
  std::vector<Job> Jobs(LoadContext& context);
  void AddSmallTables(LoadContext& context, std::vector<Job>& jobs);
  TableFindings& Findings(TableId table) { return findings_[static_cast<size_t>(table)]; }
  void NumberLanes();
  void NumberThreads();
  void NumberProcesses();
  void ListDevices();
  void WarnOfUnreadableNames();

  const TableSource& source_;
  const Reads& reads_;
  const LoadOptions& options_;
  Trace trace_;
  std::array<TableFindings, kTableCount> findings_;
};

bool Loader::Wants(Column column) const {
  for (size_t i = 0; i < kTableCount; ++i) {
    if (reads_.Of(static_cast<TableId>(i)).Has(column)) {
      return true;
    }
  }
  return false;
}

bool Loader::WantsTexts() const {
  constexpr TableId kNamed[] = {TableId::kKernel, TableId::kRuntime, TableId::kNvtx};
  if (!reads_.Of(TableId::kStringIds).empty() || !reads_.Of(TableId::kThreadNames).empty()) {
    return true;
  }
  return std::any_of(std::begin(kNamed), std::end(kNamed), [&](TableId table) {
    const ColumnSet wanted = reads_.Of(table);
    const bool named = wanted.Has(Column::kName) || wanted.Has(Column::kNcclRanges);
    return named && trace_.schema.Has(table);
  });
}

// The largest tables of usual captures come first, so that none of them is started last.
std::vector<Job> Loader::Jobs(LoadContext& context) {
  std::vector<Job> jobs;
  const auto add = [&](TableId table, auto load, auto& columns) {
    const ColumnSet wanted = reads_.Of(table);
    if (wanted.empty() || !trace_.schema.Has(table)) {
      return;
    }
    jobs.push_back({table, [this, &context, &columns, table, load, wanted] {
                      return load(context, wanted, columns, Findings(table));
                    }});
  };
  add(TableId::kNvtx, LoadNvtx, trace_.nvtx);
  add(TableId::kRuntime, LoadCalls, trace_.calls);
  add(TableId::kKernel, LoadKernels, trace_.kernels);
  add(TableId::kMemcpy, LoadCopies, trace_.copies);
  add(TableId::kSync, LoadSyncs, trace_.syncs);
  add(TableId::kMemset, LoadMemsets, trace_.memsets);
  add(TableId::kGraphTrace, LoadGraphs, trace_.graphs);
  add(TableId::kSamples, LoadSamples, trace_.samples);
  add(TableId::kOverhead, LoadOverheads, trace_.overheads);
  AddSmallTables(context, jobs);
  return jobs;
}

void Loader::AddSmallTables(LoadContext& context, std::vector<Job>& jobs) {
  const auto add = [&](TableId table, auto load, auto& to) {
    if (!reads_.Of(table).empty() || (table == TableId::kCudaDevice && Wants(Column::kLane))) {
      jobs.push_back({table, [&context, &to, load] { return load(context, to); }});
    }
  };
  add(TableId::kCudaDevice, LoadCudaDevices, trace_.cuda_devices);
  add(TableId::kGpu, LoadGpus, trace_.gpus);
  add(TableId::kThreadNames, LoadThreadNames, trace_.thread_names);
  add(TableId::kNics, LoadNics, trace_.nics);
  add(TableId::kPayloadSchemas, LoadPayloadSchemas, trace_.payload_schemas);
  const auto names_of = [](TableId table) {
    return [table](LoadContext& of, std::map<int64_t, std::string>& to) {
      return LoadEnumNames(of, table, to);
    };
  };
  add(TableId::kMemoryKinds, names_of(TableId::kMemoryKinds), trace_.memory_kinds);
  add(TableId::kSyncTypes, names_of(TableId::kSyncTypes), trace_.sync_types);
}

void Loader::NumberLanes() {
  std::vector<const std::vector<Lane>*> lists;
  for (const TableFindings& findings : findings_) {
    lists.push_back(&findings.lanes.keys());
  }
  trace_.lanes = SortedUnion(lists);
  const auto renumber = [&](TableId table, GpuEvents& events) {
    Renumber(events.lane, PlacesIn(trace_.lanes, Findings(table).lanes.keys()));
  };
  renumber(TableId::kKernel, trace_.kernels);
  renumber(TableId::kMemcpy, trace_.copies);
  renumber(TableId::kMemset, trace_.memsets);
  renumber(TableId::kGraphTrace, trace_.graphs);
  renumber(TableId::kSync, trace_.syncs);
}

void Loader::NumberThreads() {
  const std::vector<int64_t>& callers = Findings(TableId::kRuntime).threads.keys();
  const std::vector<RawNvtxLane>& raw_lanes = Findings(TableId::kNvtx).nvtx_lanes.keys();
  std::vector<int64_t> annotators;
  for (const RawNvtxLane& lane : raw_lanes) {
    if (lane.global_tid) {
      annotators.push_back(*lane.global_tid);
    }
  }
  const std::vector<int64_t>& sampled = Findings(TableId::kSamples).threads.keys();
  const std::vector<int64_t> words = SortedUnion<int64_t>({&callers, &annotators, &sampled});
  for (const int64_t word : words) {
    trace_.threads.push_back({.global_tid = word, .process = ProcessId::kNone});
  }
  Renumber(trace_.calls.thread, PlacesIn(words, callers));
  Renumber(trace_.samples.thread, PlacesIn(words, sampled));

  std::vector<NvtxLane> lanes;
  for (const RawNvtxLane& raw : raw_lanes) {
    const auto place = std::lower_bound(words.begin(), words.end(), raw.global_tid.value_or(0));
    const auto thread =
        raw.global_tid ? ThreadId{static_cast<uint32_t>(place - words.begin())} : ThreadId::kNone;
    lanes.push_back({.thread = thread, .domain = raw.domain});
  }
  trace_.nvtx_lanes = SortedUnion<NvtxLane>({&lanes});
  Renumber(trace_.nvtx.lane, PlacesIn(trace_.nvtx_lanes, lanes));
}

void Loader::NumberProcesses() {
  std::vector<int64_t> words;
  for (const Lane& lane : trace_.lanes) {
    if (lane.global_pid) {
      words.push_back(*lane.global_pid);
    }
  }
  for (const Thread& thread : trace_.threads) {
    words.push_back(ProcessWord(thread.global_tid));
  }
  for (const int64_t word : SortedUnion<int64_t>({&words})) {
    trace_.processes.push_back({.global_pid = word});
  }
  for (Thread& thread : trace_.threads) {
    thread.process = trace_.FindProcess(ProcessWord(thread.global_tid));
  }
}

// Processes number GPUs as they see them, so "device 0" of two processes may be two GPUs.
void Loader::ListDevices() {
  for (const CudaDevice& device : trace_.cuda_devices) {
    if (trace_.device_inventory.empty() || trace_.device_inventory.back() != device.ordinal) {
      trace_.device_inventory.push_back(device.ordinal);
    }
  }
  for (const int64_t ordinal : trace_.device_inventory) {
    std::vector<std::string> gpus;
    for (const CudaDevice& device : trace_.cuda_devices) {
      const bool used =
          std::any_of(trace_.lanes.begin(), trace_.lanes.end(), [&](const Lane& lane) {
            return lane.device == ordinal && lane.global_pid &&
                   Process{*lane.global_pid}.pid() == device.pid;
          });
      if (device.ordinal == ordinal && device.gpu && used &&
          (gpus.empty() || gpus.back() != std::to_string(*device.gpu))) {
        gpus.push_back(std::to_string(*device.gpu));
      }
    }
    if (gpus.size() > 1) {
      trace_.warnings.push_back(fmt::format(
          "device {} stands for the GPUs {} in different processes; figures of device {} "
          "put them together",
          ordinal, Join(gpus, " and "), ordinal));
    }
  }
}

// Without names communication cannot be told from compute, nor one call from another.
void Loader::WarnOfUnreadableNames() {
  const KernelTable& kernels = trace_.kernels;
  const auto unknown = [](StringId id) { return id == StringId::kNone; };
  if (!trace_.schema.Has(TableId::kStringIds)) {
    return;  // skills that need names abstain
  }
  const bool kernels_unnamed =
      !kernels.short_name.empty() &&
      std::all_of(kernels.short_name.begin(), kernels.short_name.end(), unknown) &&
      std::all_of(kernels.demangled_name.begin(), kernels.demangled_name.end(), unknown);
  if (kernels_unnamed) {
    trace_.warnings.emplace_back(
        "not one kernel name could be read from StringIds: what kernels do (communication, matrix "
        "products) is unknown here, and every kernel counts as compute");
  }
  const std::vector<StringId>& calls = trace_.calls.name;
  if (!calls.empty() && std::all_of(calls.begin(), calls.end(), unknown)) {
    trace_.warnings.emplace_back(
        "not one name of an API call could be read from StringIds: what the host does is unknown");
  }
}

Result<Trace> Loader::Load() {
  trace_.schema = ProbeSchema(source_);
  StringIds strings;
  if (WantsTexts()) {
    NSYS_ASSIGN(strings, StringIds::Load(source_, trace_.schema, trace_.strings));
    trace_.string_table_size = trace_.strings.size();
  }
  LoadContext context{.source = source_,
                      .schema = trace_.schema,
                      .strings = strings,
                      .progress = options_.progress,
                      .pool = trace_.strings};
  const std::vector<Job> jobs = Jobs(context);
  NSYS_TRY(RunAll(jobs, options_.threads));
  trace_.payloads = std::move(Findings(TableId::kNvtx).payloads);
  NumberLanes();
  NumberThreads();
  NumberProcesses();
  ListDevices();
  WarnOfUnreadableNames();
  for (size_t table = 0; table < kTableCount; ++table) {
    const TableFindings& findings = findings_[table];
    trace_.rows_left_out[table] = findings.rows_left_out;
    trace_.warnings.insert(trace_.warnings.end(), findings.warnings.begin(),
                           findings.warnings.end());
  }
  return std::move(trace_);
}

}  // namespace

Result<Trace> LoadTrace(const TableSource& source, const Reads& reads, const LoadOptions& options) {
  return Loader(source, reads, options).Load();
}

}  // namespace nsys

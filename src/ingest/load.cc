// SPDX-License-Identifier: MIT
// LoadTrace: reads the tables at the same time, then gives lanes and threads the numbers of the
// whole trace, which depend on the keys alone and not on which table was read first.
#include "ingest/load.h"
#include "ingest/schema_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "base/threads.h"
#include "ingest/load_notes.h"
#include "ingest/table_loaders.h"

namespace nsys {
namespace {

struct Job {
  TableId table;
  std::function<Status()> run;
  std::function<void()> undo;  // makes the columns empty again
};

// Runs the jobs on `threads` threads, or as many as there can be.
std::vector<Status> RunAll(const std::vector<Job>& jobs, int threads) {
  std::vector<Status> results(jobs.size());
  std::vector<std::exception_ptr> thrown(jobs.size());  // memory may end on any thread
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      try {
        results[i] = jobs[i].run();
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    const size_t workers = std::min(static_cast<size_t>(std::max(threads, 1)), jobs.size());
    const std::vector<std::jthread> others =
        StartThreads(workers - std::min(workers, size_t{1}), work);
    work();
  }
  for (const std::exception_ptr& exception : thrown) {
    if (exception) {
      std::rethrow_exception(exception);
    }
  }
  return results;
}

// Whether the loading can do without the table that this error is about.
bool MayGoOn(const LoadOptions& options, const Error& error) {
  return options.keep_going && error.code == ErrorCode::kProfile;
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
      : source_(source),
        reads_(reads),
        options_(options),
        by_launch_(reads.Picks(TableId::kRuntime, RowKind::kLaunches) ||
                   reads.Picks(TableId::kNvtx, RowKind::kLaunches)) {}

  Result<Trace> Load();

 private:
  bool Wants(Column column) const;
  bool WantsTexts() const;
  Status LoadTexts(StringIds& strings);
  std::vector<Job> Jobs(LoadContext& context);
  void OrderByLaunches(std::vector<Job>& jobs);
  void TakeLaunches(LoadContext& context, TableId table);
  Status RunJobs(LoadContext& context);
  void Skip(TableId table, const Error& error);
  void AddSmallTables(LoadContext& context, std::vector<Job>& jobs);
  TableFindings& Findings(TableId table) { return findings_[static_cast<size_t>(table)]; }
  void NumberLanes();
  void NumberThreads();
  void NumberProcesses();
  void TakeFindings();

  const TableSource& source_;
  const Reads& reads_;
  const LoadOptions& options_;
  const bool by_launch_;  // some rows are read in view of the kernels' launches
  Trace trace_;
  LaunchRows launches_;
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
  constexpr TableId kNamed[] = {TableId::kKernel, TableId::kRuntime, TableId::kNvtx, TableId::kOsrt,
                                TableId::kOverhead};
  if (!reads_.Of(TableId::kStringIds).empty() || !reads_.Of(TableId::kThreadNames).empty()) {
    return true;
  }
  return std::any_of(std::begin(kNamed), std::end(kNamed), [&](TableId table) {
    const ColumnSet wanted = reads_.Of(table);
    const bool named = wanted.Has(Column::kName) || wanted.Has(Column::kMangled) ||
                       wanted.Has(Column::kAttributes) ||
                       (table == TableId::kOsrt && wanted.Has(Column::kWhole));
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
    jobs.push_back({table,
                    [this, &context, &columns, table, load, wanted]() -> Status {
                      const LaunchRows::Turn turn(launches_, table);
                      NSYS_TRY(load(context, wanted, columns, Findings(table)));
                      TakeLaunches(context, table);
                      return {};
                    },
                    [&columns] { columns = {}; }});
  };
  add(TableId::kGpuMetrics, LoadGpuMetrics, trace_.gpu_metrics);
  add(TableId::kOsrt, LoadOsCalls, trace_.os_calls);
  add(TableId::kNvtx, LoadNvtx, trace_.nvtx);
  add(TableId::kRuntime, LoadCalls, trace_.calls);
  add(TableId::kKernel, LoadKernels, trace_.kernels);
  add(TableId::kMemcpy, LoadCopies, trace_.copies);
  add(TableId::kSync, LoadSyncs, trace_.syncs);
  add(TableId::kMemset, LoadMemsets, trace_.memsets);
  add(TableId::kGraphTrace, LoadGraphs, trace_.graphs);
  add(TableId::kSamples, LoadSamples, trace_.samples);
  add(TableId::kOverhead, LoadOverheads, trace_.overheads);
  add(TableId::kMemoryUsage, LoadMemoryUsage, trace_.memory_usage);
  AddSmallTables(context, jobs);
  if (by_launch_) {
    OrderByLaunches(jobs);
  }
  return jobs;
}

// Kernels come first, then calls, and ranges last, so that nobody waits for a table that nobody has
// begun.
void Loader::OrderByLaunches(std::vector<Job>& jobs) {
  const auto place = [](const Job& job) {
    constexpr TableId kFirst[] = {TableId::kKernel, TableId::kRuntime};
    const auto at = std::find(std::begin(kFirst), std::end(kFirst), job.table);
    return std::pair(at - std::begin(kFirst), job.table == TableId::kNvtx);
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return place(a) < place(b); });
  for (const TableId table : {TableId::kKernel, TableId::kRuntime}) {
    if (std::none_of(jobs.begin(), jobs.end(),
                     [&](const Job& job) { return job.table == table; })) {
      launches_.Done(table);
    }
  }
}

// Has what follows from a table that was read known to those that wait for it.
void Loader::TakeLaunches(LoadContext& context, TableId table) {
  if (by_launch_ && table == TableId::kKernel) {
    const std::scoped_lock lock(context.pool_mutex);
    launches_.TakeKernels(trace_.kernels, Findings(table).lanes.keys(), reads_.focus(),
                          trace_.strings);
  }
  if (by_launch_ && table == TableId::kRuntime) {
    launches_.WaitForKernels();
    launches_.TakeCalls(trace_.calls, Findings(table).threads.keys());
  }
}

void Loader::AddSmallTables(LoadContext& context, std::vector<Job>& jobs) {
  const auto add = [&](TableId table, auto load, auto& to) {
    if (!reads_.Of(table).empty() || (table == TableId::kCudaDevice && Wants(Column::kLane))) {
      jobs.push_back(
          {table, [&context, &to, load] { return load(context, to); }, [&to] { to = {}; }});
    }
  };
  add(TableId::kCudaDevice, LoadCudaDevices, trace_.cuda_devices);
  add(TableId::kGpu, LoadGpus, trace_.gpus);
  add(TableId::kThreadNames, LoadThreadNames, trace_.thread_names);
  add(TableId::kNics, LoadNics, trace_.nics);
  add(TableId::kPayloadSchemas, LoadPayloadSchemas, trace_.payload_schemas);
  add(TableId::kProcesses, LoadProcessNames, trace_.process_names);
  add(TableId::kGpuMetricNames, LoadGpuMetricNames, trace_.gpu_metric_names);
  add(TableId::kExportSettings, LoadExportShift, trace_.export_shift_ns);
  add(TableId::kSessionStart, LoadSessionStart, trace_.session_start_ns);
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
  renumber(TableId::kMemoryUsage, trace_.memory_usage);
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
  const std::vector<int64_t>& os_callers = Findings(TableId::kOsrt).threads.keys();
  const std::vector<int64_t>& slowed = Findings(TableId::kOverhead).threads.keys();
  const std::vector<int64_t> words =
      SortedUnion<int64_t>({&callers, &annotators, &sampled, &os_callers, &slowed});
  for (const int64_t word : words) {
    trace_.threads.push_back({.global_tid = word, .process = ProcessId::kNone});
  }
  Renumber(trace_.calls.thread, PlacesIn(words, callers));
  Renumber(trace_.samples.thread, PlacesIn(words, sampled));
  Renumber(trace_.os_calls.thread, PlacesIn(words, os_callers));
  Renumber(trace_.overheads.thread, PlacesIn(words, slowed));

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

// Leaves out a table that cannot be read.
void Loader::Skip(TableId table, const Error& error) {
  TableFindings& findings = Findings(table);
  findings = {};
  findings.warnings.push_back(fmt::format("{} left out: {}", CanonicalName(table), error.message));
  trace_.schema.resolved[static_cast<size_t>(table)].reset();
}

Status Loader::LoadTexts(StringIds& strings) {
  if (!WantsTexts()) {
    return {};
  }
  auto loaded = StringIds::Load(source_, trace_.schema, trace_.strings);
  if (loaded.ok()) {
    strings = std::move(loaded).value();
    Findings(TableId::kStringIds).texts_repaired = strings.repaired();
    Findings(TableId::kStringIds).warnings = strings.warnings();
  } else if (MayGoOn(options_, loaded.error())) {
    trace_.strings = {};
    Skip(TableId::kStringIds, loaded.error());
  } else {
    return std::move(loaded).TakeError();
  }
  trace_.string_table_size = trace_.strings.size();
  return {};
}

Status Loader::RunJobs(LoadContext& context) {
  const std::vector<Job> jobs = Jobs(context);
  std::vector<Status> results = RunAll(jobs, options_.threads);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (results[i].ok()) {
      continue;
    }
    if (!MayGoOn(options_, results[i].error())) {
      return std::move(results[i]);
    }
    jobs[i].undo();
    Skip(jobs[i].table, results[i].error());
  }
  for (const auto& [table, notes] : context.notes) {
    std::vector<std::string>& warnings = Findings(table).warnings;
    warnings.insert(warnings.end(), notes.begin(), notes.end());
  }
  return {};
}

void Loader::TakeFindings() {
  trace_.payloads = std::move(Findings(TableId::kNvtx).payloads);
  trace_.nvtx_attributes = std::move(Findings(TableId::kNvtx).attributes);
  for (size_t table = 0; table < kTableCount; ++table) {
    const TableFindings& findings = findings_[table];
    trace_.rows_left_out[table] = findings.rows_left_out;
    trace_.rows_clamped[table] = findings.rows_clamped;
    trace_.warnings.insert(trace_.warnings.end(), findings.warnings.begin(),
                           findings.warnings.end());
    if (options_.for_drawing && findings.texts_repaired > 0) {
      trace_.texts_repaired += findings.texts_repaired;
      trace_.warnings.push_back(fmt::format(
          "{}: {} not UTF-8; U+FFFD stands for the bytes that are none",
          CanonicalName(static_cast<TableId>(table)),
          findings.texts_repaired == 1 ? "1 text is"
                                       : fmt::format("{} texts are", findings.texts_repaired)));
    }
  }
}

Result<Trace> Loader::Load() {
  trace_.schema = ProbeSchema(source_);
  trace_.warnings = source_.warnings();
  if (options_.for_drawing) {
    WarnOfNearMisses(reads_, trace_);
  }
  StringIds strings;
  NSYS_TRY(LoadTexts(strings));
  LoadContext context{.source = source_,
                      .schema = trace_.schema,
                      .strings = strings,
                      .options = options_,
                      .reads = reads_,
                      .pool = trace_.strings,
                      .launches = launches_};
  NSYS_TRY(RunJobs(context));
  NumberLanes();
  NumberThreads();
  NumberProcesses();
  ListDevices(trace_);
  if (!options_.for_drawing) {
    WarnOfUnreadableNames(trace_);
  }
  TakeFindings();
  return std::move(trace_);
}

}  // namespace

Result<Trace> LoadTrace(const TableSource& source, const Reads& reads, const LoadOptions& options) {
  // A Loader has 50 kB. On the stack they would end the process without a word where that cannot
  // grow, as under a limit of memory.
  Result<Trace> trace = std::make_unique<Loader>(source, reads, options)->Load();
  NSYS_TRY(source.inputs().CheckUnchanged());  // a change explains damage too
  return trace;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "perfetto/processes.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace nsys::perfetto {
namespace {

void SortUnique(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

int64_t PidOf(int64_t word) { return Process{word}.pid(); }

// Words of the processor's tables that stand for another word in those of the GPU.
std::map<int64_t, int64_t> SameProcess(const std::vector<int64_t>& gpu_words,
                                       const std::vector<int64_t>& host_words) {
  struct Words {
    std::vector<int64_t> gpu;
    std::vector<int64_t> host;
  };
  std::map<int64_t, Words> by_pid;
  for (const int64_t word : gpu_words) {
    by_pid[PidOf(word)].gpu.push_back(word);
  }
  for (const int64_t word : host_words) {
    by_pid[PidOf(word)].host.push_back(word);
  }
  std::map<int64_t, int64_t> same;
  for (const auto& [pid, words] : by_pid) {
    if (words.gpu.size() == 1 && words.host.size() == 1) {
      same[words.host[0]] = words.gpu[0];
    }
  }
  return same;
}

ProcessId PlaceOf(const std::vector<SourceProcess>& list, int64_t word) {
  const auto at = std::lower_bound(
      list.begin(), list.end(), word, [](const SourceProcess& process, int64_t key) {
        return std::tuple(process.pid, process.word) < std::tuple(PidOf(key), key);
      });
  return ProcessId{static_cast<uint32_t>(at - list.begin())};
}

}  // namespace

Processes NumberProcesses(const Trace& trace) {
  std::vector<int64_t> gpu_words;
  for (const Lane& lane : trace.lanes) {
    if (lane.global_pid) {
      gpu_words.push_back(ProcessWord(*lane.global_pid));
    }
  }
  std::vector<int64_t> host_words;
  for (const Thread& thread : trace.threads) {
    host_words.push_back(ProcessWord(thread.global_tid));
  }
  SortUnique(gpu_words);
  SortUnique(host_words);
  const std::map<int64_t, int64_t> same = SameProcess(gpu_words, host_words);
  const auto canonical = [&](int64_t word) {
    const auto found = same.find(word);
    return found == same.end() ? word : found->second;
  };

  std::vector<int64_t> words = gpu_words;
  words.push_back(0);
  for (const int64_t word : host_words) {
    words.push_back(canonical(word));
  }
  SortUnique(words);
  Processes processes;
  for (const int64_t word : words) {
    processes.list.push_back({.word = word, .pid = PidOf(word)});
  }
  std::sort(processes.list.begin(), processes.list.end(),
            [](const SourceProcess& a, const SourceProcess& b) {
              return std::tie(a.pid, a.word) < std::tie(b.pid, b.word);
            });
  processes.unknown = PlaceOf(processes.list, 0);
  for (const Lane& lane : trace.lanes) {
    processes.of_lane.push_back(lane.global_pid
                                    ? PlaceOf(processes.list, ProcessWord(*lane.global_pid))
                                    : ProcessId::kNone);
  }
  for (const Thread& thread : trace.threads) {
    processes.of_thread.push_back(
        PlaceOf(processes.list, canonical(ProcessWord(thread.global_tid))));
  }
  return processes;
}

}  // namespace nsys::perfetto

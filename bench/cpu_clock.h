// SPDX-License-Identifier: MIT
// What the benchmarks share: CPU seconds of a piece of work, and medians of runs made in turns.
#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

namespace nsys::bench {

// CPU seconds of the whole process so far, user and system, all threads.
inline double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

template <typename Work>
double CpuSecondsOf(const Work& work) {
  const double before = CpuSeconds();
  work();
  return CpuSeconds() - before;
}

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct Pair {
  double ours;
  double limit;
};

// Runs both in turns and returns the median CPU seconds of each.
template <typename Ours, typename Limit>
Pair InTurns(int rounds, const Ours& ours, const Limit& limit) {
  std::vector<double> first;
  std::vector<double> second;
  for (int round = 0; round < rounds; ++round) {
    first.push_back(CpuSecondsOf(ours));
    second.push_back(CpuSecondsOf(limit));
  }
  return {Median(first), Median(second)};
}

// Keeps a result alive, so that the work for it is not optimised away.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace nsys::bench

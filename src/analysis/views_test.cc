// SPDX-License-Identifier: MIT
// Values shared by skills: made once per key and type, at an address that stays.
#include "analysis/views.h"

#include <gtest/gtest.h>

#include "trace/launches.h"
#include "trace_builder.h"

namespace nsys {
namespace {

struct Made {
  int number = 0;
};
struct OtherMade {
  int number = 0;
};

class Counting {
 public:
  explicit Counting(const Trace& trace) : views_(trace) {}
  const Made& Get(const ViewKey& key) {
    return views_.Once<Made>(key, [&] { return Made{++count_}; });
  }
  const OtherMade& GetOther(const ViewKey& key) {
    return views_.Once<OtherMade>(key, [&] { return OtherMade{++count_}; });
  }
  int count() const { return count_; }

 private:
  Views views_;
  int count_ = 0;
};

TEST(Views, OncePerKeyAndType) {
  const Trace trace = TraceBuilder().Build();
  Counting views(trace);
  const ViewKey keys[] = {{},
                          {.device = 0},
                          {.device = 1},
                          {.window = Window{}},
                          {.window = Window{0, 9}},
                          {.window = Window{1, 9}},
                          {.text = "a"},
                          {.device = 0, .window = Window{0, 9}, .text = "a"}};
  std::vector<const Made*> first;
  for (const ViewKey& key : keys) {
    first.push_back(&views.Get(key));
  }
  EXPECT_EQ(views.count(), 8) << "no two of these keys are one";
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(&views.Get(keys[i]), first[i]);
    EXPECT_EQ(first[i]->number, static_cast<int>(i) + 1);
  }
  EXPECT_EQ(views.count(), 8);
  EXPECT_EQ(views.GetOther(keys[1]).number, 9) << "another type under the same key";
  EXPECT_EQ(views.Get(keys[1]).number, 2);
}

TEST(Views, ValuesMayRestOnOthersOfTheSameRun) {
  const Trace trace = TraceBuilder().Build();
  Views views(trace);
  std::function<int(int64_t)> sum = [&](int64_t n) -> int {
    return views
        .Once<Made>({.device = n},
                    [&] { return Made{static_cast<int>(n) + (n == 0 ? 0 : sum(n - 1))}; })
        .number;
  };
  EXPECT_EQ(sum(100), 5050);
  EXPECT_EQ(sum(50), 1275);
}

TEST(Views, CallsOfEachKindOfWork) {
  const Trace trace = TraceBuilder()
                          .Call("cudaMemcpy", {.start_ns = 0, .end_ns = 1, .correlation = 1})
                          .Call("cudaLaunch", {.start_ns = 2, .end_ns = 3, .correlation = 2})
                          .Call("cudaMemset", {.start_ns = 4, .end_ns = 5, .correlation = 3})
                          .Call("cudaSync", {.start_ns = 6, .end_ns = 7, .correlation = 4})
                          .Copy({.start_ns = 10, .end_ns = 11, .correlation = 1})
                          .Kernel("gemm", {.start_ns = 10, .end_ns = 11, .correlation = 2})
                          .Kernel("late", {.start_ns = 20, .end_ns = 21, .correlation = 9})
                          .Memset({.start_ns = 10, .end_ns = 11, .correlation = 3})
                          .Sync({.start_ns = 10, .end_ns = 11, .correlation = 4})
                          .Build();
  Views views(trace);
  EXPECT_EQ(views.CopyCalls(), (std::vector<uint32_t>{0}));
  EXPECT_EQ(views.KernelCalls(), (std::vector<uint32_t>{1, kNoCall}));
  EXPECT_EQ(views.MemsetCalls(), (std::vector<uint32_t>{2}));
  EXPECT_EQ(views.SyncCalls(), (std::vector<uint32_t>{3}));
  EXPECT_EQ(&views.KernelCalls(), &views.KernelCalls());
}

}  // namespace
}  // namespace nsys

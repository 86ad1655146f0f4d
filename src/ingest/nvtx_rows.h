// SPDX-License-Identifier: MIT
// Which rows of the NVTX table a question needs (trace/reads.h, RowKind), told from few of their
// columns before the others are read.
#pragma once

#include <optional>

#include "ingest/event_reader.h"
#include "ingest/launch_rows.h"
#include "ingest/text_filter.h"

namespace nsys {

class NvtxRows {
 public:
  // Waits for the calls where the launches decide.
  explicit NvtxRows(LoadContext& context);

  // Whether some rows need not be read.
  bool picks() const { return !kinds_.Has(RowKind::kEvery); }
  // Whether only rows of NCCL are wanted.
  bool nccl_only() const { return kinds_.Only(RowKind::kNccl); }
  // Whether a kernel can be one of NCCL, by the names in StringIds.
  bool any_nccl() const { return any_nccl_; }
  bool IsNccl(std::optional<std::string_view> text, std::optional<int64_t> text_id) const {
    return nccl_->Passes(text, text_id);
  }

  // The columns that tell; wanted of `reader` whatever else is.
  struct Keys {
    SourceColumnIndex start;
    SourceColumnIndex end;
    SourceColumnIndex thread = SourceColumnIndex::kAbsent;
    SourceColumnIndex kind = SourceColumnIndex::kAbsent;
    SourceColumnIndex text = SourceColumnIndex::kAbsent;
    SourceColumnIndex text_id = SourceColumnIndex::kAbsent;
  };
  // The hint; refers to this object.
  RowHint Hint(const Keys& keys) const;

 private:
  void Pick(const Keys& keys, const Batch& batch, std::span<uint8_t> wanted) const;
  void PickByLaunch(const Keys& keys, const Batch& batch, std::span<uint8_t> wanted) const;
  bool HasText(const Keys& keys, const Cells& cells) const;

  RowKinds kinds_;
  std::optional<Span> window_;
  const LaunchRows* launches_ = nullptr;
  std::optional<TextFilter> nccl_;
  std::optional<TextFilter> texts_;
  bool any_nccl_ = false;
};

// The same of API calls: those that may have launched a kernel in focus.
RowHint HintOfCalls(const LaunchRows& launches, SourceColumnIndex start, SourceColumnIndex end,
                    SourceColumnIndex correlation);

}  // namespace nsys

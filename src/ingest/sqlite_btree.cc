// SPDX-License-Identifier: MIT
#include "ingest/sqlite_btree.h"

#include <cstring>

namespace nsys {
namespace {

constexpr uint8_t kInteriorPage = 5;
constexpr uint8_t kLeafPage = 13;
constexpr uint32_t kInteriorHeader = 12;
constexpr uint32_t kDeepest = 20;  // as in SQLite

constexpr Refusal kBadTree = "its tree of pages is damaged";

// No page has more cells, as each takes two bytes in the list and four for itself.
bool FitsCells(const PageFile& file, uint32_t cells, uint32_t header) {
  return cells <= (file.page_size() - 8) / 6 && header + 2 * cells <= file.usable();
}

class LeafLister {
 public:
  LeafLister(const PageFile& file, std::vector<uint32_t>& leaves)
      : file_(file), leaves_(leaves), seen_(size_t{file.pages()} + 1) {}

  // `depth` counts the pages above.
  Refusal Visit(uint32_t number, uint32_t depth);

 private:
  Refusal VisitChildren(const uint8_t* page, uint32_t depth);
  void EndInterior();
  Refusal Mark(uint32_t number);

  const PageFile& file_;
  std::vector<uint32_t>& leaves_;
  std::vector<bool> seen_;
  uint32_t interiors_ = 0;
};

// The pages of interest lie all over the file, and the system may map megabytes around each.
void LeafLister::EndInterior() {
  constexpr uint32_t kAtOnce = 8;
  if (++interiors_ % kAtOnce == 0) {
    file_.ReleaseAll();
  }
}

Refusal LeafLister::Mark(uint32_t number) {
  if (!file_.MayHold(number)) {
    return "its tree names a page that the file does not have";
  }
  if (seen_[number]) {
    return "its tree reaches a page twice";
  }
  seen_[number] = true;
  return nullptr;
}

Refusal LeafLister::Visit(uint32_t number, uint32_t depth) {
  if (const Refusal why = Mark(number); why != nullptr) {
    return why;
  }
  const uint8_t* page = file_.Page(number);
  if (page[0] == kLeafPage) {
    leaves_.push_back(number);
    return nullptr;
  }
  if (page[0] != kInteriorPage || depth >= kDeepest) {
    return kBadTree;
  }
  return VisitChildren(page, depth);
}

Refusal LeafLister::VisitChildren(const uint8_t* page, uint32_t depth) {
  const uint32_t cells = BigEndian16(page + 3);
  if (cells == 0 || !FitsCells(file_, cells, kInteriorHeader)) {
    return kBadTree;
  }
  bool leaves_below = false;
  for (uint32_t i = 0; i <= cells; ++i) {
    uint32_t child = BigEndian32(page + 8);  // the last one
    if (i < cells) {
      const uint32_t at = BigEndian16(page + kInteriorHeader + size_t{2} * i);
      uint64_t key = 0;
      if (at < kInteriorHeader + 2 * cells || at > file_.usable() - 5 ||
          at + 4 + ReadVarint(page + at + 4, key) > file_.usable()) {
        return kBadTree;
      }
      child = BigEndian32(page + at);
    }
    // Siblings are alike: those of a leaf are not looked at before their rows are read.
    if (leaves_below) {
      if (const Refusal why = Mark(child); why != nullptr) {
        return why;
      }
      leaves_.push_back(child);
    } else if (const Refusal why = Visit(child, depth + 1); why != nullptr) {
      return why;
    }
    leaves_below = leaves_below || (i == 0 && leaves_.back() == child);
  }
  EndInterior();
  return nullptr;
}

}  // namespace

Refusal ListLeaves(const PageFile& file, uint32_t root, std::vector<uint32_t>& leaves) {
  leaves.clear();
  return LeafLister(file, leaves).Visit(root, 0);
}

Refusal TableLeaf::Open(const PageFile& file, uint32_t number, bool may_be_empty) {
  page_ = file.Page(number);
  usable_ = file.usable();
  cells_ = BigEndian16(page_ + 3);
  const bool sound = page_[0] == kLeafPage && FitsCells(file, cells_, kHeaderBytes) &&
                     (cells_ > 0 || may_be_empty);
  return sound ? nullptr : "one of its pages is damaged";
}

Refusal OverflowReader::Copy(const TableCell& cell, uint32_t bytes, uint8_t* to) {
  const uint32_t page_bytes = file_.usable() - 4;
  uint32_t done = std::min(bytes, cell.local);
  std::memcpy(to, cell.record, done);
  // Of such files SQLite takes the way through long chains from other pages than the chain's.
  if (file_.auto_vacuum() && cell.size - cell.local > page_bytes) {
    return "it has long rows and vacuums itself";
  }
  uint32_t next = done < bytes ? BigEndian32(cell.record + cell.local) : 0;
  while (done < bytes) {
    if (!file_.MayHold(next) || ++pages_read_ > file_.pages()) {
      return "an overflow page is damaged";
    }
    const uint8_t* page = file_.Page(next);
    const uint32_t part = std::min(bytes - done, page_bytes);
    std::memcpy(to + done, page + 4, part);
    done += part;
    next = BigEndian32(page);
  }
  return nullptr;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "ingest/sqlite_record.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace nsys {
namespace {

constexpr uint64_t kReal = 7;
constexpr uint64_t kFirstBlob = 12;

// Bytes of a value of the serial type `type`.
uint64_t SizeOf(uint64_t type) {
  static constexpr uint8_t kSizes[kFirstBlob] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kFirstBlob ? kSizes[type] : (type - kFirstBlob) / 2;
}

StoredType StoredAs(uint64_t type, const WantedCell& wanted) {
  if (type >= kFirstBlob) {
    return type % 2 == 0 ? StoredType::kBlob : StoredType::kText;
  }
  if (type == 0) {
    return StoredType::kNull;
  }
  return type == kReal || wanted.real_affinity ? StoredType::kReal : StoredType::kInteger;
}

CellPlace TextPlace(uint64_t type, uint32_t offset) {
  return {.offset = offset, .length = static_cast<uint32_t>(SizeOf(type)), .valid = 1};
}

CellPlace NumberPlace(uint64_t type, uint32_t offset, const WantedCell& wanted) {
  CellPlace place{.valid = 1};
  const uint64_t size = SizeOf(type);
  if (size == 0) {
    place.add = static_cast<int8_t>(type - 8);  // the constants 0 and 1
  } else {
    place.mask = -1;
    place.offset = offset;
    place.shift = static_cast<uint8_t>(64 - 8 * size);
  }
  if (type == kReal) {
    place.is_real = wanted.type == CellType::kReal ? 1 : 0;
    place.rework = place.is_real != 0 ? Rework::kNone : Rework::kRealToInteger;
  } else if (wanted.real_affinity && wanted.type == CellType::kInteger) {
    place.rework = Rework::kIntegerThroughReal;
  }
  return place;
}

CellPlace PlaceOf(uint64_t type, uint32_t offset, const WantedCell& wanted) {
  const StoredType stored = StoredAs(type, wanted);
  if (stored == StoredType::kNull) {
    return {};
  }
  const bool is_text = type >= kFirstBlob;
  CellPlace place;
  if (is_text != (wanted.type == CellType::kText)) {
    place.rework = Rework::kForeign;
  } else {
    place = is_text ? TextPlace(type, offset) : NumberPlace(type, offset, wanted);
  }
  place.stored = stored;
  return place;
}

}  // namespace

RecordReader::RecordReader(std::vector<WantedCell> wanted) : wanted_(std::move(wanted)) {
  for (uint32_t i = 0; i < wanted_.size(); ++i) {
    if (!wanted_[i].is_rowid) {
      by_column_.push_back(i);
      columns_ = std::max(columns_, wanted_[i].column + 1);
    }
  }
  std::stable_sort(by_column_.begin(), by_column_.end(),
                   [&](uint32_t a, uint32_t b) { return wanted_[a].column < wanted_[b].column; });
}

// The wanted cells from `next` on are not in the record.
Refusal RecordReader::Missing(size_t next, CellPlace* places) const {
  for (; next < by_column_.size(); ++next) {
    if (wanted_[by_column_[next]].has_default) {
      return "a column with a default was added to rows that exist";
    }
    places[by_column_[next]] = {};
  }
  return nullptr;
}

Refusal RecordReader::Parse(const uint8_t* record, uint32_t length_bytes, uint32_t header_bytes,
                            CellPlace* places, RecordShape& shape) const {
  shape = {};
  uint32_t at = length_bytes;
  uint64_t offset = header_bytes;
  size_t next = 0;  // in by_column_
  for (uint32_t column = 0; column < columns_ && at < header_bytes; ++column) {
    uint64_t type = record[at];
    at += type < 0x80 ? 1 : ReadVarint(record + at, type);
    if (type == 10 || type == 11 || at > header_bytes) {
      return "a row has an impossible header";
    }
    const uint64_t end = offset + SizeOf(type);
    if (end > std::numeric_limits<int32_t>::max()) {
      return "a row has an impossible header";
    }
    for (; next < by_column_.size() && wanted_[by_column_[next]].column == column; ++next) {
      CellPlace& place = places[by_column_[next]];
      place = PlaceOf(type, static_cast<uint32_t>(offset), wanted_[by_column_[next]]);
      shape.reworked = shape.reworked || place.rework != Rework::kNone;
      shape.needed = static_cast<uint32_t>(end);
    }
    offset = end;
  }
  shape.least_size = offset;
  // When all of the header was seen, the size of the record is known.
  shape.most_size = at >= header_bytes ? offset : std::numeric_limits<uint64_t>::max();
  shape.header_bytes = at;
  return Missing(next, places);
}

LayoutCache::LayoutCache(const RecordReader& reader) : reader_(reader) {
  // One byte for the length and one per type, and for each type of a long text one more: more are
  // left to RecordReader.
  uint32_t texts = 1;
  for (const WantedCell& cell : reader.wanted()) {
    texts += cell.type == CellType::kText ? 1 : 0;
  }
  key_bytes_ = std::min<uint32_t>(1 + reader.columns() + texts, 8 * kMostWords);
  words_ = (key_bytes_ + 7) / 8;
  last_mask_ = FirstBytes(key_bytes_ - 8 * (words_ - 1));
  Grow();
  keys_.reserve(kMostLayouts * words_);
  layouts_.reserve(kMostLayouts);
  places_.reserve(kMostLayouts * reader.wanted().size());
}

void LayoutCache::Enter(uint64_t hash, size_t layout) {
  size_t at = hash >> shift_;
  while (table_[at] != 0) {
    at = (at + 1) & (table_.size() - 1);
  }
  table_[at] = static_cast<uint16_t>(layout + 1);
}

void LayoutCache::Grow() {
  constexpr size_t kFirstSize = 1024;
  table_.assign(table_.empty() ? kFirstSize : 4 * table_.size(), 0);
  shift_ = 64 - std::countr_zero(table_.size());
  for (size_t layout = 0; layout < layouts_.size(); ++layout) {
    uint64_t hash = 0;
    for (size_t i = 0; i < words_; ++i) {
      hash = (hash ^ keys_[layout * words_ + i]) * kFactor;
    }
    Enter(hash, layout);
  }
}

const RecordLayout* LayoutCache::Add(const uint8_t* record, const uint64_t* words, uint64_t hash) {
  if (layouts_.size() == kMostLayouts) {
    return nullptr;
  }
  const size_t first = places_.size();
  const size_t count = reader_.wanted().size();
  places_.resize(first + count);
  RecordLayout layout{.shape = {}, .places = places_.data() + first};
  const Refusal why =
      record[0] == 0 ? "no header"
                     : reader_.Parse(record, 1, record[0], places_.data() + first, layout.shape);
  if (why != nullptr || layout.shape.header_bytes > key_bytes_) {
    places_.resize(first);
    return nullptr;
  }
  if (4 * (layouts_.size() + 1) > table_.size()) {
    Grow();
  }
  keys_.insert(keys_.end(), words, words + words_);
  layouts_.push_back(layout);
  Enter(hash, layouts_.size() - 1);
  return &layouts_.back();
}

}  // namespace nsys

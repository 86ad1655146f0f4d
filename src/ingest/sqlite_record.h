// SPDX-License-Identifier: MIT
// Records of SQLite: a header with a type per column, then the values. Where the wanted columns lie
// follows from the header alone, and rows of one table have few different headers: each is taken
// apart once.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ingest/sqlite_btree.h"
#include "ingest/table_source.h"

namespace nsys {

// A column as it is wanted of a table.
struct WantedCell {
  uint32_t column = 0;  // its place in the record
  CellType type = CellType::kInteger;
  bool is_rowid = false;       // INTEGER PRIMARY KEY: the record has nothing in its place
  bool real_affinity = false;  // integers stand for reals
  bool has_default = false;    // of records made before the column was added
};

// The types of SQLite's values.
enum class StoredType : uint8_t { kNull, kInteger, kReal, kText, kBlob };

// What a cell goes through after its number has been cut out: nothing, a conversion, or the note
// that it is of another type than wanted.
enum class Rework : uint8_t { kNone, kRealToInteger, kIntegerThroughReal, kForeign };

// Where a wanted cell lies. A number is ((8 bytes at `offset`) >> shift & mask) + add. Small, as a
// table has hundreds of layouts, each with a place per wanted cell.
struct CellPlace {
  uint32_t offset = 0;  // from the begin of the record
  uint32_t length = 0;  // of texts
  uint8_t shift = 0;
  int8_t mask = 0;  // -1: all bits
  int8_t add = 0;
  uint8_t valid = 0;
  uint8_t is_real = 0;  // the 8 bytes are a real
  Rework rework = Rework::kNone;
  StoredType stored = StoredType::kNull;
};
static_assert(sizeof(CellPlace) == 16);

inline int64_t NumberAt(const uint8_t* record, const CellPlace& place) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, record + place.offset, sizeof bytes);
  bytes = __builtin_bswap64(bytes);
  return ((static_cast<int64_t>(bytes) >> place.shift) & place.mask) + place.add;
}

// A header taken apart as far as the last wanted column.
struct RecordShape {
  uint64_t least_size = 0;  // of the whole record
  uint64_t most_size = 0;
  uint32_t needed = 0;        // bytes of the record up to the end of the last wanted cell
  uint32_t header_bytes = 0;  // of the header that this rests on
  bool reworked = false;      // some cell is

  bool Fits(uint32_t size) const { return least_size <= size && size <= most_size; }
};

// The wanted cells of a table, with what is needed to find them.
class RecordReader {
 public:
  explicit RecordReader(std::vector<WantedCell> wanted);

  std::span<const WantedCell> wanted() const { return wanted_; }
  // The first columns of the record, of which the last one is wanted.
  uint32_t columns() const { return columns_; }

  // Takes the header apart that lies at `record` with all of its `header_bytes`, of which the first
  // `length_bytes` give their number. Fills a place for each wanted cell.
  Refusal Parse(const uint8_t* record, uint32_t length_bytes, uint32_t header_bytes,
                CellPlace* places, RecordShape& shape) const;

 private:
  Refusal Missing(size_t next, CellPlace* places) const;

  std::vector<WantedCell> wanted_;
  std::vector<uint32_t> by_column_;  // places in wanted_
  uint32_t columns_ = 0;
};

// A shape and its places.
struct RecordLayout {
  RecordShape shape;
  const CellPlace* places = nullptr;
};

// The layouts of the headers seen so far.
class LayoutCache {
 public:
  explicit LayoutCache(const RecordReader& reader);

  // The layout of a record whose header has fewer than 128 bytes, all of them in the page. Nothing
  // when it is damaged or one that is not kept; then RecordReader has to tell.
  const RecordLayout* Find(const uint8_t* record) {
    uint64_t words[kMostWords];
    const uint64_t hash = TakeKey(record, words);
    for (size_t at = hash >> shift_;; at = (at + 1) & (table_.size() - 1)) {
      const uint32_t entry = table_[at];
      if (entry == 0) {
        return Add(record, words, hash);
      }
      if (Equal(words, keys_.data() + size_t{entry - 1} * words_)) {
        return &layouts_[entry - 1];
      }
    }
  }

 private:
  static constexpr size_t kMostWords = 16;
  static constexpr size_t kMostLayouts = 4096;

  // The bytes of the header that tell layouts apart: the first ones, as far as the wanted columns
  // can reach. Returns their hash, whose upper bits are the good ones.
  uint64_t TakeKey(const uint8_t* record, uint64_t* words) const {
    const uint32_t length = record[0];
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words_; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, record + size_t{8} * i, sizeof word);
      if (i + 1 == words_) {
        word &= last_mask_;
      }
      if (length < key_bytes_) {
        word &= FirstBytes(length > 8 * i ? length - 8 * i : 0);
      }
      words[i] = word;
      hash = (hash ^ word) * kFactor;
    }
    return hash;
  }

  // A mask of so many bytes in the order of memory.
  static uint64_t FirstBytes(uint32_t bytes) {
    return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
  }

  bool Equal(const uint64_t* left, const uint64_t* right) const {
    uint64_t difference = 0;
    for (uint32_t i = 0; i < words_; ++i) {
      difference |= left[i] ^ right[i];
    }
    return difference == 0;
  }

  const RecordLayout* Add(const uint8_t* record, const uint64_t* words, uint64_t hash);
  void Grow();
  void Enter(uint64_t hash, size_t layout);

  static constexpr uint64_t kFactor = 0x9E3779B97F4A7C15U;

  const RecordReader& reader_;
  uint32_t key_bytes_;
  uint32_t words_;
  uint64_t last_mask_;  // of the last word
  // Numbers of layouts, from 1; 0: free. A power of two, at most a quarter full, and small enough
  // to stay near while there are few.
  std::vector<uint16_t> table_;
  int shift_ = 0;  // from a hash to a place in it
  std::vector<uint64_t> keys_;
  std::vector<RecordLayout> layouts_;
  std::vector<CellPlace> places_;  // never grows beyond what was reserved
};

}  // namespace nsys

// SPDX-License-Identifier: MIT
// What a skill is: one question about a capture, declared as one constant. The command line, JSON,
// help and documentation all read the same declaration; nothing about a skill is written twice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "base/result.h"
#include "base/value.h"
#include "trace/trace.h"

namespace nsys {

enum class Category {
  kKernels,
  kMemory,
  kCommunication,
  kNvtx,
  kSystem,
  kBottlenecks,
  kUtilization,
  kAnalysis,
  kUtility
};
std::string_view CategoryName(Category category);

// ---- parameters

enum class ParamType { kInt, kFloat, kBool, kText };
std::string_view ParamTypeName(ParamType type);

struct Param {
  std::string name;
  ParamType type = ParamType::kText;
  std::string doc;
  Value default_value = {};  // null: no default
  bool required = false;
  std::optional<int64_t> minimum = {};  // of an int
  bool refuses_empty = false;           // of a text
  bool positive = false;                // of a float: greater than 0

  static Param Int(std::string name, int64_t default_value, std::string doc);
  static Param Count(std::string name, int64_t default_value,
                     std::string doc);  // an int of at least 0
  static Param Text(std::string name, std::string default_value, std::string doc);
  static Param NonEmptyText(std::string name, std::string default_value, std::string doc);
  static Param Real(std::string name, double default_value, std::string doc);
  static Param Flag(std::string name, bool default_value, std::string doc);
  // A parameter without a default: its value is absent unless given.
  static Param Optional(std::string name, ParamType type, std::string doc);
  static Param Required(std::string name, ParamType type, std::string doc);
  static Param Device();  // "device", default 0: answered only when the capture knows the device
};

// Parameter values by name, checked and complete.
class Params {
 public:
  void Set(std::string name, Value value) { values_[std::move(name)] = std::move(value); }
  bool Has(const std::string& name) const { return values_.contains(name); }
  const Value& Get(const std::string& name) const { return values_.at(name); }
  int64_t Int(const std::string& name) const { return *values_.at(name).AsInt(); }
  const std::string& Text(const std::string& name) const { return *values_.at(name).AsText(); }
  double Real(const std::string& name) const { return *values_.at(name).AsDouble(); }
  bool Flag(const std::string& name) const { return *values_.at(name).AsBool(); }
  // Of a parameter without a default: nothing unless it was given.
  std::optional<int64_t> OptionalInt(const std::string& name) const {
    const int64_t* value = values_.at(name).AsInt();
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  std::optional<double> OptionalReal(const std::string& name) const {
    const double* value = values_.at(name).AsDouble();
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

 private:
  std::map<std::string, Value> values_;
};

// ---- columns

// UnitName: as users read it, e.g. "ms"; empty where the unit says nothing.
enum class Unit {
  kText,
  kCount,
  kId,
  kMs,
  kUs,
  kSeconds,
  kMb,
  kKb,
  kGbps,
  kPct,
  kFlag,
  kNs,
  kTimeNs,
  kNested
};

std::string_view UnitName(Unit unit);

// One key of a row: how JSON names it and what it means, and how the text table shows it.
struct ColumnSpec {
  std::string_view key;
  Unit unit = Unit::kText;
  std::string_view doc;
  std::string_view header = {};  // of the text table; empty: not shown there
  std::function<std::string(const Object& row)> render =
      nullptr;  // text of the cell, where the unit does not tell
};

// Text of a cell from another key of the row, which holds nanoseconds: "31.12 ms", "2.30 us".
std::function<std::string(const Object& row)> DurationCell(std::string key);

// ---- results

// The capture cannot answer, and why. Not an error, and not an empty answer.
struct Abstention {
  std::string reason;
  Object details = {};  // e.g. missing_tables
};

// What a skill found, or why it found nothing.
struct Answer {
  // Data rows, in their total order, and rows about the data (_summary, _metadata) to print before
  // and after them.
  std::vector<Object> rows;
  std::vector<std::string> keys;  // of the rows, in order, where Skill::columns declares none
  std::vector<Object> about_before;
  std::vector<Object> about;
  // Sentences for the text form: totals, caveats, what to do next.
  std::vector<std::string> notes;
  // Instead of all that: why the capture cannot answer, or why the arguments fit no part of it
  // (a row with the key `error`).
  std::optional<Abstention> abstention;
  std::optional<Object> problem;

  static Answer Abstain(std::string reason, Object details = {});
  static Answer Problem(Object row);  // `row` begins with the key "error"
};

// ---- the skill

// How the text form shows rows: one line each, or, for answers of one or two wide rows, one line
// per column that has a header.
enum class TextForm { kTable, kFields };

struct Query {
  const Trace& trace;
  const Params& params;
  std::optional<Window> window;
  Views& views;                   // what skills of one run share; of the same trace
  std::string_view profile = {};  // the capture, as it was named; empty when nobody named one
};

struct Skill {
  std::string_view name;  // equals the stem of its file
  Category category = Category::kKernels;
  std::string_view title;
  std::string_view doc;
  std::vector<TableId> needs = {};         // any of them absent: abstain
  std::vector<TableId> needs_one_of = {};  // all of them absent: abstain
  bool needs_capture = true;               // false: pure arithmetic, runs without a capture too
  Reads reads = {};                        // what to load; absent tables are no obstacle here
  // What to load instead when the parameters and the window tell more; the same columns.
  std::function<Reads(const Params& params, const std::optional<Window>& window)> reads_for =
      nullptr;
  std::vector<Param> params = {};
  WindowRule window_rule = WindowRule::kContain;
  std::vector<ColumnSpec> columns = {};
  std::vector<ColumnSpec> about_columns = {};  // keys of rows about the data
  std::string_view example = {};  // arguments behind PROFILE in examples: "-p name=forward"
  std::string_view empty_text = "no results";  // what the text form says when nothing was found
  TextForm text_form = TextForm::kTable;
  // The text form of rows that are neither, without title and notes; ends in a newline.
  std::function<std::string(const Answer&)> report = nullptr;
  std::function<Result<Answer>(const Query&)> run = nullptr;
  // A statement with the placeholders of custom skills that gives the same rows, flags as 1 and 0;
  // empty where none does. Of a custom skill: its statement. What `skill save` writes.
  std::string_view sql = {};
  bool custom = false;                  // from a file of the user
  std::string_view category_text = {};  // of a custom skill, which may have a category of its own

  std::string_view category_name() const {
    return category_text.empty() ? CategoryName(category) : category_text;
  }
  const Param* FindParam(std::string_view param_name) const;
  bool Needs(TableId table) const;
};

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "query/views.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "analysis/copy_kind.h"
#include "base/text.h"
#include "ingest/sql_quotes.h"

namespace nsys {
namespace {

constexpr std::string_view kOverheadTable = "CUPTI_ACTIVITY_KIND_OVERHEAD";

// A view that is its table and nothing more.
struct PlainView {
  std::string_view name;
  TableId table;
};
constexpr PlainView kPlainViews[] = {
    {"memset", TableId::kMemset},
    {"profiler_overhead", TableId::kOverhead},
    {"composite_events", TableId::kSamples},
    {"string_ids", TableId::kStringIds},
    {"gpu_info", TableId::kGpu},
    {"cuda_device", TableId::kCudaDevice},
    {"nic_info", TableId::kNics},
    {"sync_type", TableId::kSyncTypes},
    {"nvtx_payload_schemas", TableId::kPayloadSchemas},
    {"nvtx_payload_schema_entries", TableId::kPayloadEntries},
};
constexpr std::string_view kRicherViews[] = {"kernels", "runtime",  "nvtx",        "memcpy",
                                             "sync",    "overhead", "thread_names"};

bool SameName(std::string_view a, std::string_view b) { return LowerAscii(a) == LowerAscii(b); }

bool HasColumn(const SourceTable& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const SourceColumn& column) { return SameName(column.name, name); });
}

// CASE <column> WHEN 0 THEN 'a' … ELSE 'unknown(<n>)' END, which is NULL of NULL.
template <typename Names>
std::string NumberNames(const std::string& column, int count, const Names& name_of) {
  std::string text = "CASE " + column;
  for (int i = 0; i < count; ++i) {
    text += fmt::format(" WHEN {} THEN '{}'", i, name_of(i));
  }
  return fmt::format("{} ELSE 'unknown(' || {} || ')' END", text, column);
}

// One view under construction: `SELECT t.*, <added> FROM <table> t <joins>`.
class ViewBuilder {
 public:
  ViewBuilder(const Schema& schema, SqlEngine engine, const SourceTable& table)
      : schema_(schema), engine_(engine), table_(table) {}

  bool Has(std::string_view column) const { return HasColumn(table_, column); }

  // Adds a column, unless the table has one of that name already.
  void Add(std::string_view name, const std::string& expression) {
    if (!Has(name)) {
      added_ += fmt::format(", {} AS {}", expression, QuoteName(name));
    }
  }

  // Replaces a column of the table where it stands, or adds it.
  void Replace(std::string_view name, const std::string& expression) {
    if (!Has(name)) {
      return Add(name, expression);
    }
    replaced_ = name;
    replacement_ = expression;
  }

  // The text that the number in `column` stands for in StringIds; NULL where that cannot be told.
  std::string Text(std::string_view column) {
    const SourceTable* strings = schema_.Find(TableId::kStringIds);
    if (!Has(column) || strings == nullptr || !HasColumn(*strings, "id") ||
        !HasColumn(*strings, "value")) {
      return "CAST(NULL AS TEXT)";
    }
    const std::string from = QuoteName(strings->name);
    texts_from_ = strings->name;
    const std::string number = "t." + QuoteName(column);
    if (engine_ == SqlEngine::kSqlite) {
      // A subquery costs nothing where the column is not asked for, and finds one row at most.
      return fmt::format("(SELECT value FROM {} WHERE id = {})", from, number);
    }
    const std::string alias = "s_" + std::string(column);
    const std::string join = fmt::format(" LEFT JOIN {0} {1} ON {1}.id = {2}", from, alias, number);
    if (joins_.find(join) == std::string::npos) {
      joins_ += join;
    }
    return alias + ".value";
  }

  std::vector<std::string> Tables() const {
    std::vector<std::string> tables = {table_.name};
    if (!texts_from_.empty()) {
      tables.push_back(texts_from_);
    }
    return tables;
  }

  std::string Query() const {
    std::string columns = "t.*";
    if (!replaced_.empty()) {
      columns.clear();
      for (const SourceColumn& column : table_.columns) {
        const std::string name = QuoteName(column.name);
        columns += columns.empty() ? "" : ", ";
        columns += SameName(column.name, replaced_) ? fmt::format("{} AS {}", replacement_, name)
                                                    : "t." + name;
      }
    }
    return fmt::format("SELECT {}{} FROM {} t{}", columns, added_, QuoteName(table_.name), joins_);
  }

 private:
  const Schema& schema_;
  SqlEngine engine_;
  const SourceTable& table_;
  std::string added_;
  std::string joins_;
  std::string texts_from_;
  std::string replaced_;
  std::string replacement_;
};

std::string KernelNumber(const ViewBuilder& view) {
  for (const char* column : {"demangledName", "shortName"}) {
    if (view.Has(column)) {
      return fmt::format("'kernel_' || t.{}", column);
    }
  }
  return "CAST(NULL AS TEXT)";
}

void BuildKernels(ViewBuilder& view) {
  const std::string demangled = view.Text("demangledName");
  const std::string number =
      view.Has("shortName") ? "'kernel_' || t.shortName" : KernelNumber(view);
  const std::string name = view.Has("name") ? "t.name"
                                            : fmt::format("COALESCE({}, {}, {})", demangled,
                                                          view.Text("shortName"), number);
  view.Add("name", name);
  view.Add("demangled", demangled);
  view.Add("is_tc_eligible", fmt::format("{}({})", kTensorCoreEligible, name));
  view.Add("uses_tc", fmt::format("{}({})", kTensorCoreActive, name));
}

void BuildNvtx(ViewBuilder& view) {
  if (view.Has("textId")) {
    const std::string registered = view.Text("textId");
    view.Replace("text",
                 view.Has("text") ? fmt::format("COALESCE(t.text, {})", registered) : registered);
  }
}

void BuildMemcpy(ViewBuilder& view) {
  constexpr int kKinds = 14;
  if (view.Has("copyKind")) {
    view.Add("direction", NumberNames("t.copyKind", kKinds, CopyKindName));
  }
}

void BuildSync(ViewBuilder& view) {
  static constexpr std::string_view kNames[] = {"unknown", "event synchronize", "stream wait event",
                                                "stream synchronize", "context synchronize"};
  const bool current = view.Has("syncType");
  const bool deprecated = view.Has("deprecatedSyncType");
  if (!current && !deprecated) {
    return;
  }
  const std::string type = current && deprecated
                               ? "COALESCE(t.syncType, t.deprecatedSyncType)"
                               : (current ? "t.syncType" : "t.deprecatedSyncType");
  view.Add("name",
           NumberNames(type, static_cast<int>(std::size(kNames)), [](int i) { return kNames[i]; }));
}

void BuildNamed(ViewBuilder& view) {
  if (view.Has("nameId")) {
    view.Add("name", view.Text("nameId"));
  }
}

class ViewList {
 public:
  ViewList(const Schema& schema, SqlEngine engine) : schema_(schema), engine_(engine) {}

  template <typename Build>
  void Add(std::string_view name, const SourceTable* table, const Build& build) {
    const bool taken =
        std::any_of(schema_.tables.begin(), schema_.tables.end(),
                    [&](const SourceTable& own) { return SameName(own.name, name); });
    if (table == nullptr || table->columns.empty() || taken) {
      return;
    }
    ViewBuilder view(schema_, engine_, *table);
    build(view);
    views_.push_back({.name = std::string(name), .query = view.Query(), .tables = view.Tables()});
  }

  std::vector<ShortView> Take() { return std::move(views_); }

 private:
  const Schema& schema_;
  SqlEngine engine_;
  std::vector<ShortView> views_;
};

}  // namespace

std::vector<ShortView> ShortViews(const Schema& schema, SqlEngine engine) {
  ViewList views(schema, engine);
  views.Add("kernels", schema.Find(TableId::kKernel), BuildKernels);
  views.Add("runtime", schema.Find(TableId::kRuntime), BuildNamed);
  views.Add("nvtx", schema.Find(TableId::kNvtx), BuildNvtx);
  views.Add("memcpy", schema.Find(TableId::kMemcpy), BuildMemcpy);
  views.Add("sync", schema.Find(TableId::kSync), BuildSync);
  views.Add("overhead", schema.Find(kOverheadTable), BuildNamed);
  views.Add("thread_names", schema.Find(TableId::kThreadNames), BuildNamed);
  for (const PlainView& plain : kPlainViews) {
    views.Add(plain.name, schema.Find(plain.table), [](ViewBuilder&) {});
  }
  for (size_t i = 0; i < kTableCount; ++i) {
    const auto table = static_cast<TableId>(i);
    // PROFILER_OVERHEAD and the like are the short names as well.
    const std::string_view canonical = CanonicalName(table);
    if (!IsShortViewName(canonical)) {
      views.Add(canonical, schema.Find(table), [](ViewBuilder&) {});
    }
  }
  return views.Take();
}

bool IsShortViewName(std::string_view name) {
  const auto same = [&](std::string_view other) { return SameName(name, other); };
  return std::any_of(std::begin(kRicherViews), std::end(kRicherViews), same) ||
         std::any_of(std::begin(kPlainViews), std::end(kPlainViews),
                     [&](const PlainView& plain) { return same(plain.name); });
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "query/sqlite_sandbox.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/number.h"
#include "base/text.h"
#include "ingest/sql_quotes.h"
#include "ingest/sqlite_connection.h"
#include "ingest/sqlite_temp.h"
#include "query/sql_text.h"
#include "query/sqlite_functions.h"
#include "query/views.h"

namespace nsys {
namespace {

// Functions that compute from their arguments. Everything else, of this SQLite or of a later one,
// is refused: functions that load code, read files, or look into the library.
constexpr std::string_view kFunctions[] = {"->",
                                           "->>",
                                           "abs",
                                           "acos",
                                           "acosh",
                                           "asin",
                                           "asinh",
                                           "atan",
                                           "atan2",
                                           "atanh",
                                           "avg",
                                           "ceil",
                                           "ceiling",
                                           "char",
                                           "coalesce",
                                           "concat",
                                           "concat_ws",
                                           "cos",
                                           "cosh",
                                           "count",
                                           "cume_dist",
                                           "current_date",
                                           "current_time",
                                           "current_timestamp",
                                           "date",
                                           "datetime",
                                           "degrees",
                                           "dense_rank",
                                           "exp",
                                           "first_value",
                                           "floor",
                                           "format",
                                           "glob",
                                           "group_concat",
                                           "hex",
                                           "if",
                                           "ifnull",
                                           "iif",
                                           "instr",
                                           "json",
                                           "json_array",
                                           "json_array_length",
                                           "json_extract",
                                           "json_group_array",
                                           "json_group_object",
                                           "json_insert",
                                           "json_object",
                                           "json_patch",
                                           "json_quote",
                                           "json_remove",
                                           "json_replace",
                                           "json_set",
                                           "json_type",
                                           "json_valid",
                                           "julianday",
                                           "lag",
                                           "last_value",
                                           "lead",
                                           "length",
                                           "like",
                                           "likelihood",
                                           "likely",
                                           "ln",
                                           "log",
                                           "log10",
                                           "log2",
                                           "lower",
                                           "ltrim",
                                           "max",
                                           "median",
                                           "min",
                                           "mod",
                                           "nth_value",
                                           "ntile",
                                           "nullif",
                                           "octet_length",
                                           "percent_rank",
                                           "percentile",
                                           "pi",
                                           "pow",
                                           "power",
                                           "printf",
                                           "quote",
                                           "radians",
                                           "random",
                                           "randomblob",
                                           "rank",
                                           "replace",
                                           "round",
                                           "row_number",
                                           "rtrim",
                                           "sign",
                                           "sin",
                                           "sinh",
                                           "soundex",
                                           "sqlite_version",
                                           "sqrt",
                                           "strftime",
                                           "string_agg",
                                           "substr",
                                           "substring",
                                           "subtype",
                                           "sum",
                                           "tan",
                                           "tanh",
                                           "time",
                                           "timediff",
                                           "total",
                                           "trim",
                                           "trunc",
                                           "typeof",
                                           "unhex",
                                           "unicode",
                                           "unixepoch",
                                           "unlikely",
                                           "upper",
                                           "zeroblob",
                                           kTensorCoreEligible,
                                           kTensorCoreActive,
                                           kRoundHalfEven};

// The functions that give tables. SQLite declares them when they are first named, which the gate
// would take for a write: they are named once before it closes.
constexpr const char* kDeclareTables =
    "SELECT 1 FROM pragma_table_info('x'), pragma_table_xinfo('x'), json_each('[]'), "
    "json_tree('[]')";

// What is readable besides the capture's own.
constexpr std::string_view kCatalogs[] = {
    "sqlite_master",     "sqlite_schema",      "sqlite_temp_master", "sqlite_temp_schema",
    "pragma_table_info", "pragma_table_xinfo", "json_each",          "json_tree"};

template <size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string ActionName(int action) {
  static constexpr std::pair<int, std::string_view> kNames[] = {
      {SQLITE_DELETE, "DELETE"},
      {SQLITE_INSERT, "INSERT"},
      {SQLITE_UPDATE, "UPDATE"},
      {SQLITE_PRAGMA, "PRAGMA"},
      {SQLITE_TRANSACTION, "a transaction"},
      {SQLITE_SAVEPOINT, "a savepoint"},
      {SQLITE_ATTACH, "ATTACH"},
      {SQLITE_DETACH, "DETACH"},
      {SQLITE_ALTER_TABLE, "ALTER TABLE"},
      {SQLITE_REINDEX, "REINDEX"},
      {SQLITE_ANALYZE, "ANALYZE"},
      {SQLITE_FUNCTION, "the function"},
      {SQLITE_READ, "reading"},
  };
  for (const auto& [number, name] : kNames) {
    if (number == action) {
      return std::string(name);
    }
  }
  const bool drops =
      (action >= SQLITE_DROP_INDEX && action <= SQLITE_DROP_VIEW) || action == SQLITE_DROP_VTABLE;
  return drops ? "DROP" : "CREATE";
}

int OnAuthorize(void* gate, int action, const char* first, const char* second, const char* /*db*/,
                const char* /*inner*/) {
  return static_cast<SqliteGate*>(gate)->Authorize(action, first, second);
}

int OnProgress(void* stop) {
  return static_cast<StopSign*>(stop)->Check() == StopReason::kNone ? 0 : 1;
}

std::string Lower(const char* text) { return text == nullptr ? "" : LowerAscii(text); }

std::mutex g_memory_mutex;
int64_t g_memory_limits = 0;  // of all sessions that run
int64_t g_memory_others = 0;  // what was used when the first of them started

}  // namespace

Status PrepareConnection(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // A name in double quotes that is no column is a mistake, not a text.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  // Plans must not depend on the values of parameters: what is loaded is what the plan reads.
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  constexpr int kMostBytes = 1 << 28;  // of one text
  static constexpr std::pair<int, int> kLimits[] = {
      {SQLITE_LIMIT_LENGTH, kMostBytes},    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
      {SQLITE_LIMIT_ATTACHED, 0},           {SQLITE_LIMIT_EXPR_DEPTH, 500},
      {SQLITE_LIMIT_COMPOUND_SELECT, 500},  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
      {SQLITE_LIMIT_VARIABLE_NUMBER, 1000}, {SQLITE_LIMIT_WORKER_THREADS, 0},
  };
  for (const auto& [limit, value] : kLimits) {
    sqlite3_limit(db, limit, value);
  }
  // Temporary files are in memory all the same, where SQLite has what that takes.
  const char* store =
      MemoryTempVfs("unix") == nullptr ? "PRAGMA temp_store=MEMORY" : "PRAGMA temp_store=FILE";
  const int temporary = sqlite3_exec(db, store, nullptr, nullptr, nullptr);
  sqlite3_exec(db, kDeclareTables, nullptr, nullptr, nullptr);
  if (temporary != SQLITE_OK || !RegisterSqliteFunctions(db)) {
    return SqlError(fmt::format("SQLite could not start: {}", sqlite3_errmsg(db)));
  }
  return {};
}

Status CreateShortViews(sqlite3* db, const Schema& schema) {
  for (const ShortView& view : ShortViews(schema, SqlEngine::kSqlite)) {
    const std::string sql =
        fmt::format("CREATE TEMP VIEW {} AS {}", QuoteName(view.name), view.query);
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      return SqlError(fmt::format("the view {} could not be made: {}", view.name,
                                  Printable(sqlite3_errmsg(db))));
    }
  }
  return {};
}

void StopSign::Start(int64_t timeout_ms) {
  constexpr int64_t kMostMs = int64_t{1} << 40;  // thirty years
  reason_.store(StopReason::kNone);
  deadline_ = std::chrono::steady_clock::now() +
              std::chrono::milliseconds(std::clamp<int64_t>(timeout_ms, 0, kMostMs));
}

StopReason StopSign::Check() {
  if (reason_.load() != StopReason::kNone) {
    return reason_.load();
  }
  if (interrupted_.load()) {
    reason_.store(StopReason::kInterrupted);
  } else if (std::chrono::steady_clock::now() >= deadline_) {
    reason_.store(StopReason::kTimeout);
  }
  return reason_.load();
}

Error StoppedError(StopReason reason, const SqlLimits& limits) {
  if (reason == StopReason::kInterrupted) {
    return {.code = ErrorCode::kInterrupted, .message = "the statement was interrupted"};
  }
  return SqlError(fmt::format("the statement ran longer than the time limit of {}",
                              FormatDuration(limits.timeout_ms * 1'000'000)),
                  "narrow it down, or allow more time");
}

SqliteGate::SqliteGate(sqlite3* db, const std::vector<std::string>& tables,
                       const std::vector<std::string>& views, StopSign& stop)
    : db_(db), stop_(stop) {
  for (const std::string& name : tables) {
    tables_.insert(LowerAscii(name));
  }
  for (const std::string& name : views) {
    views_.insert(LowerAscii(name));
  }
}

void SqliteGate::Close() {
  constexpr int kStepsBetweenChecks = 2000;
  refused_.reset();
  sqlite3_set_authorizer(db_, OnAuthorize, this);
  sqlite3_progress_handler(db_, kStepsBetweenChecks, OnProgress, &stop_);
}

void SqliteGate::Open() {
  sqlite3_set_authorizer(db_, nullptr, nullptr);
  sqlite3_progress_handler(db_, 0, nullptr, nullptr);
}

bool SqliteGate::MayRead(const char* table, const char* column) {
  // Without a column it is a table of which nothing but the existence of rows is read, or one that
  // the statement itself makes (WITH).
  const std::string name = Lower(table);
  if (column == nullptr || *column == '\0') {
    return true;
  }
  if (!views_.contains(name)) {
    return tables_.contains(name) || Contains(kCatalogs, name);
  }
  if (Lower(column) != "rowid") {
    return true;
  }
  // Some builds of SQLite give NULL there, which would make wrong answers.
  refused_ = SqlError(fmt::format("no such column: rowid of the view {}", name),
                      "name the table itself, for example CUPTI_ACTIVITY_KIND_KERNEL");
  return false;
}

int SqliteGate::Authorize(int action, const char* first, const char* second) {
  const auto allowed = [&] {
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_RECURSIVE:
        return true;
      case SQLITE_READ:
        return MayRead(first, second);
      case SQLITE_FUNCTION:
        return Contains(kFunctions, Lower(second));
      case SQLITE_PRAGMA:
        return Lower(first) == "table_info" || Lower(first) == "table_xinfo";
      default:
        return false;
    }
  };
  if (allowed()) {
    return SQLITE_OK;
  }
  if (!refused_) {
    const char* object = action == SQLITE_FUNCTION ? second : first;
    const bool named = object != nullptr && action != SQLITE_ATTACH &&
                       action != SQLITE_TRANSACTION && action != SQLITE_SAVEPOINT;
    refused_ = SqlError(
        "not allowed: " + ActionName(action) + (named ? " " + Printable(object) : std::string()),
        std::string(kSqliteReads));
  }
  return SQLITE_DENY;
}

SqliteMemoryLimit::SqliteMemoryLimit(int64_t bytes, int64_t already_own)
    : bytes_(std::max<int64_t>(bytes, 1 << 20)) {
  const std::scoped_lock lock(g_memory_mutex);
  if (g_memory_limits == 0) {
    g_memory_others = std::max<int64_t>(0, sqlite3_memory_used() - already_own);
  }
  g_memory_limits += bytes_;
  sqlite3_hard_heap_limit64(g_memory_others + g_memory_limits);
}

SqliteMemoryLimit::~SqliteMemoryLimit() {
  const std::scoped_lock lock(g_memory_mutex);
  g_memory_limits -= bytes_;
  sqlite3_hard_heap_limit64(g_memory_limits == 0 ? 0 : g_memory_others + g_memory_limits);
}

}  // namespace nsys

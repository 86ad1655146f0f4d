// SPDX-License-Identifier: MIT
#include "query/sql_template.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "ingest/sql_quotes.h"
#include "query/markdown_skill.h"
#include "query/sql_text.h"

namespace nsys {
namespace {

struct TablePlaceholder {
  std::string_view name;
  TableId table;
  std::string_view stand_in = {};  // for a capture without the table; empty: it is needed
};
constexpr std::string_view kNoGraphs =
    R"((SELECT 0 AS start, 0 AS "end", 0 AS "deviceId", 0 AS "contextId", 0 AS "greenContextId",
0 AS "streamId", 0 AS "correlationId", 0 AS "globalPid", 0 AS "graphId", 0 AS "graphExecId"
WHERE 0 = 1))";
constexpr std::array<TablePlaceholder, 8> kTables = {
    {{"kernel_table", TableId::kKernel},
     {"runtime_table", TableId::kRuntime},
     {"nvtx_table", TableId::kNvtx},
     {"memcpy_table", TableId::kMemcpy},
     {"memset_table", TableId::kMemset},
     {"sync_table", TableId::kSync},
     {"sync_type_table", TableId::kSyncTypes},
     {"graph_trace_table", TableId::kGraphTrace, kNoGraphs}}};
constexpr std::array<std::string_view, 4> kOwnValues = {"trim_start_ns", "trim_end_ns",
                                                        "overhead_ns", "_sqlite_path"};

bool IsWordByte(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

// Walks the tokens and copies what lies between them, comments included.
class SqlTemplate::Builder {
 public:
  Builder(std::string_view sql, SqlEngine engine, const std::vector<Param>& params, int first_line)
      : sql_(sql), engine_(engine), first_line_(first_line), tokens_(SqlTokens(sql, engine)) {
    names_.assign(kOwnValues.begin(), kOwnValues.end());
    for (const Param& param : params) {
      names_.push_back(param.name);
    }
  }

  Result<SqlTemplate> Build() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const SqlToken& token = tokens_[at_];
      if (token.kind == SqlTokenKind::kText || token.kind == SqlTokenKind::kQuotedName) {
        NSYS_TRY(AddQuoted(token.text));
      } else if (token.kind == SqlTokenKind::kParameter) {
        NSYS_TRY(AddParameter(token.text));
      } else if (token.text == "{") {
        NSYS_TRY(AddOpenBrace());
      } else if (token.text == "}" && NextIs("}") && depth_ > 0) {
        --depth_;
        Replace(tokens_[at_].text, 2, "}");
        ++at_;
      } else {
        NSYS_TRY(CheckOther(token.text));
      }
    }
    AddVerbatim(sql_.substr(copied_));
    return std::move(result_);
  }

 private:
  size_t Offset(std::string_view token) const {
    return static_cast<size_t>(token.data() - sql_.data());
  }

  int LineOf(size_t offset) const {
    return first_line_ +
           static_cast<int>(
               std::count(sql_.begin(), sql_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  }

  // Whether the token `ahead` of this one is `text` and nothing lies between.
  bool NextIs(std::string_view text, size_t ahead = 1) const {
    if (at_ + ahead >= tokens_.size()) {
      return false;
    }
    const std::string_view before = tokens_[at_ + ahead - 1].text;
    const std::string_view next = tokens_[at_ + ahead].text;
    return next == text && before.data() + before.size() == next.data();
  }

  void AddVerbatim(std::string_view text) {
    if (result_.pieces_.empty() || result_.pieces_.back().kind != Kind::kVerbatim) {
      result_.pieces_.push_back({});
    }
    result_.pieces_.back().text += text;
  }

  // Copies up to `token`, then puts `text` in the place of `length` bytes.
  void Replace(std::string_view token, size_t length, std::string_view text) {
    const size_t offset = Offset(token);
    AddVerbatim(sql_.substr(copied_, offset - copied_));
    AddVerbatim(text);
    copied_ = offset + length;
  }

  bool IsValue(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  // What stands in the place of {name}; nothing when that is no placeholder.
  std::optional<Piece> PieceFor(std::string_view name) const {
    for (const TablePlaceholder& one : kTables) {
      if (one.name == name) {
        return Piece{.kind = Kind::kTable, .text = std::string(one.stand_in), .table = one.table};
      }
    }
    const auto fixed = [](Kind kind) { return Piece{.kind = kind, .text = "", .table = {}}; };
    if (name == "trim_clause") {
      return fixed(Kind::kTrimClause);
    }
    if (name == "nvtx_text_expr") {
      return fixed(Kind::kNvtxText);
    }
    if (name == "nvtx_text_join") {
      return fixed(Kind::kNvtxJoin);
    }
    return IsValue(name)
               ? std::optional(Piece{.kind = Kind::kValue, .text = std::string(name), .table = {}})
               : std::nullopt;
  }

  void NeedTable(TableId table) {
    auto& tables = result_.tables_;
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) {
      tables.push_back(table);
    }
  }

  void AddPiece(Piece piece) {
    if (piece.kind == Kind::kTable && piece.text.empty()) {
      NeedTable(piece.table);
    } else if (piece.kind == Kind::kNvtxText || piece.kind == Kind::kNvtxJoin) {
      NeedTable(TableId::kNvtx);
    } else if (piece.kind == Kind::kValue && !result_.UsesValue(piece.text)) {
      result_.values_.push_back(piece.text);
    }
    result_.pieces_.push_back(std::move(piece));
  }

  // {{, {name}, or a brace of the dialect.
  Status AddOpenBrace() {
    const size_t offset = Offset(tokens_[at_].text);
    if (NextIs("{")) {
      ++depth_;
      Replace(tokens_[at_].text, 2, "{");
      ++at_;
      return {};
    }
    const bool name_follows = at_ + 2 < tokens_.size() &&
                              tokens_[at_ + 1].kind == SqlTokenKind::kWord &&
                              NextIs(tokens_[at_ + 1].text) && NextIs("}", 2);
    if (!name_follows) {
      return {};
    }
    const std::string_view name = tokens_[at_ + 1].text;
    const size_t end = offset + name.size() + 2;
    std::optional<Piece> piece = PieceFor(name);
    if (!piece) {
      return UnknownPlaceholder(name, offset);
    }
    const bool in_word = (offset > 0 && IsWordByte(sql_[offset - 1])) ||
                         (end < sql_.size() && IsWordByte(sql_[end]));
    if (in_word) {
      return SkillFileError(LineOf(offset), fmt::format("{{{}}} stands inside a word", name),
                            "put blanks around it; it cannot be a part of a name or a number");
    }
    AddVerbatim(sql_.substr(copied_, offset - copied_));
    AddPiece(*std::move(piece));
    copied_ = end;
    at_ += 2;
    return {};
  }

  Error UnknownPlaceholder(std::string_view name, size_t offset) const {
    std::vector<std::string> known = names_;
    for (const TablePlaceholder& one : kTables) {
      known.emplace_back(one.name);
    }
    known.insert(known.end(), {"trim_clause", "nvtx_text_expr", "nvtx_text_join"});
    const auto nearest = NearestName(name, known);
    return SkillFileError(
        LineOf(offset), fmt::format("{{{}}} is no placeholder", name),
        nearest ? fmt::format("did you mean {{{}}}?", *nearest)
                : fmt::format("declare it under ## Parameters: - {} (int, default 10): …", name));
  }

  // A text or a quoted name: only doubled braces mean anything in it.
  Status AddQuoted(std::string_view token) {
    std::string text;
    int depth = 0;
    for (size_t i = 0; i < token.size(); ++i) {
      const std::string_view rest = token.substr(i);
      if (rest.starts_with("{{")) {
        text += '{';
        ++depth;
        ++i;
      } else if (rest.starts_with("}}") && depth > 0) {
        text += '}';
        --depth;
        ++i;
      } else {
        if (rest.front() == '{') {
          NSYS_TRY(CheckNoPlaceholder(token, rest));
        }
        text += rest.front();
      }
    }
    Replace(token, token.size(), text);
    return {};
  }

  Status CheckNoPlaceholder(std::string_view token, std::string_view rest) const {
    const size_t close = rest.find('}');
    const std::string_view name = rest.substr(1, close == std::string_view::npos ? 0 : close - 1);
    const std::optional<Piece> piece = PieceFor(name);
    if (!piece) {
      return {};
    }
    const bool is_value = piece->kind == Kind::kValue;
    const bool is_text = token.front() == '\'';
    return SkillFileError(LineOf(Offset(rest)),
                          fmt::format("{{{}}} stands inside a {}, where nothing is filled in", name,
                                      is_text ? "text in quotes" : "quoted name"),
                          is_value && is_text
                              ? fmt::format("join the parts: '…' || {{{}}} || '…'", name)
                              : "put it outside of the quotes; {{ and }} are braces");
  }

  Status AddParameter(std::string_view token) {
    const std::string name(token.substr(1));
    if (IsValue(name)) {
      if (!result_.UsesValue(name)) {
        result_.values_.push_back(name);
      }
      return {};
    }
    if (engine_ == SqlEngine::kDuckdb) {
      return {};  // it may be a slice or a struct
    }
    const auto nearest = NearestName(name, names_);
    return SkillFileError(
        LineOf(Offset(token)), fmt::format(":{} is no declared parameter", name),
        nearest ? fmt::format("did you mean :{}?", *nearest)
                : fmt::format("declare it under ## Parameters: - {} (int, default 10): …", name));
  }

  // Parameters that have no name to give them a value by.
  Status CheckOther(std::string_view token) const {
    if (engine_ == SqlEngine::kSqlite && (token == "?" || token == "@" || token == "$")) {
      return SkillFileError(LineOf(Offset(token)),
                            fmt::format("'{}' cannot be given a value", token),
                            "write parameters as {name} or :name");
    }
    return {};
  }

  std::string_view sql_;
  SqlEngine engine_;
  int first_line_;
  std::vector<SqlToken> tokens_;
  std::vector<std::string> names_;  // of values
  size_t at_ = 0;
  size_t copied_ = 0;  // bytes of sql_ that are in the result
  int depth_ = 0;      // of doubled braces
  SqlTemplate result_;
};

Result<SqlTemplate> SqlTemplate::Parse(std::string_view sql, SqlEngine engine,
                                       const std::vector<Param>& params, int first_line) {
  return Builder(sql, engine, params, first_line).Build();
}

bool SqlTemplate::Uses(Kind kind) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& piece) { return piece.kind == kind; });
}

bool SqlTemplate::UsesValue(std::string_view name) const {
  return std::find(values_.begin(), values_.end(), name) != values_.end();
}

template <typename TableName>
std::string SqlTemplate::Write(const TableName& table_name, bool has_window,
                               const NvtxNames& nvtx) const {
  std::string sql;
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::kVerbatim:
        sql += piece.text;
        break;
      case Kind::kTable:
        sql += table_name(piece);
        break;
      case Kind::kTrimClause:
        sql += has_window ? "AND k.start >= :trim_start_ns AND k.\"end\" <= :trim_end_ns" : "";
        break;
      case Kind::kNvtxText:
        sql += nvtx.text_id ? (nvtx.text ? "COALESCE(n.text, s2.value)" : "s2.value")
                            : (nvtx.text ? "n.text" : "NULL");
        break;
      case Kind::kNvtxJoin:
        sql += nvtx.text_id
                   ? fmt::format("LEFT JOIN {} s2 ON n.\"textId\" = s2.id", QuoteName(nvtx.strings))
                   : "";
        break;
      case Kind::kValue:
        sql += sql.ends_with(':') ? " :" : ":";  // :: would be a cast
        sql += piece.text;
        break;
    }
  }
  return sql;
}

std::string SqlTemplate::Expand(const Schema& schema, bool has_window) const {
  NvtxNames nvtx;
  const SourceTable* ranges = schema.Find(TableId::kNvtx);
  const SourceTable* strings = schema.Find(TableId::kStringIds);
  if (ranges != nullptr) {
    nvtx.text = ranges->Find("text") != nullptr;
    nvtx.text_id = ranges->Find("textId") != nullptr && strings != nullptr;
  }
  if (strings != nullptr) {
    nvtx.strings = strings->name;
  }
  const auto name_of = [&](const Piece& piece) {
    const SourceTable* found = schema.Find(piece.table);
    if (found == nullptr && !piece.text.empty()) {
      return piece.text;
    }
    return QuoteName(found != nullptr ? std::string_view(found->name) : CanonicalName(piece.table));
  };
  return Write(name_of, has_window, nvtx);
}

std::vector<std::string> SqlTemplate::Variants() const {
  const auto canonical = [](const Piece& piece) { return QuoteName(CanonicalName(piece.table)); };
  std::vector<std::string> variants;
  const bool uses_nvtx = Uses(Kind::kNvtxText) || Uses(Kind::kNvtxJoin);
  for (const bool has_window : {false, true}) {
    for (const bool text_id : {false, true}) {
      const bool same = (has_window && !uses_trim_clause()) || (text_id && !uses_nvtx);
      if (!same) {
        variants.push_back(Write(canonical, has_window, {.text_id = text_id}));
      }
    }
  }
  return variants;
}

}  // namespace nsys

// SPDX-License-Identifier: MIT
#include "query/sql_text.h"

#include <algorithm>

#include "base/text.h"

namespace nsys {
namespace {

bool IsNameStart(char c) {
  return IsLetter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool IsNameByte(char c) { return IsNameStart(c) || IsDigit(c) || c == '$'; }

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  Lexer(std::string_view sql, SqlEngine engine) : sql_(sql), engine_(engine) {}

  std::vector<SqlToken> Run() {
    std::vector<SqlToken> tokens;
    while (SkipBlanks()) {
      const size_t begin = at_;
      const SqlTokenKind kind = Next();
      tokens.push_back({.kind = kind, .text = sql_.substr(begin, at_ - begin)});
    }
    return tokens;
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }

  // False at the end of the text.
  bool SkipBlanks() {
    while (at_ < sql_.size()) {
      if (IsBlank(Peek())) {
        ++at_;
      } else if (Peek() == '-' && Peek(1) == '-') {
        at_ = std::min(sql_.find('\n', at_), sql_.size());
      } else if (Peek() == '/' && Peek(1) == '*') {
        SkipComment();
      } else {
        return true;
      }
    }
    return false;
  }

  // DuckDB's comments nest, SQLite's do not.
  void SkipComment() {
    size_t depth = 1;
    at_ += 2;
    while (at_ < sql_.size() && depth > 0) {
      if (Peek() == '*' && Peek(1) == '/') {
        --depth;
        at_ += 2;
      } else if (Peek() == '/' && Peek(1) == '*' && engine_ == SqlEngine::kDuckdb) {
        ++depth;
        at_ += 2;
      } else {
        ++at_;
      }
    }
    at_ = std::min(at_, sql_.size());
  }

  // Past the closing quote; a doubled quote is part of the text.
  void SkipQuoted(char close) {
    ++at_;
    while (at_ < sql_.size()) {
      const bool found = sql_[at_++] == close;
      if (found && (close == ']' || Peek() != close)) {
        return;
      }
      at_ += found ? 1 : 0;
    }
  }

  SqlTokenKind Next() {
    const char c = Peek();
    if (c == '\'') {
      SkipQuoted('\'');
      return SqlTokenKind::kText;
    }
    if (c == '"' || (engine_ == SqlEngine::kSqlite && (c == '`' || c == '['))) {
      SkipQuoted(c == '[' ? ']' : c);
      return SqlTokenKind::kQuotedName;
    }
    if (IsNameStart(c)) {
      SkipName();
      return SqlTokenKind::kWord;
    }
    if (IsDigit(c)) {
      while (IsNameByte(Peek()) || Peek() == '.') {
        ++at_;
      }
      return SqlTokenKind::kOther;
    }
    if (c == ':' && IsNameStart(Peek(1)) && brackets_ == 0) {
      ++at_;
      SkipName();
      return SqlTokenKind::kParameter;
    }
    return Operator(c);
  }

  SqlTokenKind Operator(char c) {
    if (engine_ == SqlEngine::kDuckdb && c == '$' && SkipDollarText()) {
      return SqlTokenKind::kText;
    }
    // In DuckDB's brackets a colon makes a slice.
    brackets_ += c == '[' ? 1 : c == ']' && brackets_ > 0 ? -1 : 0;
    at_ += c == ':' && Peek(1) == ':' ? 2 : 1;
    return SqlTokenKind::kOther;
  }

  void SkipName() {
    while (IsNameByte(Peek())) {
      ++at_;
    }
  }

  // $tag$ … $tag$
  bool SkipDollarText() {
    size_t end = at_ + 1;
    while (end < sql_.size() && (IsNameStart(sql_[end]) || IsDigit(sql_[end]))) {
      ++end;
    }
    if (end >= sql_.size() || sql_[end] != '$') {
      return false;
    }
    const std::string_view tag = sql_.substr(at_, end + 1 - at_);
    const size_t close = sql_.find(tag, end + 1);
    at_ = close == std::string_view::npos ? sql_.size() : close + tag.size();
    return true;
  }

  std::string_view sql_;
  SqlEngine engine_;
  size_t at_ = 0;
  int brackets_ = 0;
};

}  // namespace

std::vector<SqlToken> SqlTokens(std::string_view sql, SqlEngine engine) {
  return Lexer(sql, engine).Run();
}

bool IsWord(const SqlToken& token, std::string_view word) {
  return token.kind == SqlTokenKind::kWord && LowerAscii(token.text) == word;
}

std::string NameOf(const SqlToken& token) {
  if (token.kind != SqlTokenKind::kQuotedName) {
    return std::string(token.text);
  }
  const char close = token.text.front() == '[' ? ']' : token.text.front();
  std::string name;
  for (size_t i = 1; i < token.text.size(); ++i) {
    if (token.text[i] == close && (i + 1 >= token.text.size() || token.text[++i] != close)) {
      break;
    }
    name += token.text[i];
  }
  return name;
}

std::vector<std::string> SqlParameters(std::string_view sql, SqlEngine engine) {
  std::vector<std::string> names;
  for (const SqlToken& token : SqlTokens(sql, engine)) {
    const std::string name(token.text.substr(token.kind == SqlTokenKind::kParameter ? 1 : 0));
    if (token.kind == SqlTokenKind::kParameter &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

std::optional<CatalogQuestion> ParseCatalogQuestion(std::string_view sql, SqlEngine engine) {
  std::vector<SqlToken> tokens = SqlTokens(sql, engine);
  while (!tokens.empty() && tokens.back().text == ";") {
    tokens.pop_back();
  }
  if (tokens.size() == 2 && IsWord(tokens[0], "show") && IsWord(tokens[1], "tables")) {
    return CatalogQuestion{};
  }
  const bool describes = (tokens.size() == 2 || tokens.size() == 3) &&
                         (IsWord(tokens[0], "describe") || IsWord(tokens[0], "desc")) &&
                         (tokens.size() == 2 || IsWord(tokens[1], "table"));
  const bool names = describes && (tokens.back().kind == SqlTokenKind::kWord ||
                                   tokens.back().kind == SqlTokenKind::kQuotedName);
  return names ? std::optional(CatalogQuestion{.described = NameOf(tokens.back())}) : std::nullopt;
}

Error SqlError(std::string message, std::string hint) {
  return {.code = ErrorCode::kSql, .message = std::move(message), .hint = std::move(hint)};
}

}  // namespace nsys

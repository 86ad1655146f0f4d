// SPDX-License-Identifier: MIT
// The text of a statement, as far as it can be understood without a grammar: its tokens, and the
// statements of other databases that are taken for a SELECT.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/sql_session.h"

namespace nsys {

enum class SqlTokenKind {
  kWord,        // a keyword or a name without quotes
  kQuotedName,  // a name in double quotes, back quotes or (SQLite) brackets
  kText,        // a text in quotes
  kParameter,   // :name
  kOther,       // a number, an operator, a bracket
};

struct SqlToken {
  SqlTokenKind kind = SqlTokenKind::kOther;
  std::string_view text;  // as written, quotes and all
};

// The tokens of `sql` without blanks and comments. An unclosed quote or comment ends with the text.
std::vector<SqlToken> SqlTokens(std::string_view sql, SqlEngine engine);

// Whether the token is this word, in any case.
bool IsWord(const SqlToken& token, std::string_view word);

// The name that a word or quoted name stands for.
std::string NameOf(const SqlToken& token);

// Names of the parameters `:name` in `sql`, each once, in order, without the colon.
std::vector<std::string> SqlParameters(std::string_view sql, SqlEngine engine);

// What SHOW TABLES or DESCRIBE <table> asks for; nothing when `sql` is neither.
struct CatalogQuestion {
  std::optional<std::string> described;  // the table of DESCRIBE
};
std::optional<CatalogQuestion> ParseCatalogQuestion(std::string_view sql, SqlEngine engine);

// An error of code kSql.
Error SqlError(std::string message, std::string hint = "");

}  // namespace nsys

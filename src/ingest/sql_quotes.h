// SPDX-License-Identifier: MIT
// Names and texts as they stand in a statement, in the quotes that SQLite and DuckDB share.
#pragma once

#include <string>
#include <string_view>

namespace nsys {

std::string QuoteName(std::string_view name);  // "name", a quote inside it doubled
std::string QuoteText(std::string_view text);  // 'text', likewise

}  // namespace nsys

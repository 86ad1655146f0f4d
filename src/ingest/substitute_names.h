// SPDX-License-Identifier: MIT
// Names for what the capture has no text for, made once per number: kernel_17.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "ingest/event_reader.h"

namespace nsys {

class SubstituteNames {
 public:
  // <prefix><number>, or <prefix><without> where there is no number either.
  SubstituteNames(LoadContext& context, std::string prefix, std::string without)
      : context_(context), prefix_(std::move(prefix)), without_(std::move(without)) {}

  StringId Of(std::optional<int64_t> number) {
    const auto known = names_.find(number);
    if (known != names_.end()) {
      return known->second;
    }
    const std::string text =
        number ? fmt::format("{}{}", prefix_, *number) : fmt::format("{}{}", prefix_, without_);
    const std::scoped_lock lock(context_.pool_mutex);
    return names_.emplace(number, context_.pool.Intern(text)).first->second;
  }

 private:
  LoadContext& context_;
  std::string prefix_;
  std::string without_;
  std::unordered_map<std::optional<int64_t>, StringId> names_;
};

}  // namespace nsys

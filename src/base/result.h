// SPDX-License-Identifier: MIT
// Result<T>: a value, or the Error that says why there is none and what to do about it.
// No exception crosses a module boundary; functions that can fail for a reason of the user's
// (a damaged file, a wrong argument) return a Result, broken invariants abort.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nsys {

// The closed list of things that can go wrong; ErrorCodeName gives the name that JSON and text
// show.
enum class ErrorCode {
  kUsage,              // arguments cannot be understood
  kTrimOutOfRange,     // the window selects no part of the capture
  kProfile,            // the file is damaged, or not what it has to be
  kProfileNotFound,    // nothing at that path
  kSchema,             // readable, but no Nsight Systems export
  kExport,             // `nsys export` failed
  kExportToolMissing,  // a report needs `nsys export`, and there is no nsys here
  kSkillNotFound,      // no skill of that name
  kSkillParameter,     // a required parameter is missing
  kSkillExecution,     // the analysis itself failed
  kSkill,              // a skill file that cannot be used
  kSql,                // a statement that the engine, a limit or the sandbox refused
  kInterrupted,        // stopped by the user
  kOutput,             // the result could not be written
};

std::string_view ErrorCodeName(ErrorCode code);

// The process exit status for an error: 2 for usage faults, 130 when interrupted, 1 for
// everything else.
int ExitStatus(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;    // one sentence: what is wrong, and with what
  std::string hint = {};  // what to do about it; may be empty
  // Further keys of the JSON form, in order; a list value prints as an array.
  using Detail = std::variant<std::string, std::vector<std::string>>;
  std::vector<std::pair<std::string, Detail>> details = {};
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const { return std::get<1>(state_); }
  Error&& TakeError() { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value: success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error)  // NOLINT(google-explicit-constructor): implicit on purpose
      : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }
  Error&& TakeError() { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace nsys

#define NSYS_CONCAT_INNER(a, b) a##b
#define NSYS_CONCAT(a, b) NSYS_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Status or Result) from the enclosing function.
#define NSYS_TRY(expression)                                  \
  do {                                                        \
    if (auto nsys_status = (expression); !nsys_status.ok()) { \
      return std::move(nsys_status).TakeError();              \
    }                                                         \
  } while (false)

// Declares `declaration` with the value of `expression`, or returns its error.
#define NSYS_ASSIGN(declaration, expression)                \
  auto NSYS_CONCAT(nsys_result_, __LINE__) = (expression);  \
  if (!NSYS_CONCAT(nsys_result_, __LINE__).ok()) {          \
    return NSYS_CONCAT(nsys_result_, __LINE__).TakeError(); \
  }                                                         \
  declaration = std::move(NSYS_CONCAT(nsys_result_, __LINE__)).value()

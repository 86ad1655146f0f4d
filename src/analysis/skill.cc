// SPDX-License-Identifier: MIT
#include "analysis/skill.h"

#include <algorithm>

#include "base/number.h"

namespace nsys {

std::string_view CategoryName(Category category) {
  switch (category) {
    case Category::kKernels:
      return "kernels";
    case Category::kMemory:
      return "memory";
    case Category::kCommunication:
      return "communication";
    case Category::kNvtx:
      return "nvtx";
    case Category::kSystem:
      return "system";
    case Category::kBottlenecks:
      return "bottlenecks";
    case Category::kUtilization:
      return "utilization";
    case Category::kAnalysis:
      return "analysis";
    case Category::kUtility:
      return "utility";
  }
  return "";
}

std::string_view ParamTypeName(ParamType type) {
  switch (type) {
    case ParamType::kInt:
      return "int";
    case ParamType::kFloat:
      return "float";
    case ParamType::kBool:
      return "bool";
    case ParamType::kText:
      return "str";
  }
  return "";
}

std::string_view UnitName(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "count";
    case Unit::kMs:
      return "ms";
    case Unit::kUs:
      return "us";
    case Unit::kSeconds:
      return "s";
    case Unit::kMb:
      return "MB (10^6 bytes)";
    case Unit::kKb:
      return "KB (10^3 bytes)";
    case Unit::kGbps:
      return "GB/s (10^9 bytes)";
    case Unit::kPct:
      return "%";
    case Unit::kFlag:
      return "yes or no";
    case Unit::kNs:
      return "ns";
    case Unit::kTimeNs:
      return "ns on the capture's clock";
    case Unit::kText:
    case Unit::kId:
    case Unit::kNested:
      break;
  }
  return "";
}

Param Param::Int(std::string name, int64_t default_value, std::string doc) {
  return {.name = std::move(name),
          .type = ParamType::kInt,
          .doc = std::move(doc),
          .default_value = default_value};
}

Param Param::Count(std::string name, int64_t default_value, std::string doc) {
  Param param = Int(std::move(name), default_value, std::move(doc));
  param.minimum = 0;
  return param;
}

Param Param::Text(std::string name, std::string default_value, std::string doc) {
  return {.name = std::move(name),
          .type = ParamType::kText,
          .doc = std::move(doc),
          .default_value = std::move(default_value)};
}

Param Param::NonEmptyText(std::string name, std::string default_value, std::string doc) {
  Param param = Text(std::move(name), std::move(default_value), std::move(doc));
  param.refuses_empty = true;
  return param;
}

Param Param::Real(std::string name, double default_value, std::string doc) {
  return {.name = std::move(name),
          .type = ParamType::kFloat,
          .doc = std::move(doc),
          .default_value = default_value};
}

Param Param::Flag(std::string name, bool default_value, std::string doc) {
  return {.name = std::move(name),
          .type = ParamType::kBool,
          .doc = std::move(doc),
          .default_value = default_value};
}

Param Param::Optional(std::string name, ParamType type, std::string doc) {
  return {.name = std::move(name), .type = type, .doc = std::move(doc)};
}

Param Param::Required(std::string name, ParamType type, std::string doc) {
  Param param = Optional(std::move(name), type, std::move(doc));
  param.required = true;
  return param;
}

Param Param::Device() { return Int("device", 0, "GPU device id, as the process numbered it"); }

std::function<std::string(const Object& row)> DurationCell(std::string key) {
  return [key = std::move(key)](const Object& row) {
    const int64_t* ns = row.Find(key)->AsInt();
    return ns != nullptr ? FormatDuration(*ns) : std::string("-");
  };
}

Answer Answer::Abstain(std::string reason, Object details) {
  Answer answer;
  answer.abstention = Abstention{.reason = std::move(reason), .details = std::move(details)};
  return answer;
}

Answer Answer::Problem(Object row) {
  Answer answer;
  answer.problem = std::move(row);
  return answer;
}

bool Skill::Needs(TableId table) const {
  return std::find(needs.begin(), needs.end(), table) != needs.end();
}

const Param* Skill::FindParam(std::string_view param_name) const {
  const auto at = std::find_if(params.begin(), params.end(),
                               [&](const Param& p) { return p.name == param_name; });
  return at == params.end() ? nullptr : &*at;
}

}  // namespace nsys

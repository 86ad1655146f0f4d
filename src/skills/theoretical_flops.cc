// SPDX-License-Identifier: MIT
// How many floating-point operations does a transformer operation take?
//
// A multiply and an add count as two. With H = hidden_dim, S = seq_len, F = ffn_dim (4·H unless
// given), for one layer and one sequence:
//   attention 4·S·S·H (scores and their product with the values), qkv_proj 6·S·H·H,
//   output_proj 2·S·H·H, mlp 4·S·H·F (two matrices); full_layer and full_model are all four;
//   linear 2·M·N·K (num_layers does not count).
// Total = their sum · num_layers · batch_size · multiplier, exact to 128 bits. Reads nothing.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "base/wide_count.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr std::array<std::string_view, 4> kComponents = {"attention", "qkv_proj", "output_proj",
                                                         "mlp"};

Answer Refuse(std::string message) {
  return Answer::Problem(
      {{"error", Object{{"code", "INVALID_ARGUMENT"}, {"message", std::move(message)}}}});
}

WideCount Wide(int64_t positive) { return WideCount(static_cast<uint64_t>(positive)); }

std::string Trimmed(const std::string& text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// The factors that every operation is multiplied by; less than 1 counts as 1.
struct Repeats {
  int64_t layers = 1;
  int64_t batch = 1;
  int64_t multiplier = 1;
};
Repeats RepeatsOf(const Params& params) {
  const auto at_least_one = [&](const char* name) {
    return std::max<int64_t>(params.Int(name), 1);
  };
  return {at_least_one("num_layers"), at_least_one("batch_size"), at_least_one("multiplier")};
}

WideCount ComponentFlops(std::string_view component, WideCount h, WideCount s, WideCount f) {
  if (component == "attention") {
    return WideCount(4) * s * s * h;
  }
  if (component == "qkv_proj") {
    return WideCount(6) * s * h * h;
  }
  if (component == "output_proj") {
    return WideCount(2) * s * h * h;
  }
  return WideCount(4) * s * h * f;
}

Result<Answer> Finish(const std::string& operation, const WideCount& total, std::string formula,
                      Object breakdown) {
  if (!total.fits()) {
    return Refuse("the total is 2^128 or more; these sizes describe no real model");
  }
  Answer answer;
  answer.rows.push_back({{"theoretical_flops", total.ToValue()},
                         {"theoretical_flops_str", fmt::format("{:.6e}", total.ToDouble())},
                         {"operation", operation},
                         {"formula", std::move(formula)},
                         {"breakdown", std::move(breakdown)}});
  answer.notes.push_back(
      fmt::format("Pass it on: -p theoretical_flops={} to region_mfu or arithmetic_intensity.",
                  total.ToDecimal()));
  return answer;
}

Result<Answer> Linear(const Params& params, const Repeats& repeats) {
  const int64_t m = params.Int("M");
  const int64_t n = params.Int("N");
  const int64_t k = params.Int("K");
  if (m <= 0 || n <= 0 || k <= 0) {
    return Refuse("linear needs M, N and K, each greater than 0");
  }
  const WideCount each = WideCount(2) * Wide(m) * Wide(n) * Wide(k);
  return Finish("linear", each * Wide(repeats.batch) * Wide(repeats.multiplier),
                fmt::format("2 * {} * {} * {} * batch({}) * mul({})", m, n, k, repeats.batch,
                            repeats.multiplier),
                {{"per_op", each.ToValue()}});
}

Result<Answer> Transformer(const std::string& operation, const Params& params,
                           const Repeats& repeats) {
  const int64_t hidden = params.Int("hidden_dim");
  const int64_t sequence = params.Int("seq_len");
  if (hidden <= 0 || sequence <= 0) {
    return Refuse(fmt::format("{} needs hidden_dim and seq_len, each greater than 0", operation));
  }
  const bool all = operation == "full_layer" || operation == "full_model";
  const auto ffn = params.OptionalInt("ffn_dim");
  if (ffn && *ffn <= 0 && (all || operation == "mlp")) {
    return Refuse(
        fmt::format("ffn_dim is {}; leave it out for 4 times hidden_dim, or give more "
                    "than 0",
                    *ffn));
  }
  const WideCount f = ffn && *ffn > 0 ? Wide(*ffn) : WideCount(4) * Wide(hidden);
  WideCount layer;
  Object components;
  std::vector<std::string> terms;
  for (const std::string_view component : kComponents) {
    if (all || component == operation) {
      const WideCount flops = ComponentFlops(component, Wide(hidden), Wide(sequence), f);
      layer = layer + flops;
      components.Set(component, flops.ToValue());
      terms.push_back(fmt::format("{}={:.4e}", component, flops.ToDouble()));
    }
  }
  return Finish(operation,
                layer * Wide(repeats.layers) * Wide(repeats.batch) * Wide(repeats.multiplier),
                fmt::format("({}) * L({}) * batch({}) * mul({})", Join(terms, " + "),
                            repeats.layers, repeats.batch, repeats.multiplier),
                {{"per_layer_flops", layer.ToValue()},
                 {"components", std::move(components)},
                 {"num_layers", repeats.layers},
                 {"batch_size", repeats.batch},
                 {"multiplier", repeats.multiplier}});
}

Result<Answer> Run(const Query& query) {
  constexpr std::array<std::string_view, 7> kOperations = {
      "attention", "full_layer", "full_model", "linear", "mlp", "output_proj", "qkv_proj"};
  const Params& params = query.params;
  const std::string operation = Trimmed(LowerAscii(params.Text("operation")));
  if (std::find(kOperations.begin(), kOperations.end(), operation) == kOperations.end()) {
    return Refuse(fmt::format(
        "operation is one of {}, not '{}'",
        Join(std::vector<std::string>(kOperations.begin(), kOperations.end()), ", "), operation));
  }
  const Repeats repeats = RepeatsOf(params);
  NSYS_ASSIGN(Answer answer, operation == "linear" ? Linear(params, repeats)
                                                   : Transformer(operation, params, repeats));
  if (answer.problem) {
    return answer;
  }
  for (const char* name : {"num_layers", "batch_size", "multiplier"}) {
    if (params.Int(name) < 1) {
      answer.notes.push_back(fmt::format("{} below 1 counts as 1.", name));
    }
  }
  answer.notes.emplace_back(
      "Not modelled: a gated MLP (three matrices; pass ffn_dim * 3 / 2), grouped-query attention, "
      "causal masking, embeddings and the vocabulary head.");
  return answer;
}

std::string Digits(const Value& value) {
  return value.AsBigInteger() != nullptr ? GroupDigits(value.AsBigInteger()->digits)
                                         : FormatCount(*value.AsInt());
}

// "attention 1,024, mlp 2,048".
std::string PartsCell(const Object& row) {
  const Object& breakdown = *row.Find("breakdown")->AsObject();
  if (const Value* each = breakdown.Find("per_op")) {
    return "linear " + Digits(*each);
  }
  std::vector<std::string> parts;
  for (const auto& [name, flops] : breakdown.Find("components")->AsObject()->entries()) {
    parts.push_back(name + " " + Digits(flops));
  }
  return Join(parts, ", ");
}

}  // namespace

Skill skill_theoretical_flops() {
  return {
      .name = "theoretical_flops",
      .category = Category::kKernels,
      .title = "Theoretical FLOPs Calculator",
      .doc = "Operations that a transformer layer, model or matrix product takes, from its sizes.",
      .needs_capture = false,
      .params = {Param::Required(
                     "operation", ParamType::kText,
                     "attention, qkv_proj, output_proj, mlp, full_layer, full_model, linear"),
                 Param::Int("hidden_dim", 0, "H: width of the model"),
                 Param::Int("seq_len", 0, "S: tokens of a sequence"),
                 Param::Int("num_layers", 1, "layers; not for linear"),
                 Param::Optional("ffn_dim", ParamType::kInt,
                                 "F: width of the MLP; 4 * H if left out"),
                 Param::Int("batch_size", 1, "sequences, or matrix products"),
                 Param::Int("multiplier", 1,
                            "1 forward, 3 forward and backward, 4 with recomputed activations"),
                 Param::Int("M", 0, "of linear: rows of the result"),
                 Param::Int("N", 0, "of linear: columns of the result"),
                 Param::Int("K", 0, "of linear: length of the sums")},
      .window_rule = WindowRule::kIgnored,
      .columns =
          {{"theoretical_flops", Unit::kCount, "the total, an exact integer of any size", "FLOPs"},
           {"theoretical_flops_str", Unit::kText, "the total with seven digits", "Short"},
           {"operation", Unit::kText, "the operation", "Operation"},
           {"formula", Unit::kText, "how the total comes about", "Formula"},
           {"breakdown", Unit::kNested,
            "operations of one layer, of its parts, and the factors; of linear: of one product",
            "Parts", PartsCell}},
      .example = "-p operation=full_model -p hidden_dim=4096 -p seq_len=4096 -p num_layers=32",
      .text_form = TextForm::kFields,
      .run = Run};
}

}  // namespace nsys

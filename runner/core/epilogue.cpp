#include "core/epilogue.hpp"

#include "os/text.hpp"

#include <kzoo/type_names.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace kzoo {
namespace {

constexpr std::array kOperandTypes{KZOO_F32, KZOO_F16, KZOO_BF16};

std::optional<double> number(std::string_view text) {
  const auto value = number_from<double>(trimmed(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

[[noreturn]] void refuse(std::string_view word, std::string_view why) {
  throw std::invalid_argument(fmt::format("\"{}\" {}", word, why));
}

// "clamp(-1, 1)".
epilogue_stage clamp_from(std::string_view word) {
  constexpr std::string_view kBegin = "clamp(";
  if (word.starts_with(kBegin) && word.ends_with(')')) {
    const std::string_view inside = word.substr(kBegin.size(), word.size() - kBegin.size() - 1);
    const std::size_t comma = inside.find(',');
    const auto low = number(inside.substr(0, comma));
    const auto high = comma == inside.npos ? std::nullopt : number(inside.substr(comma + 1));
    constexpr double kMost = std::numeric_limits<float>::max();
    if (low && high && -kMost <= *low && *low <= *high && *high <= kMost)
      return {stage_kind::clamp, 0, *low, *high};
  }
  refuse(word,
         "is not clamp with its two limits, numbers of fp32, the lower one first: "
         "\"clamp(-1, 1)\"");
}

epilogue_stage stage_from(std::string_view word) {
  if (word.starts_with("clamp")) return clamp_from(word);
  const std::size_t colon = word.find(':');
  const auto kind = from_name<stage_kind>(word.substr(0, colon));
  if (!kind) {
    std::vector<std::string_view> names;
    for (const stage_kind known : kAllOf<stage_kind>) names.push_back(name_of(known));
    names.back() = "clamp(LOW, HIGH)";
    refuse(word, fmt::format("is none of {}", fmt::join(names, ", ")));
  }
  if (colon == word.npos) return {*kind};
  if (!has_operand(*kind)) refuse(word, "has no operand, and so no type");
  const auto type = std::ranges::find(kOperandTypes, word.substr(colon + 1), type_name);
  if (type == kOperandTypes.end())
    refuse(word, "has none of the types of an operand: f32, f16, bf16");
  return {*kind, *type};
}

std::string name_of(const epilogue_stage& stage) {
  std::string name(name_of(stage.what));
  if (stage.what == stage_kind::clamp) name += fmt::format("({}, {})", stage.low, stage.high);
  if (stage.type != 0) name.append(":").append(type_name(stage.type));
  return name;
}

}  // namespace

kzoo_stage_kind stage_kind_of(stage_kind kind) {
  switch (kind) {
    case stage_kind::relu:
      return KZOO_STAGE_RELU;
    case stage_kind::gelu:
      return KZOO_STAGE_GELU;
    case stage_kind::gelu_tanh:
      return KZOO_STAGE_GELU_TANH;
    case stage_kind::silu:
      return KZOO_STAGE_SILU;
    case stage_kind::clamp:
      return KZOO_STAGE_CLAMP;
    default:
      return adds(kind) ? KZOO_STAGE_ADD : KZOO_STAGE_MULTIPLY;
  }
}

std::string epilogue_name(const stage_list& stages) {
  std::vector<std::string> names;
  for (const epilogue_stage& stage : stages) names.push_back(name_of(stage));
  return fmt::format("{}", fmt::join(names, " + "));
}

stage_list epilogue_from_name(std::string_view name) {
  stage_list stages;
  if (trimmed(name).empty()) return stages;
  for (std::size_t begin = 0; begin <= name.size();) {
    // Skips a + inside a number: clamp(0, 1e+20).
    const std::size_t open = name.find('(', begin), plus = name.find('+', begin);
    const std::size_t from = open < plus ? std::min(name.find(')', open), name.size()) : begin;
    const std::size_t end = std::min(name.find('+', from), name.size());
    const std::string_view word = trimmed(name.substr(begin, end - begin));
    if (word.empty()) refuse(name, "has a + with nothing on one side");
    const epilogue_stage next = stage_from(word);
    const auto is_same = [&](const epilogue_stage& s) { return s.what == next.what; };
    if (has_operand(next.what) && std::ranges::any_of(stages, is_same))
      refuse(name, fmt::format("has the operand {} twice", name_of(next.what)));
    stages.push_back(next);
    begin = end + 1;
  }
  if (stages.size() > kMostStages)
    refuse(name, fmt::format("has {} stages; at most {} are possible", stages.size(), kMostStages));
  return stages;
}

}  // namespace kzoo

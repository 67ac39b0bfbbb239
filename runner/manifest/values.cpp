#include "manifest/values.hpp"

#include "core/epilogue.hpp"
#include "core/kernel_name.hpp"
#include "core/operands.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"

#include <kzoo/manifest/expression.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <utility>

namespace kzoo::manifest {
namespace {

using experiment::value;

constexpr std::array<std::pair<std::string_view, argument_kind>, 7> kWords{{
    {"A", argument_kind::a},
    {"B", argument_kind::b},
    {"C", argument_kind::c},
    {"workspace", argument_kind::workspace},
    {"null", argument_kind::null},
    {"alpha", argument_kind::alpha},
    {"beta", argument_kind::beta},
}};

constexpr std::array<std::pair<std::string_view, number_type>, 6> kTypes{{
    {"i32", number_type::i32},
    {"i64", number_type::i64},
    {"f16", number_type::f16},
    {"bf16", number_type::bf16},
    {"f32", number_type::f32},
    {"f64", number_type::f64},
}};

bool is_scalar(argument_kind kind) {
  return kind == argument_kind::alpha || kind == argument_kind::beta;
}

// Cuts ":TYPE" off the text's end and sets `type`. Returns false for an unknown type.
bool take_type(std::string_view& text, std::optional<number_type>& type) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return true;
  const auto known = std::ranges::find(kTypes, trimmed(text.substr(colon + 1)),
                                       [](const auto& t) { return t.first; });
  if (known == kTypes.end()) return false;
  type = known->second;
  text = trimmed(text.substr(0, colon));
  return true;
}

std::string map_names(const std::vector<tensor_map>& maps) {
  std::string names;
  for (const tensor_map& map : maps) names += ", " + map.name;
  return names;
}

// Whether the text names an operand of an epilogue's stage or of the GEMM.
bool is_operand(std::string_view text) {
  if (std::ranges::find(kOperandsOfProduct, text) != kOperandsOfProduct.end()) return true;
  return std::ranges::any_of(kAllOf<stage_kind>, [&](stage_kind kind) {
    return has_operand(kind) && name_of(kind) == text;
  });
}

// The expression if it is valid and, without variables, from `least` to `most`.
std::optional<std::string> checked(const value& v, std::string_view text, std::int64_t least,
                                   std::int64_t most) {
  try {
    const expression parsed = expression::parse(text, kVariables);
    for (std::size_t i = 0; i < kVariables.size(); ++i)
      if (parsed.uses(i)) return std::string(text);
    const std::int64_t result = parsed.evaluate(std::array<std::int64_t, kVariables.size()>{});
    if (result >= least && result <= most) return std::string(text);
    const std::string number = fmt::format("{}", result);
    v.error(fmt::format("{}{}, not {} to {}", text == number ? "" : fmt::format("{} is ", text),
                        number, least, most));
  } catch (const expression_fault& fault) {
    v.error(printable(fault.what()));
  }
  return {};
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::optional<std::string> expression_text(const value& v, std::int64_t least, std::int64_t most) {
  if (const auto* number = v.get<std::int64_t>())
    return checked(v, fmt::format("{}", *number), least, most);
  if (const auto* text = v.get<std::string>()) return checked(v, *text, least, most);
  v.expected(fmt::format("an integer or an expression of {}", fmt::join(kVariables, ", ")));
  return {};
}

std::optional<argument> read_argument(const value& v, const std::vector<tensor_map>& maps,
                                      number_type usual) {
  argument result;
  std::optional<number_type> type;
  std::string number;
  std::string_view text;
  if (const auto* integer = v.get<std::int64_t>())
    text = number = fmt::format("{}", *integer);
  else if (const auto* string = v.get<std::string>())
    text = trimmed(*string);
  else {
    v.expected("an argument such as \"A\", \"M\", \"alpha\" or \"ceil_div(K, 64):i64\"");
    return {};
  }
  if (!take_type(text, type)) {
    v.error(fmt::format("{} ends in no type: i32, i64, f16, bf16, f32 or f64 may follow a ':'",
                        input::in_quotes(text)));
    return {};
  }

  const auto word = std::ranges::find(kWords, text, [](const auto& w) { return w.first; });
  const auto map = std::ranges::find(maps, text, &tensor_map::name);
  if (word != kWords.end()) {
    result.kind = word->second;
  } else if (map != maps.end()) {
    result.kind = argument_kind::tensor_map;
    result.map = static_cast<std::size_t>(map - maps.begin());
  } else if (is_operand(text)) {
    result.kind = argument_kind::operand;
    result.expression = text;
  } else if (is_c_name(text) && std::ranges::find(kVariables, text) == kVariables.end()) {
    v.error(fmt::format("unknown name {} (known: {}, {}{}, and expressions of the sizes)",
                        input::in_quotes(text, '\''), fmt::join(kWords | std::views::keys, ", "),
                        fmt::join(kVariables, ", "), map_names(maps)));
    return {};
  } else {
    result.kind = argument_kind::value;
    result.type = type.value_or(usual);
    if (result.type != number_type::i32 && result.type != number_type::i64) {
      v.error(fmt::format("{} is an integer, i32 or i64", input::in_quotes(text)));
      return {};
    }
    const bool narrow = result.type == number_type::i32;
    const auto expression =
        checked(v, text, narrow ? std::numeric_limits<std::int32_t>::min() : -kMost,
                narrow ? std::numeric_limits<std::int32_t>::max() : kMost);
    if (!expression) return {};
    result.expression = *expression;
    return result;
  }
  if (is_scalar(result.kind)) {
    result.type = type.value_or(number_type::accumulator);
  } else if (type) {
    v.error(
        fmt::format("{} is a pointer or a tensor map, which has no type", input::in_quotes(text)));
    return {};
  }
  return result;
}

bool is_map_name(std::string_view name) {
  return is_identifier(name) && !is_operand(name) &&
         std::ranges::none_of(kWords, [&](const auto& word) { return word.first == name; }) &&
         std::ranges::find(kVariables, name) == kVariables.end();
}

}  // namespace kzoo::manifest

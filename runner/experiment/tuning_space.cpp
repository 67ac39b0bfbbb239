#include "experiment/tuning_space.hpp"

#include <kzoo/manifest/expression.hpp>
#include <kzoo/manifest/kernel_manifest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

namespace kzoo::experiment {
namespace {

using manifest::expression;
using manifest::expression_fault;
using results::tuned_parameter;
using results::tuning_point;

constexpr std::int64_t kLargest = 1'000'000'000;
constexpr const char* kRestrictions = "restrictions";
constexpr const char* kForm =
    "a whole number, a list of them, or a range: \"16..128 by 16\" or {from = 16, to = 128, step = "
    "16}";

// A C++ identifier without another meaning in expressions.
bool is_parameter_name(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  constexpr std::array<std::string_view, 3> kFunctions{"ceil_div", "min", "max"};
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, fits) &&
         std::ranges::find(manifest::kVariables, name) == manifest::kVariables.end() &&
         std::ranges::find(kFunctions, name) == kFunctions.end();
}

// Removes the number at the beginning of the text, with spaces around it, and returns it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); };
  skip();
  std::int64_t number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  skip();
  return number;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

struct value_range {
  std::int64_t from = 0, to = 0, step = 1;
};

// "16..128 by 16"
std::optional<value_range> range_in(std::string_view text) {
  const auto from = take_number(text);
  if (!from || !take_word(text, "..")) return std::nullopt;
  const auto to = take_number(text);
  if (!to) return std::nullopt;
  std::optional<std::int64_t> step = 1;
  if (take_word(text, "by ")) step = take_number(text);
  if (!step || !text.empty()) return std::nullopt;
  return value_range{*from, *to, *step};
}

void add_range(const value& v, const value_range& r, std::vector<std::int64_t>& values) {
  if (r.step < 1) return v.error("the step must be at least 1, and is {}", r.step);
  if (r.from > r.to) {
    return v.error("the range from {} to {} is empty: give the smaller one first", r.from, r.to);
  }
  if (r.from < -kLargest || r.to > kLargest) {
    return v.error("the range from {} to {} is not within {} to {}", r.from, r.to, -kLargest,
                   kLargest);
  }
  if ((r.to - r.from) / r.step >= static_cast<std::int64_t>(kMostPoints))
    return v.error("the range from {} to {} has more than {} values", r.from, r.to, kMostPoints);
  for (std::int64_t at = r.from; at <= r.to; at += r.step) values.push_back(at);
}

void add_values(const value& v, std::vector<std::int64_t>& values) {
  const auto is_number = integer_in(-kLargest, kLargest);
  if (const auto* table = v.get<node_table>()) {
    value_range r;
    table_reader keys(*table, v.name, v.report);
    keys.read("from", r.from, is_number);
    keys.read("to", r.to, is_number);
    keys.read("step", r.step, is_number);
    if (!keys.find("from") || !keys.find("to")) return v.expected(kForm);
    keys.finish();
    return add_range(v, r, values);
  }
  if (const auto* text = v.get<std::string>()) {
    const auto r = range_in(*text);
    if (!r) return v.expected(kForm);
    return add_range(v, *r, values);
  }
  if (v.get<std::int64_t>() == nullptr) return v.expected(kForm);
  if (const auto number = is_number(v)) values.push_back(*number);
}

tuned_parameter parameter_in(const std::string& name, const location& where, const value& v) {
  tuned_parameter p{name, {}, where};
  if (!is_parameter_name(name)) {
    v.report.error(where,
                   "{} cannot be the name of a parameter: letters, digits and '_', and none of "
                   "those that expressions have already, such as M, N, K, lda or min",
                   input::in_quotes(name, '\''));
  }
  std::set<std::int64_t> known;
  for (const value& element : v.elements()) {
    const std::size_t before = p.values.size();
    add_values(element, p.values);
    for (std::size_t i = before; i < p.values.size(); ++i) {
      if (!known.insert(p.values[i]).second)
        return element.error("{} is there twice", p.values[i]), p;
    }
    if (p.values.size() > kMostPoints) {
      element.error("{} has more than {} values: give fewer", name, kMostPoints);
      return p;
    }
  }
  return p;
}

std::vector<std::string_view> names_of(const results::tuning_space& space) {
  std::vector<std::string_view> names;
  for (const tuned_parameter& p : space.parameters) names.push_back(p.name);
  return names;
}

std::string values_text(const results::tuning_space& space,
                        const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{} = {}", i > 0 ? ", " : "", space.parameters[i].name, values[i]);
  return text;
}

template <class F>
void for_each_combination(const results::tuning_space& space, const F& f) {
  std::vector<std::size_t> at(space.parameters.size());
  std::vector<std::int64_t> values(at.size());
  for (;;) {
    for (std::size_t i = 0; i < at.size(); ++i) values[i] = space.parameters[i].values[at[i]];
    f(values);
    std::size_t next = at.size();
    while (next > 0 && ++at[next - 1] == space.parameters[next - 1].values.size()) at[--next] = 0;
    if (next == 0) return;
  }
}

void check_combinations(const results::tuning_space& space) {
  constexpr double kMostCombinations = 1e6;
  double combinations = 1;
  for (const tuned_parameter& p : space.parameters) combinations *= double(p.values.size());
  if (combinations > kMostCombinations) {
    input::refuse(space.where,
                  "the space has {:.0f} combinations before its restrictions; at most {:.0f} are "
                  "looked at: give fewer values",
                  combinations, kMostCombinations);
  }
}

}  // namespace

std::optional<results::tuning_space> read_tuning_space(const value& v) {
  const auto* table = v.get<node_table>();
  if (table == nullptr) {
    v.expected("a table of parameters, such as BM = [64, 128]");
    return std::nullopt;
  }
  results::tuning_space space;
  space.where = v.content.where;
  table_reader keys(*table, v.name, v.report);
  for (const auto& [entry, content] : keys.all()) {
    if (entry.key != kRestrictions)
      space.parameters.push_back(parameter_in(entry.key, entry.where, content));
  }
  if (space.parameters.empty()) {
    v.error("there is no parameter in it: give one, such as BM = [64, 128]");
    return std::nullopt;
  }
  const std::vector<std::string_view> names = names_of(space);
  const auto expression_of_parameters = [&](const value& text) -> std::optional<std::string> {
    const auto words = experiment::text(text);
    if (!words) return std::nullopt;
    try {
      expression::parse(*words, names);
    } catch (const expression_fault& fault) {
      text.error(fault.what());
    }
    return words;
  };
  if (const auto restrictions = keys.find(kRestrictions)) {
    for (const value& each : restrictions->elements())
      if (const auto words = expression_of_parameters(each))
        space.restrictions.push_back({*words, each.content.where});
  }
  return space;
}

std::vector<tuning_point> points_of(const results::tuning_space& space) {
  check_combinations(space);
  const std::vector<std::string_view> names = names_of(space);
  std::vector<expression> restrictions;
  for (const auto& r : space.restrictions) restrictions.push_back(expression::parse(r.text, names));

  std::vector<std::size_t> excluded(restrictions.size());
  std::vector<tuning_point> points;
  for_each_combination(space, [&](const std::vector<std::int64_t>& values) {
    for (std::size_t i = 0; i < restrictions.size(); ++i) {
      try {
        if (restrictions[i].evaluate(values) != 0) continue;
      } catch (const expression_fault& fault) {
        input::refuse(space.restrictions[i].where, "{}, where {}", fault.what(),
                      values_text(space, values));
      }
      ++excluded[i];
      return;
    }
    tuning_point point;
    for (std::size_t i = 0; i < values.size(); ++i)
      point.push_back({space.parameters[i].name, values[i]});
    points.push_back(std::move(point));
  });
  if (points.size() > kMostPoints) {
    input::refuse(space.where,
                  "the space has {} points, and at most {} can be tried: give fewer values or more "
                  "restrictions",
                  points.size(), kMostPoints);
  }
  if (points.empty()) {
    const auto most = std::ranges::max_element(excluded) - excluded.begin();
    const auto& culprit = space.restrictions[static_cast<std::size_t>(most)];
    input::refuse(culprit.where,
                  "no point of the space meets its restrictions; {} excludes most of them",
                  input::in_quotes(culprit.text));
  }
  return points;
}

}  // namespace kzoo::experiment

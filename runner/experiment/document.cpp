// The only file that includes toml++.

#include "experiment/document.hpp"

#include "experiment/syntax.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

namespace kzoo::experiment {
namespace {

location place(const toml::source_region& source, const input::diagnostics& report) {
  return report.at(source.begin.line, source.begin.column);
}

node convert(const toml::node& from, const input::diagnostics& report);

node_table convert_table(const toml::table& from, const input::diagnostics& report) {
  node_table result;
  for (const auto& [key, value] : from)
    result.push_back({std::string(key.str()), place(key.source(), report), convert(value, report)});
  // toml++ sorts by key; back to the order of the file.
  std::ranges::stable_sort(
      result, {}, [](const table_entry& e) { return std::tuple(e.where.line, e.where.column); });
  return result;
}

node convert(const toml::node& from, const input::diagnostics& report) {
  node result{place(from.source(), report), date_and_time{}};
  if (const auto* text = from.as_string())
    result.value = text->get();
  else if (const auto* integer = from.as_integer())
    result.value = integer->get();
  else if (const auto* number = from.as_floating_point())
    result.value = number->get();
  else if (const auto* flag = from.as_boolean())
    result.value = flag->get();
  else if (const auto* table = from.as_table())
    result.value = convert_table(*table, report);
  else if (const auto* array = from.as_array()) {
    node_list list;
    for (const toml::node& element : *array) list.push_back(convert(element, report));
    result.value = std::move(list);
  }
  return result;
}

struct describer {
  std::string operator()(const std::string& text) const {
    return "the string " + input::in_quotes(text);
  }
  std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
  // 5.0 as "5.0", which "{:#}" gives with fmt 9 but not with fmt 10.
  std::string operator()(double number) const {
    std::string shown = fmt::format("{}", number);
    if (shown.find_first_not_of("-0123456789") == std::string::npos) shown += ".0";
    return shown;
  }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const node_list& list) const {
    return list.empty() ? "an empty list" : "a list";
  }
  std::string operator()(const node_table&) const { return "a table"; }
  std::string operator()(date_and_time) const { return "a date or time"; }
};

}  // namespace

node_table parse_document(std::string_view text, input::diagnostics& report) {
  check_syntax(text, report);
  if (report.any()) return {};
  try {
    return convert_table(toml::parse(text, std::string_view{}), report);
  } catch (const toml::parse_error& fault) {
    report.error(place(fault.source(), report), std::string(fault.description()));
    return {};
  }
}

std::string describe(const node& n) { return std::visit(describer{}, n.value); }

}  // namespace kzoo::experiment

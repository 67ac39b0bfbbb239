// The only file that includes toml++.

#include "experiment/reader.hpp"

#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#define TOML_MAX_NESTED_VALUES 50
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace kzoo::experiment {
namespace {

// The position after the string at the beginning of the text; npos if the string does not end.
std::size_t end_of_string(std::string_view text) {
  const char quote = text[0];
  const bool has_lines = text.starts_with(std::string(3, quote));
  const std::string end(has_lines ? 3 : 1, quote);
  for (std::size_t at = end.size(); at < text.size();) {
    if (text.substr(at).starts_with(end))
      return has_lines ? std::min(text.find_first_not_of(quote, at), text.size()) : at + 1;
    if (!has_lines && text[at] == '\n') return std::string_view::npos;
    at += quote == '"' && text[at] == '\\' ? 2 : 1;
  }
  return std::string_view::npos;
}

location location_of(std::string_view text, std::size_t at, const input::diagnostics& report) {
  const std::string_view before = text.substr(0, at);
  std::string_view line = before.substr(before.rfind('\n') + 1);
  unsigned column = 1;  // in characters
  for (; !line.empty(); ++column) line.remove_prefix(first_character(line).bytes.size());
  return report.at(static_cast<unsigned>(std::ranges::count(before, '\n')) + 1, column);
}

// Rejects input that crashes toml++ 3.3: outside strings, letters other than a to z, and keys with
// so many parts that their tables overflow the stack.
void check_outside_strings(std::string_view text, input::diagnostics& report) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::size_t parts = 1;  // parts of a dotted key
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t length = end_of_string(text.substr(at));
      if (length == std::string_view::npos) return;  // toml++ reports the error
      at += length - 1;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return report.error(location_of(text, at, report), "letters other than a to z need quotes");
    } else if (c == '.') {
      if (++parts > TOML_MAX_NESTED_VALUES)
        return report.error(location_of(text, at, report), "more than {} levels are nested here",
                            TOML_MAX_NESTED_VALUES);
    } else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      parts = 1;
    }
  }
}

// toml++ guesses the type of an unquoted string from its first letter: f32 is taken for `false`.
std::string words_of(const toml::parse_error& fault) {
  constexpr std::array kUnquoted{"boolean", "floating-point", "integer", "date", "time", " value"};
  const std::string said(fault.description());
  const bool hint = std::ranges::any_of(kUnquoted, [&](const char* kind) {
    return said.find(std::string(kind) + ':') != std::string::npos;
  });
  return said + (hint ? "; strings need quotes" : "");
}

location location_of(const toml::source_region& source, const input::diagnostics& report) {
  return report.at(source.begin.line, source.begin.column);
}

node convert(const toml::node& from, const input::diagnostics& report);

node_table convert_table(const toml::table& from, const input::diagnostics& report) {
  node_table result;
  for (const auto& [key, value] : from)
    result.push_back(
        {std::string(key.str()), location_of(key.source(), report), convert(value, report)});
  // toml++ sorts by key; this restores the order of the file.
  std::ranges::stable_sort(
      result, {}, [](const table_entry& e) { return std::tuple(e.where.line, e.where.column); });
  return result;
}

node convert(const toml::node& from, const input::diagnostics& report) {
  node result{location_of(from.source(), report), date_and_time{}};
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
  // 5.0 as "5.0"; "{:#}" prints it so with fmt 9 but not with fmt 10.
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

std::optional<double> as_number(const value& v) {
  if (const auto* integer = v.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* number = v.get<double>()) return *number;
  return {};
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

node_table parse_document(std::string_view text, input::diagnostics& report) {
  check_outside_strings(text, report);
  if (report.any()) return {};
  try {
    return convert_table(toml::parse(text, std::string_view{}), report);
  } catch (const toml::parse_error& fault) {
    report.error(location_of(fault.source(), report), words_of(fault));
    return {};
  }
}

std::string describe(const node& n) { return std::visit(describer{}, n.value); }

void value::error(std::string_view message) const {
  report.error(content.where, "{}: {}", name, message);
}

void value::expected(std::string_view what, std::string_view hint) const {
  error(fmt::format("expected {}, found {}{}", what, describe(content), hint));
}

std::vector<value> value::elements() const {
  const auto* list = get<node_list>();
  if (!list) return {*this};
  if (list->empty()) error("the list is empty; leave the key out for its default");
  std::vector<value> result;
  for (const node& element : *list) result.push_back({element, name, report});
  return result;
}

std::optional<std::string> text(const value& v) {
  if (const auto* found = v.get<std::string>()) return *found;
  v.expected("a string");
  return {};
}

std::optional<bool> flag(const value& v) {
  if (const auto* found = v.get<bool>()) return *found;
  v.expected("true or false");
  return {};
}

read_as<std::int64_t> integer_in(std::int64_t least, std::int64_t most) {
  return [=](const value& v) -> std::optional<std::int64_t> {
    const auto* found = v.get<std::int64_t>();
    if (found && *found >= least && *found <= most) return *found;
    v.expected(fmt::format("an integer from {} to {}", least, most));
    return {};
  };
}

read_as<double> number_in(double least, double most) {
  return [=](const value& v) -> std::optional<double> {
    const auto found = as_number(v);
    if (found && *found >= least && *found <= most) return found;
    v.expected(fmt::format("a finite number from {} to {}", least, most));
    return {};
  };
}

read_as<double> number_above_zero(double most) {
  return [=](const value& v) -> std::optional<double> {
    const auto found = as_number(v);
    if (found && *found > 0 && *found <= most) return found;
    v.expected(fmt::format("a number above 0 and up to {}", most));
    return {};
  };
}

std::optional<std::size_t> word_index(const value& v, const std::vector<std::string>& known) {
  const auto* found = v.get<std::string>();
  const auto position = found ? std::ranges::find(known, *found) : known.end();
  if (position != known.end()) return static_cast<std::size_t>(position - known.begin());
  v.expected(fmt::format("one of \"{}\"", fmt::join(known, "\", \"")),
             found ? input::did_you_mean(*found, known) : "");
  return {};
}

read_as<std::string> text_such_that(bool (*is_valid)(std::string_view), std::string_view form) {
  return [=](const value& v) -> std::optional<std::string> {
    const auto* found = v.get<std::string>();
    if (found && is_valid(*found)) return *found;
    v.expected(form);
    return {};
  };
}

table_reader::table_reader(const node_table& table, std::string name, input::diagnostics& report,
                           const table_reader* outer)
    : table_(table), name_(std::move(name)), report_(report), outer_(outer) {}

std::string table_reader::full_name(std::string_view key) const {
  return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

std::optional<value> table_reader::find(std::string_view key) {
  if (!contains(known_, key)) known_.emplace_back(key);
  for (const table_entry& e : table_)
    if (e.key == key) return value{e.content, full_name(key), report_};
  return {};
}

std::vector<std::pair<const table_entry&, value>> table_reader::all() {
  std::vector<std::pair<const table_entry&, value>> result;
  for (const table_entry& e : table_) {
    known_.push_back(e.key);
    result.push_back({e, value{e.content, full_name(input::in_quotes(e.key)), report_}});
  }
  return result;
}

std::string table_reader::place_of(std::string_view key) const {
  if (outer_ && contains(outer_->known_, key)) {
    return outer_->name_.empty()
               ? fmt::format("; '{}' goes at the top of the file, above the first [table]", key)
               : fmt::format("; '{}' goes under [{}]", key, outer_->name_);
  }
  for (const auto& [table, keys] : (outer_ ? outer_ : this)->tables_)
    if (contains(keys, key)) return fmt::format("; '{}' goes under [{}]", key, table);
  return "";
}

void table_reader::finish() {
  for (const table_entry& e : table_) {
    if (contains(known_, e.key)) continue;
    std::string hint = place_of(e.key);
    if (hint.empty()) hint = input::did_you_mean(e.key, known_);
    report_.error(e.where, "unknown key {}{}{} (known here: {})", input::in_quotes(e.key, '\''),
                  name_.empty() ? "" : " in " + name_, hint, fmt::join(known_, ", "));
  }
}

}  // namespace kzoo::experiment

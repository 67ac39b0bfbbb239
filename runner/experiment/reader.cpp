#include "experiment/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::experiment {
namespace {

std::optional<double> as_number(const value& v) {
  if (const auto* integer = v.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* number = v.get<double>()) return *number;
  return {};
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

void value::error(std::string_view message) const {
  report.error(content.where, fmt::format("{}: {}", name, message));
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
    report_.error(e.where,
                  fmt::format("unknown key {}{}{} (known here: {})", input::in_quotes(e.key, '\''),
                              name_.empty() ? "" : " in " + name_, hint, fmt::join(known_, ", ")));
  }
}

}  // namespace kzoo::experiment

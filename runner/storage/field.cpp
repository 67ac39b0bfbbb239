#include "storage/field.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <istream>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

field field::below(const json& value, const std::string& key) const {
  return {value, *place_, path_.empty() ? key : path_ + "." + key};
}

field field::at(const std::string& key) const {
  if (!value_->is_object()) expected("an object");
  const auto found = value_->find(key);
  if (found == value_->end()) refuse(fmt::format("the key \"{}\" is missing", key));
  return below(*found, key);
}

std::optional<field> field::find(const std::string& key) const {
  if (!value_->is_object()) expected("an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return below(*found, key);
}

std::vector<field> field::elements() const {
  if (!value_->is_array()) expected("a list");
  std::vector<field> all;
  for (const json& element : *value_) {
    all.push_back({element, *place_, fmt::format("{}[{}]", path_, all.size())});
  }
  return all;
}

void field::require_schema(std::string_view name) const {
  if (text() != name) refuse(fmt::format("this kernel-zoo reads {}, and not {}", name, text()));
}

std::size_t field::size() const {
  if (!value_->is_array()) expected("a list");
  return value_->size();
}

std::vector<std::pair<std::string, field>> field::entries() const {
  if (!value_->is_object()) expected("an object");
  std::vector<std::pair<std::string, field>> all;
  for (const auto& [key, value] : value_->items()) all.emplace_back(key, below(value, key));
  return all;
}

std::string field::text() const {
  if (!value_->is_string()) expected("a string");
  return value_->get<std::string>();
}

bool field::flag() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}

double field::number() const {
  if (value_->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value_->is_number()) expected("a number");
  return value_->get<double>();
}

std::vector<double> field::numbers() const {
  std::vector<double> all(size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const json& element = (*value_)[i];
    all[i] = element.is_number() ? element.get<double>() : elements()[i].number();
  }
  return all;
}

std::vector<int> field::integers() const {
  std::vector<int> all(size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const json& element = (*value_)[i];
    const auto number = element.is_number_integer() ? element.get<std::int64_t>() : -1;
    const bool usual = number >= 0 && number <= std::numeric_limits<int>::max();
    all[i] = usual ? static_cast<int>(number) : elements()[i].integer<int>();
  }
  return all;
}

std::uint64_t field::integer_in(bool with_sign, std::uint64_t most) const {
  if (!value_->is_number_integer()) expected("an integer");
  if (value_->is_number_unsigned() || !with_sign) {
    const bool negative = !value_->is_number_unsigned() && value_->get<std::int64_t>() < 0;
    const auto number = value_->get<std::uint64_t>();
    if (negative || number > most) expected(fmt::format("an integer from 0 to {}", most));
    return number;
  }
  const auto number = value_->get<std::int64_t>();
  if (number < -static_cast<std::int64_t>(most) - 1) {
    expected(fmt::format("an integer from -{} on", most));
  }
  return static_cast<std::uint64_t>(number);
}

std::size_t field::index_in(const std::vector<std::string>& known) const {
  const std::string word = text();
  const auto found = std::ranges::find(known, word);
  if (found == known.end()) {
    expected(fmt::format("one of {}", fmt::join(known, ", ")));
  }
  return static_cast<std::size_t>(found - known.begin());
}

void field::refuse(const std::string& message) const {
  input::refuse(*place_, path_.empty() ? message : fmt::format("{}: {}", path_, message));
}

void field::expected(std::string_view what) const {
  const std::string found = value_->is_object()  ? "an object"
                            : value_->is_array() ? "a list"
                                                 : input::in_quotes(value_->dump(), '\'');
  refuse(fmt::format("expected {}, found {}", what, found));
}

namespace {

using json = nlohmann::ordered_json;
using event = json::parse_event_t;

// The library's message, without the name and position in front of it.
std::string words_of(const json::parse_error& e) {
  const std::string_view words = e.what();
  const auto column = words.find("column");
  const auto colon = words.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(colon == std::string_view::npos ? words : words.substr(colon + 2));
}

// The position in the library's message, counted from `start`.
location where_of(const json::parse_error& e, const location& start) {
  constexpr std::string_view kBefore = "parse error at line ";
  location where = start;
  where.column = 1;
  unsigned line = 1;
  const std::string_view words = e.what();
  if (const auto at = words.find(kBefore); at != std::string_view::npos)
    std::sscanf(words.substr(at + kBefore.size()).data(), "%u, column %u", &line, &where.column);
  where.line += line - 1;
  return where;
}

[[noreturn]] void refuse_depth(const location& start) {
  input::refuse(fmt::format("{}:{}", start.file, start.line), "is nested deeper than {} levels",
                kDeepestNesting);
}

// Faster than a callback of the parser.
void check_depth(std::string_view text, const location& start) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestNesting) refuse_depth(start);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

// Calls f and rethrows the library's exceptions as input::invalid.
template <class F>
json reporting_errors(const location& start, const F& f) {
  try {
    return f();
  } catch (const json::parse_error& e) {
    input::refuse(where_of(e, start), words_of(e));
  } catch (const json::out_of_range&) {  // beyond a double; the exception has no position
    input::refuse(fmt::format("{}:{}", start.file, start.line), "holds a number that is too large");
  }
}

}  // namespace

json parse(std::string_view text, const location& start) {
  check_depth(text, start);
  return reporting_errors(start, [&] { return json::parse(text); });
}

json parse(std::istream& in, const std::string& file, const string_watcher& watch,
           const element_taker& take) {
  const location start{file, 1};
  std::string key;  // current member of the root
  std::size_t count = 0;
  const auto callback = [&](int depth, event e, json& parsed) {
    if ((e == event::object_start || e == event::array_start) && depth >= kDeepestNesting) {
      refuse_depth(start);
    } else if (e == event::key && depth == 1) {
      key = parsed.get<std::string>();
      count = 0;
    } else if (e == event::value && depth == 1 && parsed.is_string()) {
      watch(key, field(parsed, file, key));
    } else if (e == event::object_end && depth == 2) {
      return take(key, field(parsed, file, fmt::format("{}[{}]", key, count++)));
    }
    return true;
  };
  return reporting_errors(start, [&] { return json::parse(in, callback); });
}

}  // namespace kzoo::storage

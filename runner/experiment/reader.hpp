#pragma once
// Reads tables key by key. Looking up a key makes it known; finish() reports all others. A new key
// therefore takes one line, where it is read.

#include "input/diagnostics.hpp"
#include "os/enums.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kzoo::experiment {

struct node;
struct table_entry;
using node_list = std::vector<node>;
using node_table = std::vector<table_entry>;
struct date_and_time {};  // part of TOML, but no key here takes it

// A TOML file as a tree of values with their positions, in the order of the file.
struct node {
  location where;
  std::variant<std::string, std::int64_t, double, bool, node_list, node_table, date_and_time> value;
};

struct table_entry {
  std::string key;
  location where;  // the key's place
  node content;
};

// A syntax error is added to `report`, and the table is then empty.
node_table parse_document(std::string_view text, input::diagnostics& report);

// For messages: `the string "x"`, "0", "a list", "a table".
std::string describe(const node& n);

// A value with its name in messages.
struct value {
  const node& content;
  std::string name;  // "timing.samples"
  input::diagnostics& report;

  template <class T>
  const T* get() const {
    return std::get_if<T>(&content.value);
  }
  // NAME: MESSAGE
  void error(std::string_view message) const;
  template <class First, class... Rest>
  void error(fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) const {
    error(fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
  // NAME: expected WHAT, found CONTENT HINT
  void expected(std::string_view what, std::string_view hint = {}) const;
  // The elements of a list, or the value itself if it is no list. An empty list is an error.
  std::vector<value> elements() const;
};

// A function that converts a value to a T, or reports why it cannot.
template <class T>
using read_as = std::function<std::optional<T>(const value&)>;

std::optional<std::string> text(const value& v);
std::optional<bool> flag(const value& v);
read_as<std::int64_t> integer_in(std::int64_t least, std::int64_t most);
read_as<double> number_in(double least, double most);
read_as<double> number_above_zero(double most);

// The accepted words, each with its meaning.
template <class T>
using words = std::vector<std::pair<std::string, T>>;
std::optional<std::size_t> word_index(const value& v, const std::vector<std::string>& known);

template <class T>
read_as<T> one_of(words<T> meanings) {
  return [meanings = std::move(meanings)](const value& v) -> std::optional<T> {
    std::vector<std::string> known;
    for (const auto& [word, meaning] : meanings) known.push_back(word);
    const auto index = word_index(v, known);
    return index ? std::optional<T>(meanings[*index].second) : std::nullopt;
  };
}

// Accepts the names that `name_of` gives to the values of a list.
template <class All, class Name>
auto one_of(const All& all, const Name& name_of) {
  words<typename All::value_type> meanings;
  for (const auto& meaning : all) meanings.emplace_back(name_of(meaning), meaning);
  return one_of(std::move(meanings));
}

template <named_enum E>
read_as<E> one_of() {
  return one_of(kAllOf<E>, [](E e) { return name_of(e); });
}

// A string for which `is_valid` holds; `form` completes "expected ...".
read_as<std::string> text_such_that(bool (*is_valid)(std::string_view), std::string_view form);

class table_reader {
 public:
  // `name` is empty for the whole file. `outer` is the table whose known keys hints may name.
  table_reader(const node_table& table, std::string name, input::diagnostics& report,
               const table_reader* outer = nullptr);

  std::optional<value> find(std::string_view key);

  // Sets `out` to the key's value; leaves it unchanged if the key is missing or its value is wrong.
  template <class T, class Read>
  void read(std::string_view key, T& out, const Read& read_value) {
    if (const auto found = find(key))
      if (auto result = read_value(*found)) out = convert<T>(std::move(*result));
  }

  // Reads a list, or a single value as a list of one.
  template <class T, class Read>
  void read_list(std::string_view key, std::vector<T>& out, const Read& read_value) {
    const auto found = find(key);
    if (!found) return;
    out.clear();
    for (const value& element : found->elements())
      if (auto result = read_value(element)) out.push_back(convert<T>(std::move(*result)));
  }

  // The table under a key, if it exists: calls read_contents(table_reader&), then finish().
  template <class Read>
  void read_table(std::string_view key, const Read& read_contents) {
    const auto found = find(key);
    if (!found) return;
    const auto* table = found->template get<node_table>();
    if (!table) return found->expected("a table");
    table_reader inner(*table, found->name, report_, this);
    read_contents(inner);
    inner.finish();
  }

  // For hints about unknown keys: read_contents() looks up the keys of this file's table `name`.
  template <class Read>
  void expect_table(std::string name, const Read& read_contents) {
    static const node_table kEmpty;
    input::diagnostics unused("", "");
    table_reader keys(kEmpty, name, unused);
    read_contents(keys);
    tables_.emplace_back(std::move(name), std::move(keys.known_));
  }

  // Every key with its value, for tables whose keys the user chooses.
  std::vector<std::pair<const table_entry&, value>> all();

  // Reports the keys that were not looked up.
  void finish();

 private:
  // Converts a checked value to an enum, an optional or a narrower integer.
  template <class T, class From>
  static T convert(From&& from) {
    return static_cast<T>(std::forward<From>(from));
  }
  std::string full_name(std::string_view key) const;
  // "; 'sizes' goes under [problem]", if another table knows the key; else empty.
  std::string place_of(std::string_view key) const;

  const node_table& table_;
  std::string name_;
  input::diagnostics& report_;
  const table_reader* outer_;
  std::vector<std::string> known_;
  // Expected tables, with their keys.
  std::vector<std::pair<std::string, std::vector<std::string>>> tables_;
};

}  // namespace kzoo::experiment

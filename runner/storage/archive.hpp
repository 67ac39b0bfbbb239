#pragma once
// A record and its JSON: one function, map(), names each key once, for both directions.
//
//   void map(auto& io, is<results::device> auto& d) {
//     io("id", d.id);
//     io("memory_bytes", d.memory_bytes);
//   }
//
// `io` is a writer, which makes the keys in this order, or a reader, which fills `d` in and refuses
// what is missing or of another type, with its place in the file. Both have the same functions:
//
//   io(key, value)              required; an optional value is null where it is empty, and a reader
//                               takes a missing key for null
//   io.later(key, value)        a key that older files do not have: the value stays as it was
//   io.derived(key, value)      follows from the others: written, not read
//   io.object(key, members)     an object that is no record of its own
//   io.numbers(key, what, n...) a list of exactly these numbers
//   io.schema(name)             the key "schema": any other is refused
//   io.restore(f, value)        f(value) when reading: what is not in the file
//   io.has(key, present)        whether to go on with a key: written if `present`, read if not null
//   io.require(ok, message)     refuses what was read; require(key, ok, message) at that key, and
//                               require_each(key, ok, message) at the element i without ok(i)
//
// io() and io.later() take a conversion as a third argument: word() for enums, as{} for the rest.
// map() is in namespace kzoo::storage, where templates find it: no unnamed namespace.
// For .cpp files only.

#include "storage/field.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <concepts>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kzoo::storage {

// The record to read, or the constant one to write.
template <class Record, class T>
concept is = std::same_as<std::remove_const_t<Record>, T>;

// ---- values ----

template <class T>
concept plain = std::is_arithmetic_v<T> || std::convertible_to<const T&, std::string_view>;

nlohmann::ordered_json to_value(const plain auto& v) { return nlohmann::ordered_json(v); }
inline nlohmann::ordered_json to_value(const std::filesystem::path& v) { return v.string(); }
inline nlohmann::ordered_json to_value(const std::set<std::string>& v) { return v; }
template <class T>
nlohmann::ordered_json to_value(const std::map<std::string, T>& v) {
  return v;
}
template <class T>
nlohmann::ordered_json to_value(const T& record);
template <class T>
nlohmann::ordered_json to_value(const std::vector<T>& list) {
  nlohmann::ordered_json j = nlohmann::ordered_json::array();
  for (const T& element : list) j.push_back(to_value(element));
  return j;
}
template <class T>
nlohmann::ordered_json to_value(const std::optional<T>& v) {
  return v ? to_value(*v) : nlohmann::ordered_json();
}

inline void from_value(const field& f, std::string& v) { v = f.text(); }
inline void from_value(const field& f, std::filesystem::path& v) { v = f.text(); }
inline void from_value(const field& f, bool& v) { v = f.flag(); }
inline void from_value(const field& f, double& v) { v = f.number(); }
template <std::integral T>
void from_value(const field& f, T& v) {
  v = f.integer<T>();
}
inline void from_value(const field& f, std::set<std::string>& v) {
  v.clear();
  for (const field& element : f.elements()) v.insert(element.text());
}
inline void from_value(const field& f, std::map<std::string, std::string>& v) {
  v.clear();
  for (const auto& [key, text] : f.entries()) v[key] = text.text();
}
template <class T>
void from_value(const field& f, T& record);
template <class T>
void from_value(const field& f, std::vector<T>& list) {
  list.clear();
  for (const field& element : f.elements()) from_value(element, list.emplace_back());
}

// ---- conversions ----

// How a value stands in JSON: `to` makes the JSON of it, `from` takes a field and the value to
// fill.
template <class To, class From>
struct as {
  To to;
  From from;
};
template <class To, class From>
as(To, From) -> as<To, From>;

inline constexpr as kAsIs{[](const auto& v) { return to_value(v); },
                          [](const field& f, auto& v) { from_value(f, v); }};
using as_is = std::remove_const_t<decltype(kAsIs)>;

// An enumerator by its name; `all` must outlive the conversion.
template <class All, class Name>
auto word(const All& all, Name name_of) {
  return as{[name_of](const auto& v) { return nlohmann::ordered_json(name_of(v)); },
            [&all, name_of](const field& f, auto& v) { v = f.one_of(all, name_of); }};
}

// ---- directions ----

class writer {
 public:
  template <class T, class As = as_is>
  void operator()(const char* key, const T& v, const As& conversion = kAsIs) {
    json_[key] = conversion.to(v);
  }
  template <class T, class As = as_is>
  void operator()(const char* key, const std::optional<T>& v, const As& conversion = kAsIs) {
    json_[key] = v ? conversion.to(*v) : nlohmann::ordered_json();
  }
  template <class T, class As = as_is>
  void later(const char* key, const T& v, const As& conversion = kAsIs) {
    json_[key] = conversion.to(v);
  }
  void derived(const char* key, const auto& v) { json_[key] = to_value(v); }
  void object(const char* key, auto&& members) {
    writer inner;
    members(inner);
    json_[key] = inner.take();
  }
  void numbers(const char* key, std::string_view, const auto&... n) {
    json_[key] = nlohmann::ordered_json::array({n...});
  }
  void schema(std::string_view name) { json_["schema"] = name; }
  void restore(const auto&, const auto&) const {}
  bool has(const char*, bool present) const { return present; }
  void require(bool, const char*) const {}
  void require(const char*, bool, const char*) const {}
  void require_each(const char*, const auto&, const char*) const {}

  nlohmann::ordered_json take() { return std::move(json_); }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

class reader {
 public:
  explicit reader(field at) : at_(std::move(at)) {}

  template <class T, class As = as_is>
  void operator()(const char* key, T& v, const As& conversion = kAsIs) {
    conversion.from(at_.at(key), v);
  }
  template <class T, class As = as_is>
  void operator()(const char* key, std::optional<T>& v, const As& conversion = kAsIs) {
    v.reset();
    if (const auto found = at_.find(key)) conversion.from(*found, v.emplace());
  }
  template <class T, class As = as_is>
  void later(const char* key, T& v, const As& conversion = kAsIs) {
    if (const auto found = at_.find(key)) conversion.from(*found, v);
  }
  void derived(const char*, const auto&) const {}
  void object(const char* key, auto&& members) {
    reader inner(at_.at(key));
    members(inner);
  }
  void numbers(const char* key, std::string_view what, auto&... n) {
    const field list = at_.at(key);
    const std::vector<field> elements = list.elements();
    if (elements.size() != sizeof...(n)) list.refuse(fmt::format("expected {}", what));
    auto next = elements.begin();
    (from_value(*next++, n), ...);
  }
  void schema(std::string_view name) const {
    const field found = at_.at("schema");
    if (found.text() == name) return;
    found.refuse(fmt::format("this kernel-zoo reads {}, and not {}", name, found.text()));
  }
  void restore(const auto& f, auto& v) const { f(v); }
  bool has(const char* key, bool) const { return at_.find(key).has_value(); }
  void require(bool ok, const char* message) const {
    if (!ok) at_.refuse(message);
  }
  void require(const char* key, bool ok, const char* message) const {
    if (!ok) at_.at(key).refuse(message);
  }
  void require_each(const char* key, const auto& ok, const char* message) const {
    const std::vector<field> elements = at_.at(key).elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!ok(i)) elements[i].refuse(message);
    }
  }

 private:
  field at_;
};

template <class T>
nlohmann::ordered_json to_value(const T& record) {
  writer io;
  map(io, record);
  return io.take();
}

template <class T>
void from_value(const field& f, T& record) {
  reader io(f);
  map(io, record);
}

}  // namespace kzoo::storage

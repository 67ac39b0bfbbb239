#pragma once
// Records as JSON in both directions: for each record a function map() names each key once.
//
//   void map(auto& io, is<results::device> auto& d) {
//     io("id", d.id);
//     io("memory_bytes", d.memory_bytes);
//   }
//
// `io` is a writer, which adds the keys in this order, or a reader, which fills `d`. A reader
// rejects a missing key or a value of another type, with its path in the file. Both have these
// functions:
//
//   io(key, value)             a required key. An empty optional is written as null; a reader takes
//                              a missing key for null
//   io.later(key, value)       an optional key: missing or null, it leaves the value unchanged
//   io.derived(key, value)     a value that follows from others: written, never read
//   io.object(key, members)    a nested object without a record of its own: members(io) maps it
//   io.numbers(key, what, n...)
//                              a list of exactly these numbers; errors call it `what`
//   io.schema(name)            the key "schema"; a reader rejects any other name
//   io.restore(f, value)       a reader calls f(value), to set what the file does not hold
//   io.has(key, present)       a writer: `present`; a reader: whether the key exists, not null
//   io.require(ok, message)    a reader rejects the record unless ok
//   io.require(key, ok, message)
//                              also names the key in the error
//   io.require_each(key, ok, message)
//                              rejects the first element i of the list without ok(i)
//
// io() and io.later() take an optional conversion: word() for enums, as{} for anything else. A
// map() that templates call must be in namespace kzoo::storage, not in an unnamed namespace, so
// that argument-dependent lookup finds it. Include this in .cpp files only: it includes
// nlohmann/json.

#include "os/enums.hpp"
#include "storage/field.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <concepts>
#include <cstddef>
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

// Record is T for a reader, const T for a writer.
template <class Record, class T>
concept is = std::same_as<std::remove_const_t<Record>, T>;

template <class T>
concept plain = std::is_arithmetic_v<T> || std::convertible_to<const T&, std::string_view>;

nlohmann::ordered_json to_value(const plain auto& v) { return nlohmann::ordered_json(v); }
template <named_enum E>
nlohmann::ordered_json to_value(const E& e) {
  return nlohmann::ordered_json(name_of(e));
}
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
template <class T, std::size_t kCount>
nlohmann::ordered_json to_value(const std::array<T, kCount>& list) {
  return list;
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
template <named_enum E>
void from_value(const field& f, E& v) {
  v = f.one_of(kAllOf<E>, [](E each) { return name_of(each); });
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

template <std::integral T, std::size_t kCount>
void from_value(const field& f, std::array<T, kCount>& list) {
  const std::vector<field> elements = f.elements();
  if (elements.size() != kCount) f.refuse(fmt::format("expected {} numbers", kCount));
  for (std::size_t i = 0; i < kCount; ++i) list[i] = elements[i].integer<T>();
}

// Conversion of a value: `to` returns its JSON, `from` takes a field and fills the value.
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

// An enumerator by its name. `all` must outlive the conversion.
template <class All, class Name>
auto word(const All& all, Name name_of) {
  return as{[name_of](const auto& v) { return nlohmann::ordered_json(name_of(v)); },
            [&all, name_of](const field& f, auto& v) { v = f.one_of(all, name_of); }};
}

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
  void object(std::string_view key, auto&& members) {
    writer inner;
    members(inner);
    json_[std::string(key)] = inner.take();
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
  void object(std::string_view key, auto&& members) {
    reader inner(at_.at(std::string(key)));
    members(inner);
  }
  void numbers(const char* key, std::string_view what, auto&... n) {
    const field list = at_.at(key);
    const std::vector<field> elements = list.elements();
    if (elements.size() != sizeof...(n)) list.refuse(fmt::format("expected {}", what));
    auto next = elements.begin();
    (from_value(*next++, n), ...);
  }
  void schema(std::string_view name) const { at_.at("schema").require_schema(name); }
  void restore(const auto& f, auto& v) const { f(v); }
  bool has(const char* key, bool) const { return at_.find(key).has_value(); }
  void require(bool ok, const char* message) const {
    if (!ok) at_.refuse(message);
  }
  void require(const char* key, bool ok, const char* message) const {
    if (!ok) at_.at(key).refuse(message);
  }
  void require_each(const char* key, const auto& ok, const char* message) const {
    const field list = at_.at(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!ok(i)) list.elements()[i].refuse(message);
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

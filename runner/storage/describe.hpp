#pragma once
// Records as JSON. A function describe() names each key of a record once; the writer, the reader
// and the JSON Schema come from it.
//
//   void describe(auto& fields, maybe_const<results::device> auto& d) {
//     fields("id", d.id, "memory_bytes", d.memory_bytes);
//   }
//
// `fields` is a writer, which adds the keys in this order, or a reader, which fills `d`. A reader
// rejects a missing key or a value of another type, with its path in the file. Both have these
// functions. The first four take several pairs of key and value:
//
//   fields(key, value)           a required key. An empty optional is written as null; a reader
//                                takes a missing key for null
//   fields.optional(key, value)  is left out if the value is empty, false or 0
//   fields.later(key, value)     is written; missing or null, a reader leaves the value unchanged
//   fields.derived(key, value)   a value that follows from others: written, never read
//   fields.object(key, members)  a nested object without a record of its own: members(fields)
//                                describes it
//   fields.numbers(key, what, n...)
//                                a list of exactly these numbers; errors call it `what`
//   fields.schema(name)          the key "schema"; a reader rejects any other name
//   fields.either(key, present, f, g)
//                                f() describes the fields if the key exists, else g(); for a writer
//                                it exists if `present`
//   fields.when(key, present, f) the same without g()
//   fields.restore(f, value)     a reader calls f(value), to set what the file does not hold
//   fields.require(ok, message)  a reader rejects the record unless ok
//   fields.require(key, ok, message)
//                                also names the key in the error
//   fields.require_each(key, ok, message)
//                                rejects the first element i of the list without ok(i)
//
// A value may be converted{value, conversion{to, from, schema}} or named{value, all, name_of}. A
// describe() that templates call must be in namespace kzoo::storage, not in an unnamed namespace,
// so that argument-dependent lookup finds it. Include this in .cpp files only: it includes
// nlohmann/json.

#include "os/enums.hpp"
#include "storage/field.hpp"
#include "timing/summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

// Members whose names are their keys: KZOO_MEMBERS(l, grid, block) is "grid", l.grid, "block",
// l.block.
#define KZOO_MEMBERS(record, ...) KZOO_EXPANDED(KZOO_MEMBER(record, __VA_ARGS__))
#define KZOO_MEMBER(record, member, ...) \
#member, record.member __VA_OPT__(, KZOO_NEXT_MEMBER KZOO_PARENTHESES(record, __VA_ARGS__))
#define KZOO_NEXT_MEMBER() KZOO_MEMBER
#define KZOO_PARENTHESES ()
#define KZOO_EXPANDED(...) KZOO_AGAIN(KZOO_AGAIN(KZOO_AGAIN(KZOO_AGAIN(__VA_ARGS__))))
#define KZOO_AGAIN(...) KZOO_ONCE(KZOO_ONCE(KZOO_ONCE(KZOO_ONCE(__VA_ARGS__))))
#define KZOO_ONCE(...) __VA_ARGS__

namespace kzoo::storage {

// A T for a reader, a const T for a writer.
template <class Record, class T>
concept maybe_const = std::same_as<std::remove_const_t<Record>, T>;

// `to` returns a value's JSON, `from` fills the value from a field, `schema` is the JSON's schema.
template <class To, class From>
struct conversion {
  To to;
  From from;
  const char* schema;
};
template <class To, class From>
conversion(To, From, const char*) -> conversion<To, From>;

template <class T, class Conversion>
struct converted {
  T& value;
  const Conversion& by;
};
template <class T, class Conversion>
converted(T&, const Conversion&) -> converted<T, Conversion>;

// An element of a list by its name. Another value is null, as a plugin may declare any precision.
template <class T, class All, class Name>
struct named {
  T& value;
  const All& all;
  Name name_of;
};
template <class T, class All, class Name>
named(T&, const All&, Name) -> named<T, All, Name>;

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
template <class... N>
nlohmann::ordered_json to_value(const timing::packed<N...>& list) {
  return list.unpacked();
}
inline nlohmann::ordered_json to_value(const timing::interval& i) {
  return nlohmann::ordered_json::array({i.low, i.high});
}
template <class T, class Conversion>
nlohmann::ordered_json to_value(const converted<T, Conversion>& v) {
  return v.by.to(v.value);
}
template <class T, class All, class Name>
nlohmann::ordered_json to_value(const named<T, All, Name>& v) {
  const bool known = std::ranges::find(v.all, v.value) != v.all.end();
  return known ? nlohmann::ordered_json(v.name_of(v.value)) : nlohmann::ordered_json();
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
inline void from_value(const field& f, timing::packed_numbers& list) { list = f.numbers(); }
inline void from_value(const field& f, timing::packed_integers& list) { list = f.integers(); }
inline void from_value(const field& f, timing::interval& i) {
  const std::vector<double> ends = f.numbers();
  if (ends.size() != 2) f.refuse("expected two numbers, low and high");
  i = {ends[0], ends[1]};
}
template <class T, class Conversion>
void from_value(const field& f, converted<T, Conversion>& v) {
  v.by.from(f, v.value);
}
template <class T, class All, class Name>
void from_value(const field& f, named<T, All, Name>& v) {
  v.value = f.one_of(v.all, v.name_of);
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

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
bool is_empty(const T& v) {
  if constexpr (requires { v.empty(); })
    return v.empty();
  else if constexpr (requires { v.value.empty(); })  // with a conversion
    return v.value.empty();
  else if constexpr (requires { v.any(); })
    return !v.any();
  else if constexpr (kIsOptional<T>)
    return !v.has_value();
  else
    return v == T{};
}

enum class presence { required, optional, later, derived };

// The base of writers and readers: several fields in one call.
template <class Visitor>
class field_visitor {
 public:
  void operator()(std::string_view key, auto&& v, auto&&... more) {
    self().template add<presence::required>(key, v);
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  void optional(std::string_view key, auto&& v, auto&&... more) {
    when(key, !is_empty(v), [&] { self().template add<presence::optional>(key, v); });
    if constexpr (sizeof...(more) > 0) optional(more...);
  }
  void later(std::string_view key, auto&& v, auto&&... more) {
    self().template add<presence::later>(key, v);
    if constexpr (sizeof...(more) > 0) later(more...);
  }
  void derived(std::string_view key, const auto& v, const auto&... more) {
    self().template add<presence::derived>(key, v);
    if constexpr (sizeof...(more) > 0) derived(more...);
  }
  void when(std::string_view key, bool present, const auto& f) {
    self().either(key, present, f, [] {});
  }

 private:
  Visitor& self() { return static_cast<Visitor&>(*this); }
};

class writer : public field_visitor<writer> {
 public:
  template <presence>
  void add(std::string_view key, const auto& v) {
    json_[std::string(key)] = to_value(v);
  }
  void object(std::string_view key, auto&& members) {
    writer inner;
    members(inner);
    json_[std::string(key)] = inner.take();
  }
  void numbers(std::string_view key, std::string_view, const auto&... n) {
    json_[std::string(key)] = nlohmann::ordered_json::array({n...});
  }
  void schema(std::string_view name) { json_["schema"] = name; }
  void either(std::string_view, bool present, const auto& f, const auto& g) { present ? f() : g(); }
  void restore(const auto&, const auto&) const {}
  void require(bool, const char*) const {}
  void require(const char*, bool, const char*) const {}
  void require_each(const char*, const auto&, const char*) const {}

  nlohmann::ordered_json take() { return std::move(json_); }

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

class reader : public field_visitor<reader> {
 public:
  explicit reader(field at) : at_(std::move(at)) {}

  template <presence kHow, class T>
  void add(std::string_view key, T& v) const {
    if constexpr (kHow == presence::derived) {
    } else if constexpr (kHow == presence::required && !kIsOptional<T>) {
      from_value(at_.at(std::string(key)), v);
    } else {
      const auto found = at_.find(std::string(key));
      if constexpr (kIsOptional<T>) {
        if (kHow == presence::required) v.reset();
        if (found) from_value(*found, v.emplace());
      } else if (found) {
        from_value(*found, v);
      }
    }
  }
  void object(std::string_view key, auto&& members) {
    reader inner(at_.at(std::string(key)));
    members(inner);
  }
  void numbers(std::string_view key, std::string_view what, auto&... n) {
    const field list = at_.at(std::string(key));
    const std::vector<field> elements = list.elements();
    if (elements.size() != sizeof...(n)) list.refuse(fmt::format("expected {}", what));
    auto next = elements.begin();
    (from_value(*next++, n), ...);
  }
  void schema(std::string_view name) const { at_.at("schema").require_schema(name); }
  void either(std::string_view key, bool, const auto& f, const auto& g) {
    at_.find(std::string(key)) ? f() : g();
  }
  void restore(const auto& f, auto& v) const { f(v); }
  void require(bool ok, const char* message) const {
    if (!ok) at_.refuse(message);
  }
  void require(const char* key, bool ok, const char* message) const {
    if (!ok) at_.at(key).refuse(message);
  }
  void require_each(const char* key, const auto& ok, const char* message) const {
    const field list = at_.at(key);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!ok(i)) list.elements()[i].refuse(message);
  }

 private:
  field at_;
};

template <class T>
nlohmann::ordered_json to_value(const T& record) {
  writer fields;
  describe(fields, record);
  return fields.take();
}

template <class T>
void from_value(const field& f, T& record) {
  reader fields(f);
  describe(fields, record);
}

// The JSON Schema of what writers write.

nlohmann::ordered_json record_schema(auto record);

template <class T>
nlohmann::ordered_json value_schema(const T& v) {
  using json = nlohmann::ordered_json;
  const auto list_of = [](json items) { return json{{"type", "array"}, {"items", items}}; };
  if constexpr (named_enum<T>) {
    json names = json::array();
    for (const T each : kAllOf<T>) names.push_back(name_of(each));
    return {{"enum", names}};
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::integral<T>) {
    return std::is_unsigned_v<T> ? json{{"type", "integer"}, {"minimum", 0}}
                                 : json{{"type", "integer"}};
  } else if constexpr (std::floating_point<T>) {  // null: not finite
    return {{"type", {"number", "null"}}};
  } else if constexpr (plain<T> || std::same_as<T, std::filesystem::path>) {
    return {{"type", "string"}};
  } else if constexpr (kIsOptional<T>) {
    return {{"anyOf", {value_schema(typename T::value_type()), {{"type", "null"}}}}};
  } else if constexpr (requires { v.by.schema; }) {
    return json::parse(v.by.schema);
  } else if constexpr (requires { v.name_of; }) {  // named
    json names = json::array();
    for (const auto& each : v.all) names.push_back(v.name_of(each));
    if (std::ranges::find(v.all, std::remove_cvref_t<decltype(v.value)>{}) == v.all.end())
      names.push_back(nullptr);
    return {{"enum", names}};
  } else if constexpr (requires { v.unpacked(); }) {
    return list_of({{"type", "number"}});
  } else if constexpr (std::same_as<T, timing::interval>) {
    return {{"type", "array"},
            {"items", {{"type", {"number", "null"}}}},
            {"minItems", 2},
            {"maxItems", 2}};
  } else if constexpr (requires { typename T::mapped_type; }) {
    return {{"type", "object"}, {"additionalProperties", value_schema(typename T::mapped_type())}};
  } else if constexpr (requires { v.begin(); }) {
    return list_of(value_schema(typename T::value_type()));
  } else {
    return record_schema(v);
  }
}

class schema_writer : public field_visitor<schema_writer> {
 public:
  template <presence kHow, class T>
  void add(std::string_view key, const T& v) {
    constexpr bool kCertain = kHow == presence::required || kHow == presence::derived;
    if constexpr (kHow == presence::optional && kIsOptional<T>)
      add_schema(key, value_schema(typename T::value_type()), kCertain);
    else
      add_schema(key, value_schema(v), kCertain);
  }
  void object(std::string_view key, auto&& members) {
    schema_writer inner;
    members(inner);
    add_schema(key, inner.take(), true);
  }
  template <class... N>
  void numbers(std::string_view key, std::string_view, const N&...) {
    add_schema(key,
               {{"type", "array"},
                {"items", {{"type", "integer"}}},
                {"minItems", sizeof...(N)},
                {"maxItems", sizeof...(N)}},
               true);
  }
  void schema(std::string_view name) { add_schema("schema", {{"const", name}}, true); }
  // Either may be there.
  void either(std::string_view, bool, const auto& f, const auto& g) {
    const bool was_certain = std::exchange(certain_, false);
    f();
    g();
    certain_ = was_certain;
  }
  void restore(const auto& f, auto& v) const { f(v); }
  void require(bool, const char*) const {}
  void require(const char*, bool, const char*) const {}
  void require_each(const char*, const auto&, const char*) const {}

  nlohmann::ordered_json take() {
    return {{"type", "object"}, {"properties", properties_}, {"required", required_}};
  }

 private:
  void add_schema(std::string_view key, const nlohmann::ordered_json& schema, bool required) {
    properties_[std::string(key)] = schema;
    if (required && certain_) required_.push_back(key);
  }

  nlohmann::ordered_json properties_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json required_ = nlohmann::ordered_json::array();
  bool certain_ = true;
};

// A record without its values.
nlohmann::ordered_json record_schema(auto record) {
  schema_writer fields;
  describe(fields, record);
  return fields.take();
}

}  // namespace kzoo::storage

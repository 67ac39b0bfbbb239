#pragma once
// The JSON Schema of what writers write (describe.hpp). Include this in .cpp files only.

#include "storage/describe.hpp"

#include <algorithm>
#include <utility>

namespace kzoo::storage {

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

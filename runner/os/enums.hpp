#pragma once
// Enums whose enumerators have names.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

// Declares `enum class NAME { A, B }`, and names_of(NAME), which is "A, B".
#define KZOO_ENUM(name, ...)                                         \
  enum class name;                                                   \
  constexpr std::string_view names_of(name) { return #__VA_ARGS__; } \
  enum class name { __VA_ARGS__ }

namespace kzoo {

// An enum that counts from 0. names_of() has the names of all enumerators, in their order.
template <class E>
concept named_enum = requires(E e) {
  names_of(e);
};

template <named_enum E>
inline constexpr auto kAllOf = [] {
  constexpr std::size_t kCount = [] {
    std::size_t count = 1;
    for (const char c : names_of(E{})) count += c == ',' ? 1 : 0;
    return count;
  }();
  std::array<E, kCount> all{};
  for (std::size_t i = 0; i < kCount; ++i) all[i] = static_cast<E>(i);
  return all;
}();

constexpr std::string_view name_of(named_enum auto e) {
  std::string_view names = names_of(e);
  for (auto i = static_cast<std::size_t>(e); i > 0; --i) names.remove_prefix(names.find(',') + 2);
  return names.substr(0, names.find(','));
}

template <named_enum E>
constexpr std::optional<E> from_name(std::string_view name) {
  for (const E e : kAllOf<E>)
    if (name_of(e) == name) return e;
  return std::nullopt;
}

}  // namespace kzoo

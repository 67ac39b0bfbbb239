#pragma once
// A list of numbers in the narrowest type that holds all of them exactly, for millions of samples.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kzoo::timing {

// An immutable list of T. Narrower: the types to try, narrowest first.
template <class T, class... Narrower>
class packed {
 public:
  packed() = default;
  packed(const std::vector<T>& values) { (fits<Narrower>(values) || ...) || keep<T>(values); }
  packed(std::initializer_list<T> values) : packed(std::vector<T>(values)) {}

  std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, values_);
  }
  bool empty() const { return size() == 0; }
  T operator[](std::size_t i) const {
    return std::visit([i](const auto& list) { return static_cast<T>(list[i]); }, values_);
  }
  T back() const { return (*this)[size() - 1]; }
  std::vector<T> unpacked() const {
    return std::visit([](const auto& list) { return std::vector<T>(list.begin(), list.end()); },
                      values_);
  }

 private:
  template <class N>
  static bool holds(T value) {
    using limits = std::numeric_limits<N>;
    // Also false for NaN, which fails every comparison.
    if (!(value >= static_cast<T>(limits::lowest()) && value <= static_cast<T>(limits::max())))
      return false;
    const T back = static_cast<T>(static_cast<N>(value));
    if constexpr (std::is_same_v<T, double>) {  // tells -0.0 from 0.0
      return std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value);
    } else {
      return back == value;
    }
  }

  template <class N>
  bool fits(const std::vector<T>& values) {
    for (const T value : values)
      if (!holds<N>(value)) return false;
    return keep<N>(values);
  }

  template <class N>
  bool keep(const std::vector<T>& values) {
    std::vector<N> list;
    list.reserve(values.size());
    for (const T value : values) list.push_back(static_cast<N>(value));
    values_ = std::move(list);
    return true;
  }

  std::variant<std::vector<Narrower>..., std::vector<T>> values_;
};

// Clocks in MHz are integers; GPU events measure floats.
using packed_numbers = packed<double, std::uint16_t, float>;
using packed_integers = packed<int, std::uint16_t>;

}  // namespace kzoo::timing

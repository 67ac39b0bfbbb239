#pragma once
// Reads a buffer of elements as the words of matrix_data.hpp.

#include "core/matrix_data.hpp"
#include "core/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kzoo::reference {

class word_view {
 public:
  word_view(kzoo_type type, std::span<const std::byte> bytes)
      : bytes_(bytes.data()), type_(type), narrow_(type_size(type) == 2) {}

  std::uint32_t operator[](std::int64_t index) const {
    return narrow_ ? load<std::uint16_t>(index) : load<std::uint32_t>(index);
  }
  double value(std::int64_t index) const { return data::decode(type_, (*this)[index]); }

 private:
  template <class Word>
  Word load(std::int64_t index) const {
    Word word;
    std::memcpy(&word, bytes_ + index * std::int64_t(sizeof word), sizeof word);
    return word;
  }

  const std::byte* bytes_;
  kzoo_type type_;
  bool narrow_;
};

// The NaN that GPU arithmetic returns for every fp32 NaN operand.
inline constexpr std::uint32_t kGpuNan = 0x7fffffffu;

// A word of poison after arithmetic that keeps the payload, as on x86: now a quiet NaN.
constexpr std::uint32_t quieted(kzoo_type type, std::uint32_t poison) {
  switch (type) {
    case KZOO_F32:
      return poison | 0x00400000u;
    case KZOO_F16:
      return poison | 0x0200u;
    case KZOO_BF16:
      return poison | 0x0040u;
    default:
      return poison;
  }
}

}  // namespace kzoo::reference

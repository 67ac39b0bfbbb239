#pragma once
// How a buffer of elements is written and compared, one index at a time: the body that the CPU's
// loops and the GPU's kernels share.

#include "core/matrix_data.hpp"

namespace kzoo::devices {

constexpr void fill_word(void* buffer, const data::matrix& x, std::int64_t index) {
  const std::uint32_t bits = data::word(x, index);
  if (x.type == KZOO_F16 || x.type == KZOO_BF16) {
    static_cast<std::uint16_t*>(buffer)[index] = static_cast<std::uint16_t>(bits);
  } else {
    static_cast<std::uint32_t*>(buffer)[index] = bits;
  }
}

constexpr bool is_changed(const void* buffer, const data::matrix& x, std::int64_t index) {
  const std::uint32_t bits = data::word(x, index);
  if (x.type == KZOO_F16 || x.type == KZOO_BF16) {
    return static_cast<const std::uint16_t*>(buffer)[index] != bits;
  }
  return static_cast<const std::uint32_t*>(buffer)[index] != bits;
}

}  // namespace kzoo::devices

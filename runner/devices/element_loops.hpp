#pragma once
// Writes and checks a buffer of elements one index at a time: the loop bodies that the CPU's loops
// and the GPU's kernels share.

#include "data/contents.hpp"
#include "data/digest.hpp"
#include "data/element.hpp"
#include "data/matrix.hpp"

namespace kzoo::devices {

constexpr void put_word(void* buffer, const data::matrix& x, std::int64_t index,
                        data::word_bits bits) {
  switch (data::element_bytes(x.type)) {
    case 1:
      static_cast<std::uint8_t*>(buffer)[index] = static_cast<std::uint8_t>(bits);
      break;
    case 2:
      static_cast<std::uint16_t*>(buffer)[index] = static_cast<std::uint16_t>(bits);
      break;
    case 4:
      static_cast<std::uint32_t*>(buffer)[index] = static_cast<std::uint32_t>(bits);
      break;
    default:
      static_cast<std::uint64_t*>(buffer)[index] = bits;
  }
}

constexpr void fill_word(void* buffer, const data::matrix& x, std::int64_t index) {
  put_word(buffer, x, index, data::word(x, index));
}

constexpr data::word_bits word_at(const void* buffer, const data::matrix& x, std::int64_t index) {
  switch (data::element_bytes(x.type)) {
    case 1:
      return static_cast<const std::uint8_t*>(buffer)[index];
    case 2:
      return static_cast<const std::uint16_t*>(buffer)[index];
    case 4:
      return static_cast<const std::uint32_t*>(buffer)[index];
    default:
      return static_cast<const std::uint64_t*>(buffer)[index];
  }
}

constexpr bool is_changed(const void* buffer, const data::matrix& x, std::int64_t index) {
  return word_at(buffer, x, index) != data::word(x, index);
}

constexpr void negate_word(void* buffer, const data::matrix& x, std::int64_t index) {
  put_word(buffer, x, index, data::negate(x, index, word_at(buffer, x, index)));
}

// The matrix with other rows and columns negated.
constexpr data::matrix with(data::matrix x, const data::negation& negated) {
  x.negated = negated;
  return x;
}

enum class condition { fine, outside, unwritten, not_finite };
// Classifies one word of a result for data::survey.
constexpr condition condition_of(const void* buffer, const data::matrix& x, std::int64_t index) {
  const bool inside = data::is_inside(x, index);
  const data::word_bits bits = word_at(buffer, x, index);
  if (!inside || x.inside == data::content::poison) {
    const bool changed = bits != data::word(x, index);
    if (!inside) return changed ? condition::outside : condition::fine;
    if (!changed) return condition::unwritten;
  }
  const double value = data::decode(x.type, bits);
  return value - value == 0 ? condition::fine : condition::not_finite;
}

// Adds an element, its sign restored, to the sums of its row.
constexpr void add_to_row(data::row_sums& sums, const void* buffer, const data::matrix& x,
                          std::uint64_t key, std::int64_t row, std::int64_t col) {
  const std::int64_t index = data::index_of(x, row, col);
  data::word_bits bits = word_at(buffer, x, index);
  if (data::is_element_negated(x, row, col)) bits = data::negate(x, index, bits);
  sums.exact += data::exact_integer(x.type, bits) * data::hash(key, col);
  sums.rounded += data::decode(x.type, bits) * data::sign_of(key, col);
}

}  // namespace kzoo::devices

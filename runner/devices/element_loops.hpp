#pragma once
// Loop bodies that write or check one element, shared by CPU loops and GPU kernels.

#include "data/contents.hpp"
#include "data/element.hpp"
#include "data/matrix.hpp"

namespace kzoo::devices {

constexpr void put_word(void* buffer, const data::matrix& x, std::int64_t index,
                        data::word_bits bits) {
  switch (data::element_bytes(x.type)) {
    case 1: static_cast<std::uint8_t*>(buffer)[index] = static_cast<std::uint8_t>(bits); break;
    case 2: static_cast<std::uint16_t*>(buffer)[index] = static_cast<std::uint16_t>(bits); break;
    case 4: static_cast<std::uint32_t*>(buffer)[index] = static_cast<std::uint32_t>(bits); break;
    default: static_cast<std::uint64_t*>(buffer)[index] = bits;
  }
}

constexpr void fill_word(void* buffer, const data::matrix& x, std::int64_t index) {
  put_word(buffer, x, index, data::word(x, index));
}

constexpr data::word_bits word_at(const void* buffer, const data::matrix& x, std::int64_t index) {
  switch (data::element_bytes(x.type)) {
    case 1: return static_cast<const std::uint8_t*>(buffer)[index];
    case 2: return static_cast<const std::uint16_t*>(buffer)[index];
    case 4: return static_cast<const std::uint32_t*>(buffer)[index];
    default: return static_cast<const std::uint64_t*>(buffer)[index];
  }
}

constexpr bool is_changed(const void* buffer, const data::matrix& x, std::int64_t index) {
  return word_at(buffer, x, index) != data::word(x, index);
}

// Adds what one word shows. `inside`: it is an element.
constexpr void read_word(data::reading& all, const void* buffer, const data::matrix& x,
                         std::int64_t index, bool inside) {
  const data::word_bits bits = word_at(buffer, x, index);
  all.digest += data::digest_term(x, index, bits);
  const auto holds_poison = [&] {
    return bits == data::poison_bits(x.type, data::hash(x.key, index));
  };
  if (!inside) {
    all.survey.outside += holds_poison() ? 0 : 1;
  } else if (x.inside == data::content::poison && holds_poison()) {
    ++all.survey.unwritten;
  } else {
    const double value = data::decode(x.type, bits);
    all.survey.not_finite += value - value == 0 ? 0 : 1;
  }
}

}  // namespace kzoo::devices

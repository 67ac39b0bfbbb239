#pragma once
// Results as words, and comparing two results of one problem.

#include "core/problem.hpp"
#include "data/element.hpp"
#include "reference/expected_result.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace kzoo::reference {

class word_view {
 public:
  word_view(kzoo_type type, std::span<const std::byte> bytes)
      : bytes_(bytes), type_(type), size_(static_cast<std::size_t>(data::element_bytes(type))) {}

  // In words; larger indices throw std::out_of_range.
  std::int64_t count() const { return static_cast<std::int64_t>(bytes_.size() / size_); }

  data::word_bits operator[](std::int64_t index) const {
    switch (size_) {
      case 1:
        return load<std::uint8_t>(index);
      case 2:
        return load<std::uint16_t>(index);
      case 4:
        return load<std::uint32_t>(index);
      default:
        return load<std::uint64_t>(index);
    }
  }
  double value(std::int64_t index) const { return data::decode(type_, (*this)[index]); }

 private:
  template <class Word>
  Word load(std::int64_t index) const {
    if (static_cast<std::uint64_t>(index) >= bytes_.size() / sizeof(Word))
      throw std::out_of_range("an element that was not copied from its device is asked for");
    Word word;
    std::memcpy(&word, bytes_.data() + index * std::int64_t(sizeof word), sizeof word);
    return word;
  }

  std::span<const std::byte> bytes_;
  kzoo_type type_;
  std::size_t size_;
};

// The NaN that GPU arithmetic returns for every NaN operand. fp64 arithmetic keeps the payload.
constexpr data::word_bits gpu_nan(kzoo_type type) {
  return type == KZOO_F32 ? 0x7fffffffu : type == KZOO_F64 ? 0xfff8000000000000u : 0x7fffu;
}

// Poison after arithmetic that keeps the payload, as on x86: a quiet NaN.
constexpr data::word_bits quieted(kzoo_type type, data::word_bits poison) {
  switch (type) {
    case KZOO_F32:
      return poison | 0x00400000u;
    case KZOO_F64:
      return poison | 0x0008000000000000u;
    case KZOO_F16:
      return poison | 0x0200u;
    case KZOO_BF16:
      return poison | 0x0040u;
    default:
      return poison;
  }
}

// Compares two results of one problem.

// The rows that the expected result covers, without padding and redzones, in the element type of C:
// rows * n * element size bytes.
struct result {
  std::vector<std::byte> elements;
};
result keep(const expected_result& t, std::span<const std::byte> words);

struct comparison {
  double max_abs_diff = 0;      // NaN or infinite if one value is and the other differs
  double worst_of_allowed = 0;  // max of |x - y| / (allowed by x + allowed by y)
  std::int64_t worst_row = 0, worst_col = 0;
  bool agree = false;  // worst_of_allowed <= 1, and no NaN on either side
};
comparison compare(const expected_result& t, const result& x, kzoo_precision x_declared,
                   const result& y, kzoo_precision y_declared);

}  // namespace kzoo::reference

#pragma once
// The expected result of a problem, from the same generator as the inputs. Computed on the CPU in
// fp64 (double-double for fp64 matrices), without plugin code.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "data/element.hpp"
#include "reference/product.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace kzoo::reference {

// Magnitudes of one element, all >= 0. value, sum, products: |C|, S and |alpha||A||B| in the bound
// of tolerance.hpp. gain, roundings, extra: as in finished_element. unit: all terms are its
// multiples, if they are integers times powers of two.
struct sizes {
  double value, sum, products;
  double gain = 1, roundings = 0, extra = 0;
  double unit = 1;
};
// The unit of an element of C. `row` counts over all matrices of the batch.
constexpr double unit_of(const data::matrix& c, std::int64_t row, std::int64_t col) {
  if (c.spread == 0) return 1;
  return data::power_of_two(data::exponent_at(c, c.count == 1 ? row : row % c.rows, col));
}

// Above max_products FMAs or kMaxElements elements only some rows are computed: the first, the
// last, and others spread evenly between them at random offsets.
class expected_result {
 public:
  static constexpr double kMaxProducts = 7e10;  // slightly above 4096^3: 2 s on 2 AVX-512 cores
  static constexpr double kMaxElements = 7e7;   // 800 MB
  static constexpr double kDoubleDouble = 16;   // slowdown of double-double

  // `key` selects rows, if not all are computed. `also`: one more row; -1: none.
  explicit expected_result(const problem& p, double max_products = kMaxProducts,
                           std::uint64_t key = 0, std::int64_t also = -1);

  // From the same product without its epilogue.
  expected_result(const expected_result& without_epilogue, const problem& p);

  // Computes only these rows, ascending.
  expected_result(const problem& p, std::vector<std::int64_t> rows);

  // The number of rows that the constructor computes.
  static std::int64_t rows_of(const problem& p, double max_products = kMaxProducts);

  const problem& of() const { return problem_; }
  // Computed rows, ascending; for ordinary sizes, all rows of the batch.
  const std::vector<std::int64_t>& rows() const { return rows_; }
  bool complete() const { return std::int64_t(rows_.size()) == problem_.all_rows(); }

  // Element (rows()[r], col) of C, and the magnitudes in its error bound.
  double value(std::size_t r, std::int64_t col) const { return value_[at(r, col)]; }
  sizes sizes_of(std::size_t r, std::int64_t col) const;

 private:
  void apply_epilogue();
  std::size_t at(std::size_t r, std::int64_t col) const {
    return r * std::size_t(problem_.n) + std::size_t(col);
  }

  problem problem_;
  operands operands_;
  scalars scalars_;
  std::vector<std::int64_t> rows_;
  std::vector<double> value_;
  struct error_bound {
    float gain, roundings, extra;  // as in finished_element
  };
  std::vector<error_bound> after_epilogue_;  // empty without an epilogue
  std::vector<float> products_;              // |A||B| without alpha, which could exceed fp32
};

// Results as words, and comparing two results of one problem.

class word_view {
 public:
  word_view(kzoo_type type, std::span<const std::byte> bytes)
      : bytes_(bytes), type_(type), size_(static_cast<std::size_t>(data::element_bytes(type))) {}

  // In words; larger indices throw std::out_of_range.
  std::int64_t count() const { return static_cast<std::int64_t>(bytes_.size() / size_); }

  data::word_bits operator[](std::int64_t index) const {
    switch (size_) {
      case 1: return load<std::uint8_t>(index);
      case 2: return load<std::uint16_t>(index);
      case 4: return load<std::uint32_t>(index);
      default: return load<std::uint64_t>(index);
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
    case KZOO_F32: return poison | 0x00400000u;
    case KZOO_F64: return poison | 0x0008000000000000u;
    case KZOO_F16: return poison | 0x0200u;
    case KZOO_BF16: return poison | 0x0040u;
    default: return poison;
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

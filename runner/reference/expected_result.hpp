#pragma once
// The expected result of a problem, from the same generator as the inputs. Computed on the CPU in
// fp64 (double-double for fp64 matrices), without plugin code.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "reference/product.hpp"

#include <cstddef>
#include <cstdint>
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
    float gain, roundings, extra;  // of finished_element
  };
  std::vector<error_bound> after_epilogue_;  // empty without an epilogue
  std::vector<float> products_;              // |A||B| without alpha, which could exceed fp32
};

}  // namespace kzoo::reference

#pragma once
// The result that is expected of a problem: computed in fp64 on the CPU, and in double-double for
// fp64 matrices, from the same generator as the inputs. It never runs plugin code.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "reference/epilogue.hpp"
#include "reference/formula.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kzoo::reference {

// The magnitudes of one element, all >= 0: |C|, S and |alpha||A||B| in the bound of tolerance.hpp;
// what an epilogue makes of an error, as finished_element has it; and the power of two of which all
// terms are multiples, where they are integers times powers of two.
struct sizes {
  double value, sum, products;
  double gain = 1, roundings = 0, extra = 0;
  double unit = 1;
};
// That of an element of C. `row` is one of those of all products.
constexpr double unit_of(const data::matrix& c, std::int64_t row, std::int64_t col) {
  if (c.spread == 0) return 1;
  return data::power_of_two(data::exponent_at(c, c.count == 1 ? row : row % c.rows, col));
}

// The expected result of one problem. Above max_products FMAs or kMaxElements elements only some
// rows are computed: the first, the last, and others spread evenly between them at random offsets.
class expected_result {
 public:
  static constexpr double kMaxProducts = 7e10;  // a bit above 4096^3: 2 s on 2 AVX-512 cores
  static constexpr double kMaxElements = 7e7;   // 800 MB
  static constexpr double kDoubleDouble = 16;   // times as long takes a product in double-double

  // `key`: which rows are computed where not all are; `also`: one of them, if not -1.
  explicit expected_result(const problem& p, double max_products = kMaxProducts,
                           std::uint64_t key = 0, std::int64_t also = -1);

  // Of these rows alone, ascending.
  expected_result(const problem& p, std::vector<std::int64_t> rows);

  // How many rows the constructor will compute.
  static std::int64_t rows_of(const problem& p, double max_products = kMaxProducts);

  const problem& of() const { return problem_; }
  // The numbers of the computed rows, ascending; all rows of all products for ordinary sizes.
  const std::vector<std::int64_t>& rows() const { return rows_; }
  bool complete() const { return std::int64_t(rows_.size()) == problem_.all_rows(); }

  // Element (rows()[r], col) of C, and the magnitudes in its error bound.
  double value(std::size_t r, std::int64_t col) const { return value_[at(r, col)]; }
  sizes sizes_of(std::size_t r, std::int64_t col) const;

 private:
  std::size_t at(std::size_t r, std::int64_t col) const {
    return r * std::size_t(problem_.n) + std::size_t(col);
  }

  problem problem_;
  operands operands_;
  scalars scalars_;
  applied_epilogue epilogue_;
  std::vector<std::int64_t> rows_;
  std::vector<double> value_;
  std::vector<double> unfinished_;  // alpha A B + beta C0, where there is an epilogue
  std::vector<float> products_;     // |A||B|, without alpha: the product could be beyond fp32
};

}  // namespace kzoo::reference

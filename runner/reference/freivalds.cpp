#include "reference/freivalds.hpp"

#include "core/operands.hpp"
#include "os/parallel.hpp"
#include "reference/formula.hpp"
#include "reference/pattern.hpp"
#include "reference/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kzoo::reference {
namespace {

// The product of op(x) with a vector of one factor per column, mod 2^64.
std::vector<std::uint64_t> times(const data::matrix& x, std::int64_t product,
                                 std::span<const std::uint64_t> factors) {
  constexpr std::int64_t kRowsPerBlock = 16;
  const std::int64_t rows = data::op_rows(x), cols = data::op_cols(x);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(rows));
  for_each_block((rows + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::int64_t block) {
    const std::int64_t end = std::min(rows, (block + 1) * kRowsPerBlock);
    for (std::int64_t row = block * kRowsPerBlock; row < end; ++row) {
      std::uint64_t sum = 0;
      for (std::int64_t col = 0; col < cols; ++col) {
        const std::int64_t index = data::op_index(x, product, row, col);
        const int element = data::whole_number(x, index, data::hash(x.key, index));
        sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(element)) *
               factors[std::size_t(col)];
      }
      sums[std::size_t(row)] = sum;
    }
  });
  return sums;
}

// Sums over one row of a matrix: of its elements with signs, of their magnitudes, of their squares.
struct vector_sums {
  double value = 0, magnitude = 0, squares = 0;
};

// `element(row, col)` is multiplied by signs[col].
template <class Element>
std::vector<vector_sums> for_each_row(std::int64_t rows, const Element& element,
                                      std::span<const double> signs) {
  std::vector<vector_sums> sums(static_cast<std::size_t>(rows));
  for_each_block(rows, [&](std::int64_t row) {
    vector_sums& of = sums[std::size_t(row)];
    for (std::size_t col = 0; col < signs.size(); ++col) {
      const double x = element(row, std::int64_t(col));
      of.value += x * signs[col];
      of.magnitude += std::abs(x);
      of.squares += x * x;
    }
  });
  return sums;
}

// "3 of 4096 rows of C <are wrong>: rows 64 to 66", or "".
template <class IsWrong>
std::string wrong_rows(const problem& p, const std::string& are_wrong, const IsWrong& is_wrong) {
  const std::int64_t rows = p.all_rows();
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < rows; ++row) count += is_wrong(std::size_t(row));
  if (count == 0) return "";
  const auto differs = [&](std::int64_t row, std::int64_t) { return is_wrong(std::size_t(row)); };
  return fmt::format("{} of {} rows of C {}{}", count, rows, are_wrong,
                     count == rows ? "" : ": " + pattern_of(p.batch, p.m, 1, differs).value_or(""));
}

}  // namespace

problem exact_companion(problem p) {
  p.alpha = 1;
  p.beta = 0;
  p.data = fill::signs;
  return p;
}

std::vector<std::uint64_t> exact_sums(const problem& p, std::uint64_t key) {
  const operands o = operands_of(p);
  std::vector<std::uint64_t> x;
  for (std::int64_t col = 0; col < p.n; ++col) x.push_back(data::hash(key, col));
  std::vector<std::uint64_t> sums;
  for (std::int64_t product = 0; product < p.batch; ++product) {
    const auto rows = times(o.a, product, times(o.b, product, x));
    sums.insert(sums.end(), rows.begin(), rows.end());
  }
  return sums;
}

std::vector<row_sum> rounded_sums(const problem& p, std::uint64_t key) {
  const operands o = operands_of(p);
  const scalars s = held_scalars(p);
  std::vector<double> signs;
  for (std::int64_t col = 0; col < p.n; ++col) signs.push_back(data::sign_of(key, col));
  const std::vector<vector_sums> b = for_each_row(
      p.count_b() * p.k,
      [&](std::int64_t row, std::int64_t col) { return element(o.b, row / p.k, row % p.k, col); },
      signs);
  std::vector<vector_sums> c0(std::size_t(p.all_rows()));
  if (s.beta != 0.0) {
    c0 = for_each_row(
        p.all_rows(), [&](std::int64_t row, std::int64_t col) { return initial_c(o, s, row, col); },
        signs);
  }
  std::vector<row_sum> sums(std::size_t(p.all_rows()));
  for_each_block(p.all_rows(), [&](std::int64_t row) {
    const std::int64_t product = row / p.m, b_row = p.count_b() == 1 ? 0 : product * p.k;
    vector_sums products;
    for (std::int64_t k = 0; k < p.k; ++k) {
      const double a = element(o.a, product, row % p.m, k);
      const vector_sums& of_b = b[std::size_t(b_row + k)];
      products.value += a * of_b.value;
      products.magnitude += std::abs(a) * of_b.magnitude;
      products.squares += a * a * of_b.squares;
    }
    const vector_sums& start = c0[std::size_t(row)];
    const double squares = s.alpha * s.alpha * products.squares + s.beta * s.beta * start.squares;
    const double of_products = std::abs(s.alpha) * products.magnitude;
    const double all = of_products + std::abs(s.beta) * start.magnitude;
    const double of_c = 2 * std::sqrt(static_cast<double>(p.n) * squares);  // Cauchy and Schwarz
    sums[std::size_t(row)] = {s.alpha * products.value + s.beta * start.value,
                              {std::min(of_c, all), all, of_products}};
  });
  return sums;
}

std::string compare_exact(const problem& p, std::span<const std::uint64_t> expected,
                          std::span<const data::row_sums> got) {
  return wrong_rows(p, "are not exact",
                    [&](std::size_t row) { return expected[row] != got[row].exact; });
}

std::string compare_rounded(const problem& p, kzoo_precision declared,
                            std::span<const row_sum> expected,
                            std::span<const data::row_sums> got) {
  const tolerance within(p, declared);
  return wrong_rows(
      p, fmt::format("have a sum that differs by more than {} allows", precision_name(declared)),
      [&](std::size_t row) {
        const double error = std::abs(got[row].rounded - expected[row].value);
        return !(error <= within.allowed(expected[row].magnitudes, double(p.n)));
      });
}

}  // namespace kzoo::reference

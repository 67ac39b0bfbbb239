#include "reference/freivalds.hpp"

#include "core/operands.hpp"
#include "core/parallel.hpp"
#include "reference/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::reference {
namespace {

// The product of matrix x with a vector of one factor per column, mod 2^64.
std::vector<std::uint64_t> times(const data::matrix& x, std::span<const std::uint64_t> factors) {
  constexpr std::int64_t kRowsPerBlock = 16;
  std::vector<std::uint64_t> sums(std::size_t(x.rows));
  for_each_block((x.rows + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::int64_t block) {
    const std::int64_t end = std::min(x.rows, (block + 1) * kRowsPerBlock);
    for (std::int64_t row = block * kRowsPerBlock; row < end; ++row) {
      std::uint64_t sum = 0;
      for (std::int64_t col = 0; col < x.cols; ++col) {
        const std::int64_t index = data::index_of(x, row, col);
        const int element = data::whole_number(x, index, data::hash(x.key, index));
        sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(element)) *
               factors[std::size_t(col)];
      }
      sums[std::size_t(row)] = sum;
    }
  });
  return sums;
}

}  // namespace

problem exact_companion(problem p) {
  p.alpha = 1;
  p.beta = 0;
  p.data = fill::signs;
  return p;
}

std::vector<std::uint64_t> fold_of_product(const problem& p, std::uint64_t key) {
  const operands o = operands_of(p);
  std::vector<std::uint64_t> x;
  for (std::int64_t col = 0; col < p.n; ++col) x.push_back(data::hash(key, col));
  return times(o.a, times(o.b, x));
}

std::string compare_folds(std::span<const std::uint64_t> expected,
                          std::span<const std::uint64_t> got) {
  const auto rows = static_cast<std::int64_t>(expected.size());
  const auto differs = [&](std::int64_t row, std::int64_t) {
    return expected[std::size_t(row)] != got[std::size_t(row)];
  };
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < rows; ++row) count += differs(row, 0);
  if (count == 0) return "";
  return fmt::format("{} of {} rows of C are not exact{}", count, rows,
                     count == rows ? "" : ": " + pattern_of(rows, 1, differs).value_or(""));
}

}  // namespace kzoo::reference

#include "reference/double_double.hpp"

#include "os/parallel.hpp"
#include "reference/product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kzoo::reference {
namespace {

struct two {
  double high = 0, low = 0;
};

// x + y exactly.
constexpr two sum_of(double x, double y) {
  const double sum = x + y, part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}
// x * y exactly, unless 2^27 x overflows: each half has 26 bits.
constexpr two product_of(double x, double y) {
  constexpr double kSplit = 0x1p27 + 1;
  const double x_big = kSplit * x, y_big = kSplit * y;
  const double x_high = x_big - (x_big - x), y_high = y_big - (y_big - y);
  const double x_low = x - x_high, y_low = y - y_high;
  const double product = x * y;
  return {product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low};
}
constexpr two sum_of(two x, two y) {
  const two high = sum_of(x.high, y.high), low = sum_of(x.low, y.low);
  const two middle = sum_of(high.high, high.low + low.high);
  return sum_of(middle.high, middle.low + low.low);
}

// A task sums this many columns of all rows, in steps of kSteps along k.
constexpr std::int64_t kColumns = 64, kSteps = 256;

struct column_block {
  std::array<double, kColumns> high{}, low{}, magnitude{};
  std::array<double, kColumns> plain{};  // in fp64 alone: right if the result is not finite
};

// Four columns at a time with AVX2. Without FMAs: contracting product_of() would be wrong.
#if defined(__x86_64__)
[[gnu::target_clones("avx2", "default")]]
#endif
void add_terms(double a, const double* __restrict b, column_block& __restrict to) {
  for (std::size_t j = 0; j < kColumns; ++j) {
    const two sum = sum_of({to.high[j], to.low[j]}, product_of(a, b[j]));
    to.high[j] = sum.high;
    to.low[j] = sum.low;
    to.magnitude[j] += std::abs(a * b[j]);
    to.plain[j] += a * b[j];
  }
}

}  // namespace

void precise_result(const operands& o, const scalars& s, std::span<const std::int64_t> rows,
                    std::span<double> values, std::span<float> magnitudes) {
  const std::int64_t n = data::op_cols(o.b), depth = data::op_cols(o.a);
  const std::vector<row_range> products = row_ranges(o, rows, std::int64_t(rows.size()));
  const std::int64_t across = (n + kColumns - 1) / kColumns;
  for_each_block(std::int64_t(products.size()) * across, [&](std::int64_t block) {
    const auto [product, of_b, first, end] = products[std::size_t(block / across)];
    const std::int64_t begin = block % across * kColumns, count = std::min(kColumns, n - begin);
    std::vector<column_block> sums(std::size_t(end - first));
    std::vector<double> b(std::size_t(kSteps * kColumns));  // columns past the last hold zeros
    for (std::int64_t k0 = 0; s.alpha != 0 && k0 < depth; k0 += kSteps) {
      const std::int64_t steps = std::min(kSteps, depth - k0);
      for (std::int64_t k = 0; k < steps; ++k)
        for (std::int64_t j = 0; j < count; ++j)
          b[std::size_t(k * kColumns + j)] = element(o.b, of_b, k0 + k, begin + j);
      for (std::size_t r = 0; r < sums.size(); ++r) {
        const std::int64_t row = rows[std::size_t(first) + r] - product * o.c.rows;
        for (std::int64_t k = 0; k < steps; ++k)
          add_terms(element(o.a, product, row, k0 + k), b.data() + k * kColumns, sums[r]);
      }
    }
    for (auto r = std::size_t(first); r < std::size_t(end); ++r) {
      for (std::int64_t j = 0; j < count; ++j) {
        const column_block& from = sums[r - std::size_t(first)];
        const auto col = std::size_t(j);
        const two scaled = product_of(s.alpha, from.high[col]);
        const two start = product_of(s.beta, initial_c(o, s, rows[r], begin + j));
        const two all = sum_of({scaled.high, scaled.low + s.alpha * from.low[col]}, start);
        const std::size_t at = r * std::size_t(n) + std::size_t(begin + j);
        const double plain =
            s.alpha * from.plain[col] + initial_c(o, s, rows[r], begin + j) * s.beta;
        values[at] = std::isfinite(plain) ? all.high + all.low : plain;
        magnitudes[at] = static_cast<float>(from.magnitude[col]);
      }
    }
  });
}

}  // namespace kzoo::reference

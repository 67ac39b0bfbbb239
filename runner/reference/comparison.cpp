#include "reference/comparison.hpp"

#include "os/parallel.hpp"
#include "reference/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace kzoo::reference {
namespace {

std::size_t row_bytes(const problem& p) { return std::size_t(p.n) * type_size(p.dtype.c); }

// Difference / allowed; infinite if the difference is not finite or nothing is allowed.
double distance(double difference, double allowed) {
  if (difference == 0.0) return 0.0;
  if (std::isfinite(difference) && allowed > 0.0) return difference / allowed;
  return std::numeric_limits<double>::infinity();
}

void worsen(comparison& all, const comparison& later) {
  // A NaN stays, because nothing compares greater.
  if (std::isnan(later.max_abs_diff) || later.max_abs_diff > all.max_abs_diff)
    all.max_abs_diff = later.max_abs_diff;
  if (later.worst_of_allowed > all.worst_of_allowed) {
    all.worst_of_allowed = later.worst_of_allowed;
    all.worst_row = later.worst_row;
    all.worst_col = later.worst_col;
  }
}

}  // namespace

result keep(const expected_result& t, std::span<const std::byte> words) {
  const problem& p = t.of();
  const data::matrix c = operands_of(p).c;
  const std::size_t bytes = row_bytes(p);
  if (words.size() != std::size_t(data::word_count(c)) * type_size(p.dtype.c))
    throw std::invalid_argument("the buffer of C for " + problem_name(p) + " has the wrong size");
  result kept;
  kept.elements.resize(t.rows().size() * bytes);
  for (std::size_t r = 0; r < t.rows().size(); ++r) {
    const std::size_t from = std::size_t(data::index_of(c, t.rows()[r], 0)) * type_size(p.dtype.c);
    std::memcpy(kept.elements.data() + r * bytes, words.data() + from, bytes);
  }
  return kept;
}

comparison compare(const expected_result& t, const result& x, kzoo_precision x_declared,
                   const result& y, kzoo_precision y_declared) {
  const problem& p = t.of();
  const std::size_t bytes = t.rows().size() * row_bytes(p);
  if (x.elements.size() != bytes || y.elements.size() != bytes)
    throw std::invalid_argument("the results are not those of " + problem_name(p));
  const tolerance x_tolerance(p, x_declared), y_tolerance(p, y_declared);
  const word_view x_words(p.dtype.c, x.elements), y_words(p.dtype.c, y.elements);

  // Merged in row order, so that the worst element does not depend on the number of threads.
  constexpr std::int64_t kElementsPerBlock = 1 << 16;
  const std::int64_t rows = std::int64_t(t.rows().size());
  const std::int64_t rows_per_block = std::max<std::int64_t>(1, kElementsPerBlock / p.n);
  std::vector<comparison> parts(std::size_t((rows + rows_per_block - 1) / rows_per_block));
  for_each_block(std::int64_t(parts.size()), [&](std::int64_t block) {
    comparison part;
    const std::int64_t end = std::min(rows, (block + 1) * rows_per_block);
    for (std::int64_t row = block * rows_per_block; row < end; ++row) {
      const std::size_t r = std::size_t(row);
      for (std::int64_t col = 0; col < p.n; ++col) {
        const double x_value = x_words.value(row * p.n + col);
        const double y_value = y_words.value(row * p.n + col);
        if (x_value == y_value) continue;
        const double difference = std::abs(x_value - y_value);
        const sizes of = t.sizes_of(r, col);
        const double allowed = x_tolerance.allowed(of) + y_tolerance.allowed(of);
        worsen(part, {difference, distance(difference, allowed), t.rows()[r], col});
      }
    }
    parts[std::size_t(block)] = part;
  });
  comparison all;
  for (const comparison& part : parts) worsen(all, part);
  all.agree = all.worst_of_allowed <= 1.0;
  return all;
}

}  // namespace kzoo::reference

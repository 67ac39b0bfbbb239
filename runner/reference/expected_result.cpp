#include "reference/expected_result.hpp"

#include "os/parallel.hpp"
#include "reference/epilogue.hpp"
#include "reference/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kzoo::reference {
namespace {

// The first and last of m rows, a random row of each range between, and `also` unless -1.
std::vector<std::int64_t> choose_rows(std::int64_t m, std::int64_t count, std::uint64_t key,
                                      std::int64_t also) {
  std::vector<std::int64_t> rows;
  if (count >= m) {
    for (std::int64_t row = 0; row < m; ++row) rows.push_back(row);
    return rows;
  }
  const std::int64_t ranges = count - 2, inner = m - 2;
  rows.push_back(0);
  for (std::int64_t i = 0; i < ranges; ++i) {
    const std::int64_t begin = 1 + inner * i / ranges, end = 1 + inner * (i + 1) / ranges;
    const std::uint64_t random = data::hash(key, i);
    rows.push_back(begin + std::int64_t(random % std::uint64_t(end - begin)));
  }
  rows.push_back(m - 1);
  if (also >= 0 && !std::ranges::binary_search(rows, also))
    rows.insert(std::ranges::lower_bound(rows, also), also);
  return rows;
}

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

expected_result::expected_result(const problem& p, double max_products, std::uint64_t key,
                                 std::int64_t also)
    : expected_result(p, choose_rows(p.all_rows(), rows_of(p, max_products), key, also)) {}

expected_result::expected_result(const problem& p, std::vector<std::int64_t> rows)
    : problem_(p), operands_(operands_of(p)), scalars_(held_scalars(p)), rows_(std::move(rows)) {
  const operands& o = operands_;
  const scalars& s = scalars_;
  const std::size_t count = rows_.size() * std::size_t(p.n);
  value_.resize(count);
  products_.resize(count);
  if (p.dtype.c == KZOO_F64) {
    precise_result(o, s, rows_, value_, products_);
    return;
  }
  if (s.alpha != 0.0) add_products(o, rows_, value_, products_);
  for_each_row(std::int64_t(rows_.size()), p.n, [&](std::int64_t r) {
    const std::int64_t row = rows_[std::size_t(r)];
    for (std::int64_t col = 0; col < p.n; ++col) {
      const std::size_t i = at(std::size_t(r), col);
      value_[i] = combine(p.dtype.c, s, value_[i], initial_c(o, s, row, col));
    }
  });
  if (!p.epilogue.empty()) apply_epilogue();
}

expected_result::expected_result(const expected_result& without_epilogue, const problem& p)
    : expected_result(without_epilogue) {
  problem_ = p;
  operands_ = operands_of(p);
  apply_epilogue();
}

void expected_result::apply_epilogue() {
  const applied_epilogue epilogue(problem_);
  after_epilogue_.resize(value_.size());
  for_each_row(std::int64_t(rows_.size()), problem_.n, [&](std::int64_t r) {
    for (std::int64_t col = 0; col < problem_.n; ++col) {
      const std::size_t i = at(std::size_t(r), col);
      const finished_element f = finished(epilogue, value_[i], rows_[std::size_t(r)], col);
      value_[i] = f.value;
      after_epilogue_[i] = {float(f.gain), float(f.roundings), float(f.extra)};
    }
  });
}

std::int64_t expected_result::rows_of(const problem& p, double max_products) {
  const double row = static_cast<double>(p.n);
  if (p.dtype.c == KZOO_F64) max_products /= kDoubleDouble;
  const double rows = std::min(max_products / (row * static_cast<double>(p.k)), kMaxElements / row);
  const auto all = static_cast<double>(p.all_rows());
  return static_cast<std::int64_t>(std::clamp(rows, std::min(2.0, all), all));
}

sizes expected_result::sizes_of(std::size_t r, std::int64_t col) const {
  const double products = std::abs(scalars_.alpha) * products_[at(r, col)];
  const double c0 = initial_c(operands_, scalars_, rows_[r], col);
  sizes size{std::abs(value(r, col)), products + std::abs(scalars_.beta * c0), products};
  size.unit = unit_of(operands_.c, rows_[r], col);
  if (after_epilogue_.empty()) return size;
  const error_bound& f = after_epilogue_[at(r, col)];
  return {size.value, size.sum, size.products, f.gain, f.roundings, f.extra, size.unit};
}

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
        const sizes size = t.sizes_of(r, col);
        const double allowed = x_tolerance.allowed(size) + y_tolerance.allowed(size);
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

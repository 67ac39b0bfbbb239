#include "reference/expected_result.hpp"

#include "os/parallel.hpp"
#include "reference/epilogue.hpp"
#include "reference/product.hpp"

#include <algorithm>
#include <cmath>
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
  sizes of{std::abs(value(r, col)), products + std::abs(scalars_.beta * c0), products};
  of.unit = unit_of(operands_.c, rows_[r], col);
  if (after_epilogue_.empty()) return of;
  const error_bound& f = after_epilogue_[at(r, col)];
  return {of.value, of.sum, of.products, f.gain, f.roundings, f.extra, of.unit};
}

}  // namespace kzoo::reference

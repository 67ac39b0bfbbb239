#include "reference/pattern.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string_view>
#include <vector>

namespace kzoo::reference {
namespace {

using indices = std::vector<std::int64_t>;

bool is_contiguous(const indices& at) {
  return at.back() - at.front() + 1 == std::int64_t(at.size());
}

// 0 unless at least three indices have equal distances.
std::int64_t stride(const indices& at) {
  if (at.size() < 3) return 0;
  for (std::size_t i = 2; i < at.size(); ++i)
    if (at[i] - at[i - 1] != at[1] - at[0]) return 0;
  return at[1] - at[0];
}

std::string name(std::string_view what, const indices& at) {
  if (at.size() == 1) return fmt::format("{} {}", what, at[0]);
  if (is_contiguous(at)) return fmt::format("{}s {} to {}", what, at.front(), at.back());
  if (const std::int64_t step = stride(at))
    return fmt::format("every {}{} {} from {} {}", step,
                       step == 2   ? "nd"
                       : step == 3 ? "rd"
                                   : "th",
                       what, what, at.front());
  return fmt::format("{} {}s from {} to {}", at.size(), what, at.front(), at.back());
}

indices where(const indices& counts, double least) {
  indices found;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (static_cast<double>(counts[i]) >= least) found.push_back(std::int64_t(i));
  return found;
}

}  // namespace

std::optional<std::string> pattern_of(
    std::int64_t rows, std::int64_t cols,
    const std::function<bool(std::int64_t row, std::int64_t col)>& marked, double filled) {
  indices in_row(std::size_t(rows), 0), in_col(std::size_t(cols), 0);
  std::int64_t first = -1;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) {
      if (!marked(row, col)) continue;
      if (first < 0) first = row * cols + col;
      ++in_row[std::size_t(row)];
      ++in_col[std::size_t(col)];
    }
  }
  if (first < 0) return {};

  const std::int64_t count = std::accumulate(in_row.begin(), in_row.end(), std::int64_t(0));
  const auto fills = [&](std::int64_t area) { return double(count) >= filled * double(area); };
  const indices some_rows = where(in_row, 1), whole_rows = where(in_row, filled * double(cols));
  const indices some_cols = where(in_col, 1), whole_cols = where(in_col, filled * double(rows));
  if (some_rows == whole_rows) return name("row", some_rows);
  if (some_cols == whole_cols) return name("column", some_cols) + " of every row";

  std::int64_t outside = count;  // marked elements in no whole row and no whole column
  for (const std::int64_t row : whole_rows) outside -= in_row[std::size_t(row)];
  for (const std::int64_t col : whole_cols) {
    outside -= in_col[std::size_t(col)];
    for (const std::int64_t row : whole_rows) outside += marked(row, col);
  }
  if (outside == 0) return name("row", whole_rows) + " and " + name("column", whole_cols);
  if (count == 1) return fmt::format("row {}, column {}", first / cols, first % cols);
  if (fills(rows * cols - first))
    return fmt::format("everything from row {}, column {} on", first / cols, first % cols);
  if (fills(std::int64_t(some_rows.size() * some_cols.size())))
    return name("row", some_rows) + " of " + name("column", some_cols);
  return {};
}

std::optional<std::string> pattern_of(
    std::int64_t products, std::int64_t rows, std::int64_t cols,
    const std::function<bool(std::int64_t row, std::int64_t col)>& marked, double filled) {
  if (products == 1) return pattern_of(rows, cols, marked, filled);
  indices in_product(std::size_t(products), 0);
  for (std::int64_t row = 0; row < products * rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col)
      in_product[std::size_t(row / rows)] += marked(row, col);
  const indices some = where(in_product, 1);
  if (some.empty()) return {};
  if (some == where(in_product, filled * double(rows) * double(cols))) return name("product", some);
  std::optional<std::string> first;
  for (const std::int64_t product : some) {
    const auto inside = [&](std::int64_t row, std::int64_t col) {
      return marked(product * rows + row, col);
    };
    const auto own = pattern_of(rows, cols, inside, filled);
    if (!own || (first && *first != *own)) return {};
    first = own;
  }
  return *first + " of " +
         (std::int64_t(some.size()) == products ? "every product" : name("product", some));
}

}  // namespace kzoo::reference

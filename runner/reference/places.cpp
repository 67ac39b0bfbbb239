#include "reference/places.hpp"

#include "reference/expected_result.hpp"
#include "reference/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kzoo::reference {
namespace {

std::string changed(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{} changed", count, what, count == 1 ? "" : "s");
}

// place_name() in x itself, not in op(x).
std::string stored_place_name(const data::matrix& x, std::int64_t row, std::int64_t col) {
  return place_name(x, row, col) + (x.transposed ? " as it is stored" : "");
}

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

// Indices in runs of equal length, at equal distances; an edge may cut off the last.
struct runs {
  std::int64_t length, distance;
};

// Nothing unless there are at least two whole runs.
std::optional<runs> equal_runs(const indices& at) {
  std::int64_t length = 1;
  const auto count = std::int64_t(at.size());
  while (length < count && at[std::size_t(length)] == at[0] + length) ++length;
  if (length == 1 || count < 2 * length) return std::nullopt;
  const std::int64_t distance = at[std::size_t(length)] - at[0];
  for (std::int64_t i = 0; i < count; ++i)
    if (at[std::size_t(i)] != at[0] + i / length * distance + i % length) return std::nullopt;
  return runs{length, distance};
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
  if (const auto found = equal_runs(at))
    return fmt::format("{} of every {} {}s from {} {}", found->length, found->distance, what, what,
                       at.front());
  return fmt::format("{} {}s from {} to {}", at.size(), what, at.front(), at.back());
}

indices where(const indices& counts, double least) {
  indices places;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (static_cast<double>(counts[i]) >= least) places.push_back(std::int64_t(i));
  return places;
}

constexpr std::int64_t kMostLines = 24, kMostColumns = 64;
constexpr std::size_t kMostListed = 8;

// The elements of one character.
struct bin {
  std::int64_t elements = 0, wrong = 0, unwritten = 0, not_finite = 0;
};

char symbol(const bin& b) {
  if (b.unwritten > 0) return 'o';
  if (b.not_finite > 0) return 'N';
  if (b.wrong == 0) return '.';
  if (b.wrong == b.elements) return '#';
  return static_cast<char>('1' + std::min<std::int64_t>(8, 10 * b.wrong / b.elements));
}

std::int64_t per_bin(std::int64_t count, std::int64_t most) { return (count + most - 1) / most; }

std::string numbered(double x) { return std::isnan(x) ? "NaN" : fmt::format("{:.9g}", x); }

}  // namespace

std::string place_name(const data::matrix& x, std::int64_t row, std::int64_t col) {
  const std::string place = fmt::format("row {}, column {}", row % x.rows, col);
  return x.count == 1 ? place : fmt::format("product {}, {}", row / x.rows, place);
}

std::string outside_place(const data::matrix& x, std::string_view name, std::int64_t index) {
  const std::int64_t i = index - data::kRedzone;
  if (i < 0) return fmt::format("{} before its first element", -i);
  const std::int64_t span = data::span_of(x);
  if (i >= span) return fmt::format("{} past its last element", i - span + 1);
  const auto [row, col] = data::coordinates_of(x, index);
  if (col >= x.ld)
    return fmt::format("{} past the last row of product {}", col - x.ld + 1, row / x.rows);
  return fmt::format("in the padding: {} ({} has columns 0 to {})", stored_place_name(x, row, col),
                     name, x.cols - 1);
}

std::optional<std::string> tampering(const data::matrix& x, std::string_view name,
                                     const data::changes& found) {
  if (found.inside > 0) {
    const auto [row, col] = data::coordinates_of(x, found.first_inside);
    return fmt::format("the kernel wrote to its input {}: {}, the first at {}", name,
                       changed(found.inside, "element"), stored_place_name(x, row, col));
  }
  if (found.outside > 0) {
    return fmt::format("written outside {}: {}, the first {}", name, changed(found.outside, "word"),
                       outside_place(x, name, found.first_outside));
  }
  return std::nullopt;
}

std::optional<std::string> restored(const data::matrix& x, std::string_view name,
                                    std::int64_t index) {
  if (index < 0) return std::nullopt;
  if (!data::is_inside(x, index))
    return fmt::format("the kernel wrote outside {}, first {}, and put back what was there", name,
                       outside_place(x, name, index));
  const auto [row, col] = data::coordinates_of(x, index);
  return fmt::format("the kernel wrote to its input {}, first at {}, and put back what was there",
                     name, stored_place_name(x, row, col));
}

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

error_map map_errors(const expected_result& t, kzoo_precision declared,
                     std::span<const std::byte> words) {
  const data::matrix c = operands_of(t.of()).c;
  const word_view view(c.type, words);
  const tolerance within(t.of(), declared);
  error_map map;
  const std::int64_t rows = data::all_rows(c);
  if (c.count > 1) map.rows_per_product = c.rows;
  map.rows_per_line = per_bin(rows, kMostLines);
  map.columns_per_character = per_bin(c.cols, kMostColumns);

  std::size_t known = 0;  // index of the next row of the expected result
  for (std::int64_t top = 0; top < rows; top += map.rows_per_line) {
    std::vector<bin> bins(std::size_t(per_bin(c.cols, map.columns_per_character)));
    for (std::int64_t row = top; row < std::min(rows, top + map.rows_per_line); ++row) {
      const bool is_known = known < t.rows().size() && t.rows()[known] == row;
      for (std::int64_t col = 0; col < c.cols; ++col) {
        bin& b = bins[std::size_t(col / map.columns_per_character)];
        const std::int64_t index = data::index_of(c, row, col);
        const double got = view.value(index);
        const double error = is_known ? std::abs(got - t.value(known, col)) : 0;
        const bool unwritten =
            c.inside == data::content::poison && view[index] == data::word(c, index);
        const bool wrong = is_known && !(error <= within.allowed(t.sizes_of(known, col)));
        ++b.elements;
        b.unwritten += unwritten;
        b.not_finite += !unwritten && !std::isfinite(got);
        b.wrong += wrong;
        if (wrong && map.first.size() < kMostListed)
          map.first.push_back({row, col, t.value(known, col), got, unwritten});
      }
      known += is_known;
    }
    std::string line;
    for (const bin& b : bins) line += symbol(b);
    map.picture.push_back(std::move(line));
  }
  return map;
}

std::vector<std::string> lines_of(const error_map& map) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("C, {} x {} elements a character: . right, 1 to 9 tenths wrong, # all wrong, "
                  "o not written, N not finite",
                  map.rows_per_line, map.columns_per_character));
  if (map.rows_per_product > 0)
    lines.push_back(
        fmt::format("all products below each other: row r is row r % {} of product r / {}",
                    map.rows_per_product, map.rows_per_product));
  for (std::size_t i = 0; i < map.picture.size(); ++i) {
    lines.push_back(fmt::format("{:>8} {}", std::int64_t(i) * map.rows_per_line, map.picture[i]));
  }
  if (!map.first.empty()) {
    lines.push_back(fmt::format("{:>8} {:>8} {:>16} {:>16}", "row", "column", "expected", "got"));
  }
  for (const differing& d : map.first) {
    lines.push_back(fmt::format("{:>8} {:>8} {:>16} {:>16}", d.row, d.col, numbered(d.expected),
                                d.unwritten ? "not written" : numbered(d.got)));
  }
  return lines;
}

}  // namespace kzoo::reference

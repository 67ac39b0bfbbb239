#include "reference/error_map.hpp"

#include "data/contents.hpp"
#include "reference/tolerance.hpp"
#include "reference/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kzoo::reference {
namespace {

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

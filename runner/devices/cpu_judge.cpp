#include "devices/cpu_judge.hpp"

#include "data/rows.hpp"
#include "devices/element_loops.hpp"
#include "os/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kzoo::devices {
namespace {

using reference::element_sum;
using reference::product_check;
using reference::product_findings;
using reference::weighted_row;
using reference::weighted_sum;

weighted_row with_norm(const weighted_sum& sum) {
  return {sum.value, std::sqrt(sum.squares), sum.whole};
}

template <class T>
std::vector<T> for_rows(std::int64_t rows) {
  return std::vector<T>(static_cast<std::size_t>(rows));
}

// B w, for all matrices B.
std::vector<weighted_row> weigh_b(const product_check& check,
                                  const std::vector<std::int64_t>& weights) {
  const data::scaled_matrix& b = check.of.b;
  auto sums = for_rows<weighted_row>(b.count * check.k);
  for_each_row(b.count * check.k, check.n, [&](std::int64_t row) {
    std::vector<double> elements(weights.size());
    data::read_row(b, row / check.k, {row % check.k, 0}, elements);
    weighted_sum sum;
    for (std::size_t col = 0; col < elements.size(); ++col)
      reference::add(sum, check.integers, elements[col], weights[col]);
    sums[std::size_t(row)] = with_norm(sum);
  });
  return sums;
}

weighted_row row_of_product(const product_check& check, std::int64_t row,
                            const std::vector<weighted_row>& b) {
  const std::int64_t of_a = reference::a_of_row(check, row);
  const std::int64_t first = b_of_row(check.of, row) * check.k;
  std::vector<double> a(static_cast<std::size_t>(check.k));
  data::read_row(check.of.a, of_a, {row % check.m, 0}, a);
  weighted_row sum;
  for (std::size_t k = 0; k < a.size(); ++k)
    reference::add_product(sum, check, a[k], b[std::size_t(first) + k]);
  return sum;
}

// The weighted sum of a row with elements element(col).
template <class Element>
weighted_row weigh(const product_check& check, const std::vector<std::int64_t>& weights,
                   const Element& element) {
  weighted_sum sum;
  for (std::int64_t col = 0; col < check.n; ++col)
    reference::add(sum, check.integers, element(col), weights[std::size_t(col)]);
  return with_norm(sum);
}

bool is_right(const product_check& check, const element_sum& products, std::int64_t row,
              std::int64_t col, const void* output) {
  const data::matrix& c = check.of.c;
  const double got = data::decode(c.type, word_at(output, c, data::index_of(c, row, col)));
  return reference::is_element_right(check, products, reference::start_of(check, row, col), got,
                                     row, col);
}

// How many elements of these rows are wrong, in `count` columns from `first` on. The rows have one
// B.
std::array<std::int64_t, reference::kWholeRows> wrong_elements_of(const product_check& check,
                                                                  const reference::whole_rows& rows,
                                                                  std::int64_t first,
                                                                  std::int64_t count,
                                                                  const void* output) {
  const std::int64_t of_b = b_of_row(check.of, rows.front());
  std::vector<double> b(static_cast<std::size_t>(count));
  std::vector<element_sum> sums(rows.size() * b.size());
  for (std::int64_t k = 0; k < check.k; ++k) {
    data::read_row(check.of.b, of_b, {k, first}, b);
    auto sum = sums.begin();
    for (const std::int64_t row : rows) {
      const double a =
          data::element_at(check.of.a, reference::a_of_row(check, row), row % check.m, k);
      for (const double element : b) reference::add_product(*sum++, check, a, element);
    }
  }
  std::array<std::int64_t, reference::kWholeRows> wrong{};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t i = 0; i < count; ++i)
      wrong[r] +=
          is_right(check, sums[r * b.size() + std::size_t(i)], rows[r], first + i, output) ? 0 : 1;
  return wrong;
}

void judge_rows(const void* buffer, const product_check& check, std::uint64_t key,
                product_findings& found) {
  const data::matrix& c = check.of.c;
  std::vector<std::int64_t> weights;
  weights.reserve(static_cast<std::size_t>(check.n));
  for (std::int64_t col = 0; col < check.n; ++col) weights.push_back(reference::weight(key, col));
  const std::vector<weighted_row> b = weigh_b(check, weights);
  const std::int64_t rows = check.batch * check.m;
  auto is_wrong = for_rows<char>(rows);
  for_each_row(rows, check.n + check.k, [&](std::int64_t row) {
    const weighted_row got = weigh(check, weights, [&](std::int64_t col) {
      return data::decode(c.type, word_at(buffer, c, data::index_of(c, row, col)));
    });
    const weighted_row start = weigh(
        check, weights, [&](std::int64_t col) { return reference::start_of(check, row, col); });
    is_wrong[std::size_t(row)] =
        reference::is_row_right(check, row_of_product(check, row, b), start, got) ? 0 : 1;
  });
  for (std::int64_t row = 0; row < rows; ++row) {
    if (is_wrong[std::size_t(row)] == 0) continue;
    if (found.wrong_rows++ == 0) found.row = row;
  }
}

// Judges one element of each part of C.
void judge_elements(const void* buffer, const product_check& check, std::uint64_t key,
                    product_findings& found) {
  const std::int64_t count = reference::drawn_elements(check);
  auto is_wrong = for_rows<char>(count);
  for_each_row(count, check.k, [&](std::int64_t i) {
    const data::coordinates at = reference::draw_element(check, key, i);
    is_wrong[std::size_t(i)] =
        is_right(check, reference::sum_products(check, at, 0, 1), at.row, at.col, buffer) ? 0 : 1;
  });
  for (std::int64_t i = 0; i < count; ++i) {
    if (is_wrong[std::size_t(i)] == 0) continue;
    if (found.wrong_elements++ == 0) found.row = reference::draw_element(check, key, i).row;
  }
}

}  // namespace

data::reading read_all(const void* buffer, const data::matrix& x) {
  auto parts = for_rows<data::reading>(data::all_rows(x) + 1);
  for_each_row(data::all_rows(x), x.ld, [&](std::int64_t row) {
    const std::int64_t first = data::index_of(x, row, 0);
    for (std::int64_t i = first; i < data::row_end(x, row); ++i)
      read_word(parts[std::size_t(row)], buffer, x, i, i - first < x.cols);
  });
  for (std::int64_t i = 0; i < data::kRedzone; ++i)
    for (const std::int64_t index : {i, data::word_count(x) - 1 - i})
      read_word(parts.back(), buffer, x, index, false);
  data::reading all;
  for (const data::reading& part : parts) {
    all.digest += part.digest;
    all.survey.outside += part.survey.outside;
    all.survey.unwritten += part.survey.unwritten;
    all.survey.not_finite += part.survey.not_finite;
  }
  return all;
}

product_findings judge_product(const void* buffer, const product_check& check, std::uint64_t key) {
  product_findings found;
  found.c = read_all(buffer, check.of.c);
  if (check.after.count == 0)
    judge_rows(buffer, check, key, found);
  else
    judge_elements(buffer, check, key, found);
  constexpr std::int64_t kColumns = 128;  // per block
  const std::int64_t blocks = (check.n + kColumns - 1) / kColumns;
  const reference::whole_rows whole = reference::draw_rows(check, key);
  auto wrong = for_rows<std::array<std::int64_t, reference::kWholeRows>>(blocks);
  for_each_row(blocks, check.k * kColumns, [&](std::int64_t block) {
    const std::int64_t first = block * kColumns;
    wrong[std::size_t(block)] =
        wrong_elements_of(check, whole, first, std::min(kColumns, check.n - first), buffer);
  });
  for (std::size_t r = 0; r < whole.size(); ++r)
    for (const auto& of_block : wrong) {
      if (of_block[r] > 0 && found.row < 0) found.row = whole[r];
      found.wrong_elements += of_block[r];
    }
  return found;
}

}  // namespace kzoo::devices

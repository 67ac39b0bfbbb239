#pragma once
// Judges C on its device right after the run, in fp64 and from the generator alone: all rows by
// weighted sums, a few rows element by element. For a random vector w, C w = A (B w) if C = A B
// (Freivalds 1977). Judging all of C costs only generating A and B and reading C once. Random
// choices are made after the run.
//
// Weights are odd integers with random signs, independent of the errors. Let each element of a row
// be within its bound b_j. Then the row's weighted sum is off by more than t ||w b|| with
// probability at most 2 exp(-t^2 / 2) (Hoeffding 1963), even for correlated errors. The bound
// limits ||w b|| through weighted norms of B's rows: a row of |A||B| has at most the norm that |A|
// makes of them (Minkowski). On integers all of this is exact.
//
// The functions here handle one element or one row, for the loops of both devices.

#include "core/operands.hpp"
#include "data/contents.hpp"
#include "reference/epilogue.hpp"
#include "reference/product.hpp"
#include "reference/tolerance.hpp"

#include <array>
#include <cstdint>

namespace kzoo::reference {

// t, so that a right row fails with a probability below 3e-14.
inline constexpr double kMostDeviations = 8;

// A judge's view of a problem. Trivially copyable: kernels receive it.
struct product_check {
  product_check(const problem& p, kzoo_precision declared);
  // Inverts the signs of this row of the input with this key; row -1: of none.
  void set_late_row(std::uint64_t key, std::int64_t row);

  operands of;
  std::int64_t m, n, k, batch;
  scalars by;
  tolerance within;
  applied_epilogue after;
  bool integers;    // i32 sums, which wrap
  bool exact;       // every partial sum, weighted ones too, is an integer that fits
  bool exact_c;     // also, the type of C holds each element
  double own_unit;  // relative error of this check's own sums, unless exact
  double root_k, root_n;
};

// Findings of one judgement. wrong_elements counts only elements compared one by one.
struct product_findings {
  data::reading c;
  std::int64_t wrong_rows = 0, wrong_elements = 0;
  std::int64_t row = -1;  // any wrong row; -1: none

  bool right() const {
    return wrong_rows == 0 && wrong_elements == 0 && c.survey.outside == 0 &&
           c.survey.unwritten == 0;
  }
};

// A column's weight: an odd integer from -255 to 255.
constexpr std::int64_t weight(std::uint64_t key, std::int64_t col) {
  return 2 * static_cast<std::int64_t>(data::hash(key, col) >> 56) - 255;
}
inline constexpr double kMostWeight = 255;

// Sums over a row's weighted elements: values, squares, and values as wrapping integers.
struct weighted_sum {
  double value = 0, squares = 0;
  std::uint64_t whole = 0;
};

constexpr void add(weighted_sum& sum, bool integers, double x, std::int64_t factor) {
  if (integers) {
    sum.whole += static_cast<std::uint64_t>(static_cast<std::int64_t>(x) * factor);
    return;
  }
  const double weighted = x * static_cast<double>(factor);
  sum.value += weighted;
  sum.squares += weighted * weighted;
}

constexpr double magnitude(double x) { return x < 0 ? -x : x; }

// A weighted sum with the root of its squares' sum.
struct weighted_row {
  double value = 0, norm = 0;
  std::uint64_t whole = 0;
};
constexpr void add_product(weighted_row& sum, const product_check& check, double a,
                           const weighted_row& b) {
  if (check.integers) {
    sum.whole += static_cast<std::uint64_t>(static_cast<std::int64_t>(a)) * b.whole;
    return;
  }
  sum.value += a * b.value;
  sum.norm += magnitude(a) * b.norm;
}

// alpha ab + beta c0 as 32-bit integers, which wrap.
constexpr std::uint32_t combined(const scalars& s, std::uint64_t ab, std::uint64_t c0) {
  const auto word = [](double x) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
  };
  return word(s.alpha) * static_cast<std::uint32_t>(ab) +
         word(s.beta) * static_cast<std::uint32_t>(c0);
}

// Whether a row of C with weighted sum `got` is right for its rows of A B and of C0.
constexpr bool is_row_right(const product_check& check, const weighted_row& products,
                            const weighted_row& start, const weighted_row& got) {
  if (check.integers)
    return combined(check.by, products.whole, start.whole) == static_cast<std::uint32_t>(got.whole);
  const double expected = check.by.alpha * products.value + check.by.beta * start.value;
  const double of_products = magnitude(check.by.alpha) * products.norm;
  const sizes norms{got.norm, of_products + magnitude(check.by.beta) * start.norm, of_products};
  const double own =
      check.exact ? 0.0 : check.own_unit * (check.root_k + check.root_n + 4) * norms.sum;
  const double allowed =
      check.exact_c ? 0.0
                    : check.within.allowed_of_row(norms, kMostWeight * check.root_n, check.exact);
  return magnitude(got.value - expected) <= kMostDeviations * allowed + own;
}

// Partial sums of an element of A B: values, magnitudes, and values as integers.
struct element_sum {
  double value = 0, magnitude = 0;
  std::uint64_t whole = 0;
};
constexpr void add_product(element_sum& sum, const product_check& check, double a, double b) {
  if (check.integers) {
    sum.whole +=
        static_cast<std::uint64_t>(static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b));
    return;
  }
  sum.value += a * b;
  sum.magnitude += magnitude(a * b);
}

// `row` counts over all matrices of the batch.
KZOO_JUDGE_FUNCTION bool is_element_right(const product_check& check, const element_sum& products,
                                          double c0, double got, std::int64_t row,
                                          std::int64_t col) {
  if (check.integers) {
    const auto whole = [](double x) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
    };
    return combined(check.by, products.whole, whole(c0)) == static_cast<std::uint32_t>(whole(got));
  }
  const double expected = check.by.alpha * products.value + check.by.beta * c0;
  const double of_products = magnitude(check.by.alpha) * products.magnitude;
  const double sums = of_products + magnitude(check.by.beta * c0);
  const finished_element f = finished(check.after, expected, row, col);
  const double allowed =
      check.within.allowed({magnitude(f.value), sums, of_products, f.gain, f.roundings, f.extra,
                            unit_of(check.of.c, row, col)});
  // The sums here round as well, unless the bound says that they are exact.
  const double own = allowed > 0 ? check.own_unit * (check.root_k + 4) * sums * f.gain : 0.0;
  return magnitude(got - f.value) <= allowed + own;
}

// The number of the A that a row of C uses.
constexpr std::int64_t a_of_row(const product_check& check, std::int64_t row) {
  return check.of.a.count == 1 ? 0 : row / check.m;
}
// C0; 0 if beta is 0, so that no poison is read. `row` counts over all matrices of the batch.
constexpr double start_of(const product_check& check, std::int64_t row, std::int64_t col) {
  if (check.by.beta == 0.0) return 0.0;
  return data::decode(check.of.c.type,
                      data::generated(check.of.c, data::index_of(check.of.c, row, col)));
}

// Draws kWholeRows rows of C to compare element by element, all of one matrix or group, with one B.
inline constexpr int kWholeRows = 4;
using whole_rows = std::array<std::int64_t, kWholeRows>;
constexpr whole_rows draw_rows(const product_check& check, std::uint64_t key) {
  whole_rows rows{};
  const auto below = [&](int i, std::int64_t count) {
    return static_cast<std::int64_t>(data::hash(key, -1 - i) % static_cast<std::uint64_t>(count));
  };
  std::int64_t first = below(0, check.batch) * check.m, count = check.m;
  if (const data::matrix& offsets = check.of.offsets; data::group_count(offsets) > 0) {
    const std::int64_t group = data::group_of(offsets, below(0, check.m));
    first = data::first_row_of(offsets, group);
    count = data::first_row_of(offsets, group + 1) - first;
  }
  for (int i = 0; i < kWholeRows; ++i)
    rows[static_cast<std::size_t>(i)] = first + below(i + 1, count);
  return rows;
}

// With an epilogue, one element of each kPart x kPart part of C is compared as well.
inline constexpr std::int64_t kPart = 32;
constexpr std::int64_t parts(std::int64_t count) { return (count + kPart - 1) / kPart; }
constexpr std::int64_t drawn_elements(const product_check& check) {
  return check.after.count == 0 ? 0 : check.batch * parts(check.m) * parts(check.n);
}
constexpr data::coordinates draw_element(const product_check& check, std::uint64_t key,
                                         std::int64_t index) {
  const std::int64_t across = parts(check.n), down = parts(check.m);
  const std::uint64_t random = data::hash(~key, index);
  const auto within = [](std::int64_t part, std::int64_t count, std::uint64_t any) {
    const std::int64_t first = part * kPart, left = count - first;
    return first +
           static_cast<std::int64_t>(any % static_cast<std::uint64_t>(left < kPart ? left : kPart));
  };
  const std::int64_t row = within(index / across % down, check.m, random >> 32);
  return {index / across / down * check.m + row,
          within(index % across, check.n, random & 0xffffffffu)};
}
// Sums an element's products at every `step`-th k from `first` on.
constexpr element_sum sum_products(const product_check& check, const data::coordinates& at,
                                   std::int64_t first, std::int64_t step) {
  const std::int64_t of_a = a_of_row(check, at.row), of_b = b_of_row(check.of, at.row);
  element_sum sum;
  for (std::int64_t k = first; k < check.k; k += step)
    add_product(sum, check, data::element_at(check.of.a, of_a, at.row % check.m, k),
                data::element_at(check.of.b, of_b, k, at.col));
  return sum;
}

}  // namespace kzoo::reference

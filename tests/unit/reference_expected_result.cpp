#include "data/contents.hpp"
#include "unit/reference_samples.hpp"

#include "reference/tolerance.hpp"

#include "support/catch.hpp"

using namespace kzoo;
using namespace kzoo::samples;

namespace {

double allowed(const reference::expected_result& t, std::size_t r, std::int64_t col,
               kzoo_precision declared) {
  return reference::tolerance(t.of(), declared).allowed(t.sizes_of(r, col));
}

struct exact {
  long double value, magnitude, products;
};

// C by its definition, one term after the other.
exact by_hand(const problem& p, std::int64_t row, std::int64_t col) {
  const operands o = operands_of(p);
  const bool whole = is_integer(p.dtype);
  const long double alpha = whole ? p.alpha : double(float(p.alpha));
  const long double beta = whole ? p.beta : double(float(p.beta));
  long double sum = 0, magnitude = 0;
  for (std::int64_t k = 0; k < p.k; ++k) {
    const long double term = (long double)(value_at(o.a, row, k)) * value_at(o.b, k, col);
    sum += term;
    magnitude += std::abs(term);
  }
  const long double c0 = p.beta == 0 ? 0.0L : value_at(o.c, row, col);
  const long double products = std::abs(alpha) * magnitude;
  return {alpha * sum + beta * c0, products + std::abs(beta * c0), products};
}

void check_all(const problem& p) {
  INFO(problem_name(p));
  const reference::expected_result t(p);
  REQUIRE(t.complete());
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const exact e = by_hand(p, i, j);
      const std::size_t r = std::size_t(i);
      const double scale = double(e.magnitude) * 1e-14;
      REQUIRE(std::abs(t.value(r, j) - double(e.value)) <= scale);
      REQUIRE(t.sizes_of(r, j).sum == Approx(double(e.magnitude)).epsilon(1e-6));
      REQUIRE(t.sizes_of(r, j).products == Approx(double(e.products)).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("fp64 results are expected to the last bit", "[reference]") {
  // Elements are multiples of 2^-52 below 1, so that products and their sums fit 128 bits.
  __extension__ using exact = __int128;
  const problem p = sized(7, 70, 600, KZOO_F64);
  const operands o = operands_of(p);
  const reference::expected_result t(p);
  const auto whole = [](const data::matrix& x, std::int64_t row, std::int64_t col) {
    const auto bits = data::word(x, data::op_index(x, 0, row, col));
    return static_cast<std::int64_t>(data::decode(x.type, bits) * 0x1p52);
  };
  int rounded_differently = 0;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      exact sum = 0;
      double in_fp64 = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        const std::int64_t a = whole(o.a, i, k), b = whole(o.b, k, j);
        sum += exact(a) * b;
        in_fp64 += double(a) * double(b);
      }
      REQUIRE(t.value(std::size_t(i), j) == static_cast<double>(sum) * 0x1p-104);
      rounded_differently += in_fp64 != static_cast<double>(sum);
    }
  }
  CHECK(rounded_differently > 100);
  CHECK(reference::expected_result::rows_of(sized(4096, 4096, 4096, KZOO_F64)) <
        reference::expected_result::rows_of(sized(4096, 4096, 4096)));
}

TEST_CASE("the expected result follows the layout", "[reference]") {
  for (const layout of : kLayouts) {
    for (const fill data : {fill::uniform, fill::probe, fill::signs}) {
      problem p = sized(9, 11, 700);
      p.layout = of;
      p.padding = 2;
      p.data = data;
      const operands o = operands_of(p);
      const auto word_at = [](const data::matrix& x, std::int64_t i) {
        return data::decode(x.type, data::word(x, data::kRedzone + i));
      };
      const reference::expected_result t(p);
      double sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        sum += word_at(o.a, is_a_transposed(of) ? k * p.lda() + 4 : 4 * p.lda() + k) *
               word_at(o.b, is_b_transposed(of) ? 7 * p.ldb() + k : k * p.ldb() + 7);
      }
      INFO(problem_name(p));
      CHECK(t.value(4, 7) == Approx(sum).margin(1e-12));
    }
  }
}

TEST_CASE("the expected result follows the definition", "[reference]") {
  struct {
    std::int64_t m, n, k;
  } shapes[] = {{1, 1, 1},    {1, 7, 3},    {5, 1, 300}, {4, 16, 256},
                {3, 17, 257}, {37, 41, 53}, {64, 64, 1}};
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    for (const auto& [m, n, k] : shapes) {
      for (const double alpha : {1.0, 0.7, -2.0}) {
        for (const double beta : {0.0, 1.0, 1.3}) {
          problem p = sized(m, n, k, type);
          p.alpha = is_integer(type) ? std::round(alpha) : alpha;
          p.beta = is_integer(type) ? std::round(beta) : beta;
          p.padding = m % 3;
          check_all(p);
        }
      }
    }
  }
}

TEST_CASE("products of several blocks are complete", "[reference]") {
  // Larger than one block of rows, of columns and of k.
  problem p = sized(530, 540, 270);
  p.beta = 1;
  const reference::expected_result t(p);
  for (const std::int64_t i : {0, 3, 4, 511, 512, 513, 529}) {
    for (const std::int64_t j : {0, 15, 16, 511, 512, 539}) {
      const exact e = by_hand(p, i, j);
      CHECK(std::abs(t.value(std::size_t(i), j) - double(e.value)) <= 1e-13 * double(e.magnitude));
      CHECK(t.sizes_of(std::size_t(i), j).sum == Approx(double(e.magnitude)).epsilon(1e-6));
    }
  }
}

TEST_CASE("alpha and beta are rounded to the float that a plugin uses", "[reference]") {
  problem p = sized(1, 1, 1);
  p.alpha = 0.1;
  const operands o = operands_of(p);
  const double product = value_at(o.a, 0, 0) * value_at(o.b, 0, 0);
  CHECK(reference::expected_result(p).value(0, 0) == double(0.1f) * product);
  CHECK(reference::expected_result(p).value(0, 0) != 0.1 * product);
}

TEST_CASE("integers wrap at 32 bits", "[reference]") {
  problem p = sized(8, 8, 64, KZOO_I32);
  p.alpha = 2147483647.0;
  p.beta = -3;
  const operands o = operands_of(p);
  const reference::expected_result t(p);
  bool wrapped = false;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        sum += std::int64_t(value_at(o.a, i, k)) * std::int64_t(value_at(o.b, k, j));
      const std::int64_t full = 2147483647 * sum - 3 * std::int64_t(value_at(o.c, i, j));
      REQUIRE(t.value(std::size_t(i), j) == double(std::int32_t(std::uint32_t(full))));
      REQUIRE(allowed(t, std::size_t(i), j, KZOO_COMPUTE_INT32) == 0.0);
      wrapped |= full > INT32_MAX || full < INT32_MIN;
    }
  }
  CHECK(wrapped);
}

TEST_CASE("sampled rows equal those of the complete expected result", "[reference]") {
  problem p = sized(97, 33, 20);
  p.beta = 1.3;
  const reference::expected_result all(p);
  const reference::expected_result some(p, 10.5 * double(p.n * p.k));
  REQUIRE_FALSE(some.complete());
  REQUIRE(some.rows().size() == 10);
  CHECK(some.rows().front() == 0);
  CHECK(some.rows().back() == 96);
  for (std::size_t r = 0; r < some.rows().size(); ++r) {
    if (r > 0) CHECK(some.rows()[r] > some.rows()[r - 1]);
    // Evenly distributed: each inner row is in its own eighth of the rows between the ends.
    if (r > 0 && r < 9) {
      const auto i = std::int64_t(r);
      CHECK(some.rows()[r] >= 1 + 95 * (i - 1) / 8);
      CHECK(some.rows()[r] < 1 + 95 * i / 8);
    }
    const std::size_t row = std::size_t(some.rows()[r]);
    for (std::int64_t j = 0; j < p.n; ++j) {
      REQUIRE(some.value(r, j) == all.value(row, j));
      REQUIRE(some.sizes_of(r, j).sum == all.sizes_of(row, j).sum);
    }
  }
  CHECK(reference::expected_result(p, 10.5 * double(p.n * p.k)).rows() == some.rows());
  CHECK(reference::expected_result(p, 10.5 * double(p.n * p.k), 2).rows() != some.rows());
  CHECK(reference::expected_result(p, 1).rows() == std::vector<std::int64_t>{0, 96});
  p.m = 1;
  CHECK(reference::expected_result(p, 1).rows() == std::vector<std::int64_t>{0});
  p.m = 2;
  CHECK(reference::expected_result(p, 1).complete());
}

TEST_CASE("no error is allowed where nothing can round", "[reference]") {
  problem p = sized(4, 4, 8);
  p.alpha = 0;
  const reference::expected_result zero(p);
  CHECK(zero.value(1, 2) == 0.0);
  CHECK(zero.sizes_of(1, 2).sum == 0.0);
  CHECK(allowed(zero, 1, 2, KZOO_COMPUTE_TF32) == 0.0);

  p.alpha = 1;
  p.data = fill::integers;
  CHECK(allowed(reference::expected_result(p), 1, 2, KZOO_COMPUTE_TF32) == 0.0);
  p.alpha = 0.7;
  CHECK(allowed(reference::expected_result(p), 1, 2, KZOO_COMPUTE_FP32) > 0.0);
}

// The norm-wise bound: Strassen's algorithm keeps it, where it does not keep the component-wise
// one, and TF32 does not.
#include "reference/product_check.hpp"
#include "reference/tolerance.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

#include <vector>

using namespace kzoo;
using namespace kzoo::samples;

namespace {

// A square matrix of fp32 numbers, n even.
struct square {
  std::int64_t n;
  std::vector<float> x;

  explicit square(std::int64_t size) : n(size), x(std::size_t(size * size)) {}
  float& at(std::int64_t row, std::int64_t col) { return x[std::size_t(row * n + col)]; }
  float at(std::int64_t row, std::int64_t col) const { return x[std::size_t(row * n + col)]; }

  square quadrant(int down, int right) const {
    square q(n / 2);
    for (std::int64_t i = 0; i < q.n; ++i)
      for (std::int64_t j = 0; j < q.n; ++j) q.at(i, j) = at(down * q.n + i, right * q.n + j);
    return q;
  }
};

square sum(const square& a, const square& b, float sign = 1) {
  square c(a.n);
  for (std::size_t i = 0; i < c.x.size(); ++i) c.x[i] = a.x[i] + sign * b.x[i];
  return c;
}

square product(const square& a, const square& b) {
  square c(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t k = 0; k < a.n; ++k)
      for (std::int64_t j = 0; j < a.n; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

// C of a square problem with alpha = 1 and beta = 0, by one level of Strassen's algorithm in fp32.
buffer strassen(const problem& p) {
  const operands o = operands_of(p);
  square a(p.n), b(p.n);
  for (std::int64_t i = 0; i < p.n; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      a.at(i, j) = float(value_at(o.a, 0, i, j));
      b.at(i, j) = float(value_at(o.b, 0, i, j));
    }
  }
  const square a11 = a.quadrant(0, 0), a12 = a.quadrant(0, 1), a21 = a.quadrant(1, 0),
               a22 = a.quadrant(1, 1), b11 = b.quadrant(0, 0), b12 = b.quadrant(0, 1),
               b21 = b.quadrant(1, 0), b22 = b.quadrant(1, 1);
  const square m1 = product(sum(a11, a22), sum(b11, b22)), m2 = product(sum(a21, a22), b11),
               m3 = product(a11, sum(b12, b22, -1)), m4 = product(a22, sum(b21, b11, -1)),
               m5 = product(sum(a11, a12), b22), m6 = product(sum(a21, a11, -1), sum(b11, b12)),
               m7 = product(sum(a12, a22, -1), sum(b21, b22));
  const square c[2][2] = {{sum(sum(m1, m4), sum(m7, m5, -1)), sum(m3, m5)},
                          {sum(m2, m4), sum(sum(m1, m3), sum(m6, m2, -1))}};
  buffer result(p);
  const std::int64_t half = p.n / 2;
  for (std::int64_t i = 0; i < p.n; ++i)
    for (std::int64_t j = 0; j < p.n; ++j)
      result.put(i, j, c[i / half][j / half].at(i % half, j % half));
  return result;
}

problem filled(std::int64_t n, fill what) {
  problem p = sized(n, n, n);
  p.data = what;
  return p;
}

reference::judgement judged_as(kzoo_precision declared, const problem& p, const buffer& words) {
  return reference::judge(reference::expected_result(p), declared, words.bytes());
}

}  // namespace

TEST_CASE("Strassen's algorithm is right norm-wise, whatever the data", "[reference]") {
  for (const std::int64_t n : {2, 16, 128}) {
    for (const fill what : {fill::uniform, fill::normal, fill::ones, fill::unequal}) {
      const problem p = filled(n, what);
      const reference::judgement j = judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, strassen(p));
      INFO(problem_name(p) << ": " << j.reason);
      CHECK(j.right);
      CHECK(j.accuracy.worst_of_allowed < 0.5);
    }
  }
  // Small elements that a large one is added to are lost.
  const problem p = filled(128, fill::unequal);
  CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32, p, strassen(p)).right);
}

TEST_CASE("a norm-wise bound is the same where all factors are zero", "[reference]") {
  const problem p = filled(1, fill::unequal);  // 2^30 x times 0
  buffer words = computed(p);
  words.put(0, 0, 1.0);
  const reference::judgement j = judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, words);
  CHECK(j.right);
  CHECK(j.accuracy.max_rho == 0.0);  // in units of nothing
  CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32, p, words).right);
  CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32_NORMWISE, filled(1, fill::zeros), words).right);
}

TEST_CASE("integers are exact norm-wise too, as long as what comes between is", "[reference]") {
  for (const fill what : {fill::integers, fill::probe, fill::signs}) {
    const problem p = filled(64, what);
    buffer words = strassen(p);
    CHECK(judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, words).accuracy.max_abs_error == 0);
    words.put(3, 4, words.at(3, 4) + 1);
    CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, words).right);
  }
  // 6 K 8 8 is more than 2^24 here, so a rounding is allowed.
  problem p = sized(4, 4, 50000);
  p.data = fill::integers;
  buffer words = computed(p);
  words.put(3, 3, words.at(3, 3) + 1);
  CHECK(judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, words).right);
}

TEST_CASE("of inputs cut to 11 bits the probe is exact norm-wise at any K", "[reference]") {
  recipe tf32;
  tf32.input = truncate_to_tf32;
  for (const std::int64_t k : {40, 512, 700, 1023, 8192, 20000}) {
    for (const fill what : {fill::probe, fill::probe_b}) {
      problem p = sized(8, 8, k);
      p.data = what;
      INFO(problem_name(p));
      CHECK(judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, computed(p)).right);
      CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, computed(p, tf32)).right);
      const operands o = operands_of(p);
      for (std::int64_t i = 0; i < 8; ++i) {
        std::int64_t terms = 0;
        for (std::int64_t j = 0; j < k; ++j)
          terms += value_at(o.a, 0, i, j) * value_at(o.b, 0, j, i) != 0 ? 1 : 0;
        CHECK(terms <= most_terms(p));
      }
    }
  }
}

TEST_CASE("TF32 is not right norm-wise up to K = 2048", "[reference]") {
  recipe tf32;
  tf32.input = truncate_to_tf32;
  for (const std::int64_t k : {1, 40, 512, 2048}) {
    const problem p = sized(48, 48, k);
    INFO(problem_name(p));
    CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32_NORMWISE, p, computed(p, tf32)).right);
  }
}

TEST_CASE("a row's weighted sum may be off as far as norm-wise bounds allow", "[reference]") {
  const problem p = sized(8, 64, 32);
  const reference::product_check check(p, KZOO_COMPUTE_FP32_NORMWISE);
  const double each = check.within.allowed(reference::expected_result(p).sizes_of(0, 0));
  const double norm = each * reference::kMostWeight * check.root_n;
  for (const auto& [share, is_right] : {std::pair{0.9, true}, {1.1, false}}) {
    const reference::weighted_row got{.value = share * reference::kMostDeviations * norm};
    CHECK(reference::is_row_right(check, {.norm = 1}, {}, got) == is_right);
  }
}

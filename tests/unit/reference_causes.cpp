// The likely cause that a judgement names, and that it names none if it is not sure.

#include "data/contents.hpp"
#include "unit/reference_samples.hpp"

#include "support/catch.hpp"

using namespace kzoo;
using namespace kzoo::samples;
using test::ContainsSubstring;

namespace {

problem scaled(const element_types& type, double alpha, double beta) {
  problem p = sized(24, 40, 33, type);
  p.alpha = alpha;
  p.beta = beta;
  return p;
}

// The reason for a kernel that computes another problem than the given one.
void check_as(const problem& given, const problem& done, const std::string& cause) {
  INFO(problem_name(given));
  buffer words(given);
  const buffer other = computed(done);
  for (std::int64_t i = 0; i < given.m; ++i)
    for (std::int64_t j = 0; j < given.n; ++j) words.put(i, j, other.at(i, j));
  const reference::judgement j = judged(given, words);
  CHECK_FALSE(j.right);
  CHECK_THAT(j.reason, Catch::Matchers::EndsWith("; likely cause: " + cause));
}

template <class Value>
std::string reason_of(const problem& p, const Value& value) {
  buffer words(p);
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) words.put(i, j, value(i, j));
  const reference::judgement j = judged(p, words);
  CHECK_FALSE(j.right);
  return j.reason;
}

double dot(const data::scaled_matrix& x, std::int64_t row, const data::scaled_matrix& y,
           std::int64_t col) {
  double sum = 0;
  for (std::int64_t k = 0; k < data::op_cols(x); ++k)
    sum += value_at(x, row, k) * value_at(y, k, col);
  return sum;
}

}  // namespace

TEST_CASE("alpha or beta left out", "[reference]") {
  for (const element_types& type : kElementTypes) {
    check_as(scaled(type, 3, 0), scaled(type, 1, 0), "alpha is left out");
    check_as(scaled(type, 3, 2), scaled(type, 1, 2), "alpha is left out");
    check_as(scaled(type, 0, 0), scaled(type, 1, 0), "alpha is left out");
    check_as(scaled(type, 3, 2), scaled(type, 3, 1), "C is added without beta");
    check_as(scaled(type, 3, 2), scaled(type, 1, 1), "alpha and beta are left out");
    check_as(scaled(type, 1, 2), scaled(type, 1, 0), "beta C is left out");
    check_as(scaled(type, 3, 2), scaled(type, 0, 2), "A B is not added");
    check_as(scaled(type, 3, 2), scaled(type, 0, 1), "C is as it was, nothing is written");
    check_as(scaled(type, 3, 2), scaled(type, 1, 0), "alpha and beta C are left out");
  }
}

TEST_CASE("all zero", "[reference]") {
  for (const element_types& type : kElementTypes) {
    CHECK_THAT(reason_of(scaled(type, 1, 0), [](auto, auto) { return 0; }),
               ContainsSubstring("likely cause: every element is 0"));
  }
  const problem p = scaled(KZOO_F32, 1, 0);
  buffer words = computed(p);
  for (std::int64_t j = 0; j < p.n; ++j) words.put(3, j, 0);
  CHECK_THAT(judged(p, words).reason,
             ContainsSubstring("; all in row 3; likely cause: they are 0"));
  CHECK_THAT(reason_of(p, [](auto, auto) { return 1e-30; }),
             !ContainsSubstring("every element is 0"));
}

TEST_CASE("wrong or transposed operands", "[reference]") {
  for (const element_types& type : kElementTypes) {
    const problem p = sized(24, 24, 24, type);
    const operands o = operands_of(p);
    const auto transposed = [&](std::int64_t i, std::int64_t j) { return dot(o.a, j, o.b, i); };
    const auto a_a = [&](std::int64_t i, std::int64_t j) { return dot(o.a, i, o.a, j); };
    const auto b_b = [&](std::int64_t i, std::int64_t j) { return dot(o.b, i, o.b, j); };
    const auto a_bt = [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 24; ++k) sum += value_at(o.a, i, k) * value_at(o.b, j, k);
      return sum;
    };
    const auto at_b = [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 24; ++k) sum += value_at(o.a, k, i) * value_at(o.b, k, j);
      return sum;
    };
    CHECK_THAT(reason_of(p, transposed), ContainsSubstring("A B is stored transposed"));
    CHECK_THAT(reason_of(p, a_a), ContainsSubstring("A A is computed, not A B"));
    CHECK_THAT(reason_of(p, b_b), ContainsSubstring("B B is computed, not A B"));
    CHECK_THAT(reason_of(p, a_bt), ContainsSubstring("B is read transposed"));
    CHECK_THAT(reason_of(p, at_b), ContainsSubstring("A is read transposed"));
  }
}

TEST_CASE("column-major kernels, and transposed operands, of matrices that are not square",
          "[reference]") {
  const problem p = sized(20, 28, 24);
  const operands o = operands_of(p);
  // As a kernel without leading dimensions finds them.
  const auto at = [](const data::matrix& x, std::int64_t index) {
    return data::decode(x.type, data::word(x, data::kRedzone + index));
  };
  const auto reason = [&](const auto& a, const auto& b) {
    return reason_of(p, [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) sum += at(o.a, a(i, j, k)) * at(o.b, b(i, j, k));
      return sum;
    });
  };
  using index = std::int64_t;
  const auto row_of_a = [&](index i, index, index k) { return i * p.k + k; };
  const auto column_of_a = [&](index i, index, index k) { return i + k * p.m; };
  const auto row_of_b = [&](index, index j, index k) { return k * p.n + j; };
  const auto column_of_b = [&](index, index j, index k) { return k + j * p.k; };
  CHECK_THAT(
      reason(row_of_a, column_of_b),
      ContainsSubstring("B is read transposed: is it a kernel for layout nt? layouts=nt in its "
                        "description says so"));
  CHECK_THAT(reason(column_of_a, row_of_b),
             ContainsSubstring("A is read transposed: is it a kernel for layout tn?"));
  CHECK_THAT(reason(column_of_a, column_of_b),
             ContainsSubstring("A and B are read transposed: is it a kernel for layout tt?"));
  const auto place = [&](index i, index j) { return i * p.n + j; };
  CHECK_THAT(reason([&](index i, index j, index k) { return place(i, j) % p.m + k * p.m; },
                    [&](index i, index j, index k) { return k + place(i, j) / p.m * p.k; }),
             ContainsSubstring("it is column-major: exchange A and B, and M and N"));
}

TEST_CASE("a column-major kernel that gets the leading dimensions", "[reference]") {
  const problem p = sized(24, 24, 24);
  const operands o = operands_of(p);
  CHECK_THAT(reason_of(p,
                       [&](std::int64_t i, std::int64_t j) {
                         double sum = 0;
                         for (std::int64_t k = 0; k < p.k; ++k)
                           sum += value_at(o.b, i, k) * value_at(o.a, k, j);
                         return sum;
                       }),
             ContainsSubstring("it is column-major: exchange A and B, and M and N"));
}

TEST_CASE("fp8 elements that are taken for the other format", "[reference]") {
  const auto misread = [](const problem& p, bool in_a, bool in_b) {
    const operands o = operands_of(p);
    const auto read = [](const data::matrix& x, std::int64_t row, std::int64_t col, bool other) {
      const auto bits = data::word(x, data::op_index(x, 0, row, col));
      return data::decode(other ? (x.type == KZOO_E4M3 ? KZOO_E5M2 : KZOO_E4M3) : x.type, bits);
    };
    return reason_of(p, [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) sum += read(o.a, i, k, in_a) * read(o.b, k, j, in_b);
      return sum;
    });
  };
  const problem uniform = sized(24, 20, 33, {KZOO_E4M3, KZOO_E4M3, KZOO_F32});
  CHECK_THAT(misread(uniform, true, true), ContainsSubstring("A and B are read as e5m2, not e4m3"));
  CHECK_THAT(misread(uniform, false, true), ContainsSubstring("B is read as e5m2, not e4m3"));
  const problem mixed = sized(24, 20, 33, {KZOO_E4M3, KZOO_E5M2, KZOO_BF16});
  CHECK_THAT(misread(mixed, false, true), ContainsSubstring("B is read as e4m3, not e5m2"));
  CHECK_THAT(misread(mixed, true, true),
             ContainsSubstring("the types of A and B are mistaken for each other"));
}

TEST_CASE("scales that are left out", "[reference]") {
  problem p = scaled({KZOO_E4M3, KZOO_E4M3, KZOO_BF16}, 3, 2);
  p.scale_a = 0.375;
  p.scale_b = 5;
  problem done = p;
  done.scale_a = 1;
  check_as(p, done, "the scale of A is left out");
  done.scale_b = 1;
  check_as(p, done, "the scales of A and B are left out");
  done.scale_a = p.scale_a;
  check_as(p, done, "the scale of B is left out");
  done = p;
  done.alpha = 1;
  check_as(p, done, "alpha is left out");
}

TEST_CASE("fp64 inputs that are rounded to fp32", "[reference]") {
  const problem p = sized(24, 20, 33, KZOO_F64);
  const operands o = operands_of(p);
  CHECK_THAT(reason_of(p,
                       [&](std::int64_t i, std::int64_t j) {
                         double sum = 0;
                         for (std::int64_t k = 0; k < p.k; ++k)
                           sum += double(float(value_at(o.a, i, k))) *
                                  double(float(value_at(o.b, k, j)));
                         return sum;
                       }),
             ContainsSubstring("differ by more than fp64 allows") &&
                 ContainsSubstring("A and B are rounded to fp32 first"));
}

TEST_CASE("a layout that is ignored", "[reference]") {
  for (const auto& [of, cause] :
       {std::pair{layout::tn, "A is read as if it were not transposed: is layout tn ignored?"},
        {layout::nt, "B is read as if it were not transposed: is layout nt ignored?"},
        {layout::tt, "A and B are read as if they were not transposed: is layout tt ignored?"}}) {
    problem p = sized(24, 24, 24);
    p.layout = of;
    const operands o = operands_of(p);
    const auto as_stored = [](const data::matrix& x, std::int64_t row, std::int64_t col) {
      return data::decode(x.type, data::word(x, data::index_of(x, row, col)));
    };
    CHECK_THAT(reason_of(p,
                         [&](std::int64_t i, std::int64_t j) {
                           double sum = 0;
                           for (std::int64_t k = 0; k < 24; ++k)
                             sum += as_stored(o.a, i, k) * as_stored(o.b, k, j);
                           return sum;
                         }),
               ContainsSubstring("likely cause: ") && ContainsSubstring(cause));
  }
}

TEST_CASE("terms along k dropped", "[reference]") {
  struct {
    std::int64_t k, kept;
    const char* sentence;
  } cases[] = {
      {512, 511, "only the first 511 of 512 terms along k are summed"},
      {511, 504, "only the first 504 of 511 terms along k are summed: the last, partial tile"},
      {100, 96, "only the first 96 of 100 terms along k are summed: the last, partial tile"},
      {7, 6, "only the first 6 of 7 terms along k are summed"},
  };
  for (kzoo_type type : {KZOO_F32, KZOO_I32}) {
    for (const auto& c : cases) {
      problem p = sized(32, 32, c.k, type);
      p.beta = 1;
      recipe how;
      how.takes = [&](std::int64_t k) { return k < c.kept; };
      CHECK_THAT(judged(p, computed(p, how)).reason, ContainsSubstring(c.sentence));
    }
  }
}

TEST_CASE("one term missing in the middle or added twice", "[reference]") {
  const problem p = sized(32, 32, 512);
  recipe how;
  how.takes = [](std::int64_t k) { return k != 77; };
  CHECK_THAT(judged(p, computed(p, how)).reason,
             ContainsSubstring("likely cause: term 77 along k is missing"));
  const operands o = operands_of(p);
  const buffer right = computed(p);
  CHECK_THAT(reason_of(p,
                       [&](std::int64_t i, std::int64_t j) {
                         return right.at(i, j) + value_at(o.a, i, 8) * value_at(o.b, 8, j);
                       }),
             ContainsSubstring("likely cause: term 8 along k is added twice"));
}

TEST_CASE("the pattern of wrong elements", "[reference]") {
  const problem p = sized(24, 40, 33);
  buffer words = computed(p);
  for (std::int64_t i = 0; i < p.m; ++i) words.put(i, 39, 50);
  CHECK_THAT(judged(p, words).reason, ContainsSubstring("24 of 960 elements of C (2.5%) differ") &&
                                          ContainsSubstring("; all in column 39 of every row"));
  // Nearly all elements of some rows: a few are right by chance.
  words = computed(p);
  for (std::int64_t j = 0; j < p.n; ++j)
    if (j != 7) words.put(11, j, 50);
  CHECK_THAT(judged(p, words).reason, ContainsSubstring("; all in row 11"));
}

TEST_CASE("no cause is named without proof", "[reference]") {
  const problem p = sized(24, 24, 24);
  const auto relative_half_width = [](std::int64_t i, std::int64_t j) {
    return double(data::hash(99, i * 24 + j) % 1000) / 100;
  };
  CHECK_THAT(reason_of(p, relative_half_width), !ContainsSubstring("likely cause"));
  // A single wrong element fits one of many k by chance.
  for (std::int64_t k : {64, 512}) {
    const problem deep = sized(16, 16, k);
    for (int step = 1; step < 40; ++step) {
      buffer words = computed(deep);
      words.put(5, 6, words.at(5, 6) + 0.05 * step);
      CHECK_THAT(judged(deep, words).reason, !ContainsSubstring("likely cause"));
    }
  }
  // With a wide tolerance, many k fit even three elements.
  const problem loose = sized(16, 16, 4096);
  buffer words = computed(loose);
  for (std::int64_t i : {2, 7, 11}) words.put(i, i, words.at(i, i) + 0.2);
  const reference::judgement j =
      reference::judge(reference::expected_result(loose), KZOO_COMPUTE_TF32, words.bytes());
  CHECK_FALSE(j.right);
  CHECK_THAT(j.reason, !ContainsSubstring("likely cause"));
}

// The judgement of a result on its device: correct results pass it, and no wrong one does.
#include "reference/product_check.hpp"

#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

using namespace kzoo;
using namespace kzoo::samples;

namespace {

// A problem whose C is exact in every element type.
problem with_exact_sums(problem p) {
  p.data = fill::signs;
  return p;
}

problem padded(problem p) {
  p.padding = 3;
  p.alpha = is_integer(p.dtype) ? -3 : -0.7;
  p.beta = is_integer(p.dtype) ? 2 : 1.3;
  return p;
}

}  // namespace

TEST_CASE("a correct product is right in any type, layout and size", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F64, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    for (const std::int64_t k : {1, 40, 3000}) {
      for (const layout given : kLayouts) {
        problem p = sized(37, 29, k, type);
        p.layout = given;
        for (const problem& each : {p, padded(p), with_exact_sums(p)}) {
          INFO(problem_name(each));
          CHECK(judged_on_cpu(each, computed(each)).right());
        }
      }
    }
  }
}

TEST_CASE("products with other numbers, or of rows that are elsewhere, are wrong", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F64, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    const problem p = padded(sized(37, 290, 200, type));
    INFO(problem_name(p));
    const buffer right = computed(p);
    problem other = p;
    other.seed += 1;
    CHECK_FALSE(judged_on_cpu(other, right).right());
    // A row that is left at zero, or is another row's. In a 16-bit C the latter may pass: the sum
    // of its errors is about 16 times what rounding allows to it, times a normal variate.
    buffer zeros = right, copied = right;
    for (std::int64_t col = 0; col < p.n; ++col) {
      zeros.put(17, col, 0);
      copied.put(17, col, right.at(18, col));
    }
    const int kTimes = 20;
    int seen = 0;
    for (int i = 0; i < kTimes; ++i) seen += judged_on_cpu(p, copied).row == 17;
    CHECK(seen >= (type_size(p.dtype.c) == 2 ? kTimes / 2 : kTimes));
    CHECK(judged_on_cpu(p, zeros).row == 17);
  }
}

TEST_CASE("one stale element among hundreds of a row is seen", "[reference]") {
  const problem p = sized(20, 500, 400);
  buffer words = computed(p);
  words.put(3, 77, words.at(3, 77) + 10);  // elements are about 12
  const reference::product_findings found = judged_on_cpu(p, words);
  CHECK(found.wrong_rows == 1);
  CHECK(found.row == 3);
}

TEST_CASE("an error of one in an element shows where sums are exact", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    const problem p = with_exact_sums(sized(40, 32, 600, type));
    const buffer right = computed(p);
    for (const double off : {1.0, -1.0, 64.0}) {
      buffer words = right;
      words.put(17, 31, words.at(17, 31) + off);
      CHECK(judged_on_cpu(p, words).row == 17);
    }
    recipe how;
    how.takes = [](std::int64_t k) { return k != 299; };
    CHECK_FALSE(judged_on_cpu(p, computed(p, how)).right());
  }
  const problem p = with_exact_sums(sized(40, 32, 600));
  buffer fraction = computed(p);
  fraction.put(5, 5, fraction.at(5, 5) + 0.25);
  CHECK(judged_on_cpu(p, fraction).row == 5);
}

TEST_CASE("of the rows that are compared whole an element shows that is off by twice its bound",
          "[reference]") {
  const problem p = sized(1, 2000, 300);  // every run compares its row
  const reference::expected_result expected(p);
  const reference::tolerance within(p, KZOO_COMPUTE_FP32);
  buffer words = computed(p);
  words.put(0, 1234, expected.value(0, 1234) + 2 * within.allowed(expected.sizes_of(0, 1234)));
  const reference::product_findings found = judged_on_cpu(p, words);
  CHECK(found.wrong_elements == reference::kWholeRows);  // drawn four times
  CHECK(found.wrong_rows == 0);                          // so little is lost in the sum of 2000
  CHECK(found.row == 0);
}

TEST_CASE("narrower inputs than declared are wrong", "[reference]") {
  recipe narrow;
  narrow.input = [](float x) { return float(_Float16(x)); };
  const problem p = sized(64, 256, 512);
  CHECK_FALSE(judged_on_cpu(p, computed(p, narrow)).right());
  CHECK(judged_on_cpu(p, KZOO_COMPUTE_FP16, computed(p, narrow)).right());
}

TEST_CASE("what was not written, or was written outside, is counted", "[reference]") {
  problem p = sized(40, 32, 16);
  p.padding = 2;
  buffer words = computed(p);
  CHECK(judged_on_cpu(p, words).right());
  words.unwrite(39, 0);
  CHECK(judged_on_cpu(p, words).c.survey.unwritten == 1);
  words = computed(p);
  words.put_word(data::index_of(words.matrix(), 7, 0) - 1, 0);  // padding of row 6
  words.put_word(3, 0);                                         // in the redzone
  CHECK(judged_on_cpu(p, words).c.survey.outside == 2);
  CHECK_FALSE(judged_on_cpu(p, words).right());
}

TEST_CASE("all products of a batch are judged", "[reference]") {
  for (const shared_operand shared : kAllOf<shared_operand>) {
    for (const layout given : kLayouts) {
      problem p = padded(sized(12, 20, 24));
      p.batch = 5;
      p.batch_padding = 3;
      p.batch_shared = shared;
      p.layout = given;
      INFO(problem_name(p));
      const auto choose = [&](shared_operand of) -> choice {
        if (shared == of) return [](std::int64_t) { return std::int64_t{0}; };
        return its_own;
      };
      const buffer right = computed(p, {}, choose(shared_operand::a), choose(shared_operand::b));
      CHECK(judged_on_cpu(p, right).right());
      buffer words = right;
      words.put(2 * p.m + 4, 1, words.at(2 * p.m + 4, 1) + 1);
      CHECK(judged_on_cpu(p, words).row == 2 * p.m + 4);
    }
  }
}

TEST_CASE("integers wrap, and are exact", "[reference]") {
  for (const fill what : {fill::full, fill::full_b}) {
    problem p = padded(sized(23, 31, 90, KZOO_I32));
    p.data = what;
    const reference::expected_result expected(p);
    buffer words(p);
    for (std::int64_t row = 0; row < p.m; ++row)
      for (std::int64_t col = 0; col < p.n; ++col)
        words.put(row, col, expected.value(std::size_t(row), col));
    CHECK(judged_on_cpu(p, words).right());
    words.put(11, 12, words.at(11, 12) + 1);
    CHECK(judged_on_cpu(p, words).row == 11);
  }
}

TEST_CASE("weights are odd, of either sign, and different for each key", "[reference]") {
  double sum = 0;
  int same = 0;
  constexpr int kColumns = 4000;
  for (std::int64_t col = 0; col < kColumns; ++col) {
    const std::int64_t w = reference::weight(7, col);
    REQUIRE((w % 2 != 0 && w >= -255 && w <= 255));
    sum += double(w);
    same += w == reference::weight(8, col);
  }
  CHECK(std::abs(sum / kColumns) < 15);  // the standard deviation of this mean is 2.3
  CHECK(same < kColumns / 64);
}

#include "unit/reference_samples.hpp"

#include "support/catch.hpp"

#include <limits>
#include <stdexcept>

using namespace kzoo;
using namespace kzoo::samples;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct bench {
  problem p;
  reference::expected_result t;
  explicit bench(const problem& q) : p(q), t(q) {}

  reference::comparison compare(const buffer& x, const buffer& y) const {
    const kzoo_precision declared = usual_precision(p.dtype.a);
    return reference::compare(t, reference::keep(t, x.bytes()), declared,
                              reference::keep(t, y.bytes()), declared);
  }
};

}  // namespace

TEST_CASE("the same bits do not differ", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    problem p = sized(9, 11, 13, type);
    p.padding = 2;
    const bench b(p);
    const buffer words = computed(p);
    const reference::comparison c = b.compare(words, words);
    CHECK(c.agree);
    CHECK(c.max_abs_diff == 0);
    CHECK(c.worst_of_allowed == 0);
  }
}

TEST_CASE("two correct results agree, a wrong one agrees with neither", "[reference]") {
  const problem p = sized(40, 50, 300);
  const bench b(p);
  recipe backwards;
  backwards.sum = reversed;
  recipe narrow;
  narrow.input = round_to_tf32;
  const buffer results[] = {computed(p), computed(p, backwards), computed(p, narrow)};

  reference::comparison matrix[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) matrix[i][j] = b.compare(results[i], results[j]);
  CHECK(matrix[0][1].agree);
  CHECK(matrix[0][1].max_abs_diff > 0);
  CHECK(matrix[0][1].worst_of_allowed > 0);
  CHECK(matrix[0][1].worst_of_allowed < 1);
  CHECK_FALSE(matrix[0][2].agree);
  CHECK_FALSE(matrix[1][2].agree);
  for (int i = 0; i < 3; ++i) {
    CHECK(matrix[i][i].agree);
    for (int j = 0; j < 3; ++j) {
      CHECK(matrix[i][j].agree == matrix[j][i].agree);
      CHECK(matrix[i][j].max_abs_diff == matrix[j][i].max_abs_diff);
      CHECK(matrix[i][j].worst_of_allowed == matrix[j][i].worst_of_allowed);
      CHECK(matrix[i][j].worst_row == matrix[j][i].worst_row);
      CHECK(matrix[i][j].worst_col == matrix[j][i].worst_col);
    }
  }
}

TEST_CASE("a result is compared by what each side declared", "[reference]") {
  const problem p = sized(40, 50, 300);
  const reference::expected_result t(p);
  recipe narrow;
  narrow.input = round_to_tf32;
  const reference::result fp32 = reference::keep(t, computed(p).bytes());
  const reference::result tf32 = reference::keep(t, computed(p, narrow).bytes());
  CHECK_FALSE(reference::compare(t, fp32, KZOO_COMPUTE_FP32, tf32, KZOO_COMPUTE_FP32).agree);
  CHECK(reference::compare(t, fp32, KZOO_COMPUTE_FP32, tf32, KZOO_COMPUTE_TF32).agree);
  CHECK(reference::compare(t, tf32, KZOO_COMPUTE_TF32, fp32, KZOO_COMPUTE_FP32).agree);
}

TEST_CASE("the worst element is located", "[reference]") {
  const problem p = sized(9, 11, 13, KZOO_I32);
  const bench b(p);
  const buffer x = computed(p);
  buffer y = x;
  y.put(7, 10, y.at(7, 10) + 3);
  const reference::comparison c = b.compare(x, y);
  CHECK_FALSE(c.agree);
  CHECK(c.max_abs_diff == 3);
  CHECK(c.worst_of_allowed == kInfinity);
  CHECK(c.worst_row == 7);
  CHECK(c.worst_col == 10);
}

TEST_CASE("NaN agrees with nothing, not even itself", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16}) {
    const problem p = sized(9, 11, 13, type);
    const bench b(p);
    const buffer right = computed(p);
    for (const auto& [row, col] : {std::pair{0, 0}, std::pair{4, 5}, std::pair{8, 10}}) {
      buffer broken = right;
      broken.put(row, col, NAN);
      buffer further = broken;
      further.put(8, 9, 1000);  // a large difference after or before it changes nothing
      for (const reference::comparison& c :
           {b.compare(right, broken), b.compare(broken, right), b.compare(broken, broken),
            b.compare(further, right)}) {
        CHECK_FALSE(c.agree);
        CHECK(std::isnan(c.max_abs_diff));
        CHECK(c.worst_of_allowed == kInfinity);
      }
      CHECK(b.compare(right, broken).worst_row == row);
      CHECK(b.compare(right, broken).worst_col == col);
    }
  }
}

TEST_CASE("an infinity agrees with the same infinity only", "[reference]") {
  const problem p = sized(4, 4, 4);
  const bench b(p);
  const buffer right = computed(p);
  buffer up = right, down = right;
  up.put(1, 1, kInfinity);
  down.put(1, 1, -kInfinity);
  CHECK(b.compare(up, up).agree);
  for (const reference::comparison& c : {b.compare(up, right), b.compare(up, down)}) {
    CHECK_FALSE(c.agree);
    CHECK(c.max_abs_diff == kInfinity);
  }
}

TEST_CASE("padding and redzones are not kept", "[reference]") {
  problem p = sized(50, 11, 13);
  p.padding = 5;
  const reference::expected_result all(p), some(p, 4.5 * 11 * 13);
  const buffer words = computed(p);
  buffer dirty = words;
  dirty.put_word(0, 0);
  dirty.put_word(data::index_of(words.matrix(), 3, 12), 0);
  CHECK(reference::keep(all, words.bytes()).elements.size() == 50 * 11 * 4);
  CHECK(reference::keep(some, words.bytes()).elements.size() == 4 * 11 * 4);
  CHECK(reference::keep(all, words.bytes()).elements ==
        reference::keep(all, dirty.bytes()).elements);
  dirty.put(49, 10, 77);  // the last row is always among the sampled ones
  CHECK(reference::keep(some, words.bytes()).elements !=
        reference::keep(some, dirty.bytes()).elements);
}

TEST_CASE("results of different problems are not compared", "[reference]") {
  const bench small(sized(4, 4, 4));
  const bench large(sized(5, 4, 4));
  const reference::result x = reference::keep(small.t, computed(small.p).bytes());
  const reference::result y = reference::keep(large.t, computed(large.p).bytes());
  CHECK_THROWS_AS(reference::compare(small.t, x, KZOO_COMPUTE_FP32, y, KZOO_COMPUTE_FP32),
                  std::invalid_argument);
}

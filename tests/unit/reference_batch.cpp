// Results of batches: right ones pass, and what is wrong is named with its product.
#include "reference/expected_result.hpp"

#include "devices/backend.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

using namespace kzoo;
using namespace kzoo::samples;
using test::ContainsSubstring;

namespace {

problem batch_of(std::int64_t count, const element_types& type = {}) {
  problem p = sized(12, 10, 8, type);
  p.batch = count;
  return p;
}

std::string reason_for(const problem& p, const buffer& words) {
  const reference::judgement j = judged(p, words);
  CHECK_FALSE(j.right);
  return j.reason;
}

std::int64_t next(const problem& p, std::int64_t product) { return (product + 1) % p.batch; }

}  // namespace

TEST_CASE("right results of batches pass", "[reference]") {
  for (const element_types& type : kElementTypes) {
    for (const shared_operand shared : kAllOf<shared_operand>) {
      for (const layout given : kLayouts) {
        problem p = batch_of(4, type);
        p.layout = given;
        p.batch_shared = shared;
        p.batch_padding = 3;
        p.padding = 2;
        p.alpha = 3;
        p.beta = -2;
        INFO(problem_name(p));
        const reference::judgement j = judged(p, computed(p));
        INFO(j.reason);
        CHECK(j.right);
        CHECK(j.accuracy.rows_checked == 48);
      }
    }
  }
}

TEST_CASE("a kernel that takes another product's operand is told so", "[reference]") {
  const problem p = batch_of(5);
  const auto further = [&](std::int64_t product) { return next(p, product); };
  const auto first = [](std::int64_t) { return 0; };
  CHECK_THAT(reason_for(p, computed(p, {}, its_own, further)),
             ContainsSubstring("is computed with B of product ") &&
                 ContainsSubstring("likely cause: product "));
  CHECK_THAT(reason_for(p, computed(p, {}, further, its_own)),
             ContainsSubstring("is computed with A of product "));
  CHECK_THAT(reason_for(p, computed(p, {}, further, further)),
             ContainsSubstring("is computed with A and B of product "));
  CHECK_THAT(reason_for(p, computed(p, {}, its_own, first)),
             ContainsSubstring("all in products 1 to 4") &&
                 ContainsSubstring("every product is computed with B of product 0"));
}

TEST_CASE("wrong elements of a batch are named by product and pattern", "[reference]") {
  problem p = batch_of(6);
  const buffer right = computed(p);
  buffer words = right;
  words.put(3 * p.m + 2, 7, 99);
  CHECK_THAT(reason_for(p, words), ContainsSubstring("the worst at product 3, row 2, column 7"));
  words = right;
  for (std::int64_t row = p.m; row < p.all_rows(); ++row)
    for (std::int64_t col = 0; col < p.n; ++col) words.unwrite(row, col);
  CHECK_THAT(reason_for(p, words),
             ContainsSubstring("not written: 600 of 720 elements of C (83.3%) still hold the "
                               "poison: products 1 to 5"));
  words = right;
  for (std::int64_t row = 0; row < p.all_rows(); ++row) words.unwrite(row, 9);
  CHECK_THAT(reason_for(p, words), ContainsSubstring("column 9 of every row of every product"));
  words = right;
  for (std::int64_t row = 2 * p.m; row < 3 * p.m; ++row) words.unwrite(row, 9);
  CHECK_THAT(reason_for(p, words), ContainsSubstring("column 9 of every row of product 2"));
}

TEST_CASE("what is between the products of C is checked as padding is", "[reference]") {
  problem p = batch_of(3);
  p.batch_padding = 4;
  p.padding = 1;
  buffer words = computed(p);
  const data::matrix& c = words.matrix();
  words.put_word(data::index_of(c, p.m, 0) + p.m * p.ldc() + 2, 0);
  CHECK_THAT(reason_for(p, words),
             ContainsSubstring("written outside C: 1 word changed, the first 3 past the last row "
                               "of product 1"));
  words = computed(p);
  words.put_word(data::index_of(c, p.m + 2, 0) + p.n, 0);
  CHECK_THAT(reason_for(p, words),
             ContainsSubstring("in the padding: product 1, row 2, column 10"));
}

TEST_CASE("some rows of a large batch are compared, of each product", "[reference]") {
  const problem p = batch_of(20);
  const double products = double(p.all_rows() * p.n * p.k);
  const reference::expected_result some(p, products / 4, 7);
  CHECK(some.rows().size() == 60);
  CHECK_FALSE(some.complete());
  const reference::expected_result all(p);
  for (std::size_t r = 0; r < some.rows().size(); ++r)
    for (std::int64_t col = 0; col < p.n; ++col)
      REQUIRE(some.value(r, col) == all.value(std::size_t(some.rows()[r]), col));
}

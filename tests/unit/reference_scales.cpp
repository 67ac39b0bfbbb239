// Scales of blocks: right results pass, and mistakes with them are named.
#include "core/operands.hpp"
#include "reference/expected_result.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

using namespace kzoo;
using namespace kzoo::samples;
using test::ContainsSubstring;

namespace {

problem with_blocks(const char* a, const char* b, const element_types& types) {
  problem p = sized(20, 33, 150, types);
  p.scale_block_a = *scale_block_from_name(a);
  p.scale_block_b = *scale_block_from_name(b);
  return p;
}

}  // namespace

TEST_CASE("products with a scale for each block are right in any layout", "[reference]") {
  for (const element_types& types : kElementTypes) {
    if (!is_scaled(types)) continue;
    for (const auto& [a, b] : {std::pair{"1x128", "128x128"}, {"1x16", "1x64"}, {"8x32", "3x7"}}) {
      for (const layout given : kLayouts) {
        problem p = with_blocks(a, b, types);
        p.layout = given;
        for (const fill data : {fill::uniform, fill::integers, fill::signs}) {
          p.data = data;
          p.alpha = data == fill::signs ? 1 : 3;
          p.beta = data == fill::signs ? 0 : -2;
          p.padding = 2;
          INFO(problem_name(p));
          CHECK(objection_to(p, computed(p)) == "");
        }
      }
    }
  }
}

TEST_CASE("each product, and each group, has scales of its own", "[reference]") {
  problem batch = with_blocks("1x32", "16x32", {KZOO_E4M3, KZOO_E4M3, KZOO_F32});
  problem groups = batch;
  batch.batch = 3;
  batch.batch_padding = 2;
  groups.groups = 4;
  groups.group_rows = data::group_rows::skewed;
  for (const problem& p : {batch, groups}) {
    INFO(problem_name(p));
    CHECK(scale_in_memory(p, "scale_b", 3, 40, 0) != scale_in_memory(p, "scale_b", 3, 40, 1));
    CHECK(objection_to(p, computed(p)) == "");
  }
}

TEST_CASE("scales differ from seed to seed, and are powers of two for integers", "[reference]") {
  problem p = with_blocks("1x128", "128x128", {KZOO_E4M3, KZOO_E4M3, KZOO_F32});
  problem other = p;
  other.seed += 1;
  CHECK(scale_in_memory(p, "scale_a", 3, 140) != scale_in_memory(other, "scale_a", 3, 140));
  for (std::int64_t row = 0; row < p.m; ++row) {
    const double scale = scale_in_memory(p, "scale_a", row, 0);
    CHECK((scale >= 0.5 && scale < 2));
  }
  p.data = fill::integers;
  for (std::int64_t row = 0; row < p.m; ++row) {
    const double scale = scale_in_memory(p, "scale_a", row, 0);
    CHECK((scale == 1 || scale == 2));
  }
}

TEST_CASE("a kernel that takes other scales is told so", "[reference]") {
  const problem p = with_blocks("1x32", "16x32", {KZOO_E4M3, KZOO_E4M3, KZOO_F32});
  const operands o = operands_of(p);
  // `scale(i, k)` in place of those of A.
  const auto reason_with = [&](const auto& scale) {
    buffer words(p);
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
          sum += value_at(o.a, i, k) * value_at(o.b, k, j) * scale(i, k) *
                 scale_in_memory(p, "scale_b", j, k);
        words.put(i, j, sum);
      }
    const reference::judgement j = judged(p, words);
    CHECK_FALSE(j.right);
    CHECK_FALSE(judged_on_cpu(p, words).right());
    return j.reason;
  };
  const auto of_a = [&](std::int64_t i, std::int64_t k) {
    return scale_in_memory(p, "scale_a", (i + p.m) % p.m, (k + p.k) % p.k);
  };
  CHECK_THAT(reason_with([](std::int64_t, std::int64_t) { return 1.0; }),
             ContainsSubstring("the scales of A are left out"));
  CHECK_THAT(reason_with([&](std::int64_t i, std::int64_t k) { return of_a(i, k + 32); }),
             ContainsSubstring("the scales of A are those of the next block along K"));
  CHECK_THAT(reason_with([&](std::int64_t i, std::int64_t k) { return of_a(i, k - 32); }),
             ContainsSubstring("the scales of A are those of the block before along K"));
  CHECK_THAT(reason_with([&](std::int64_t i, std::int64_t) { return of_a(i, 0); }),
             ContainsSubstring("the scales of A are those of the first block for all of K"));
  CHECK_THAT(reason_with([&](std::int64_t i, std::int64_t) { return of_a(i, -1); }),
             ContainsSubstring("the scales of A are those of the last block for all of K"));
  CHECK_THAT(reason_with([&](std::int64_t i, std::int64_t k) { return of_a(i + 1, k); }),
             ContainsSubstring("the scales of A are those of the next block along its other side"));
  CHECK_THAT(reason_with([&](std::int64_t, std::int64_t k) { return of_a(0, k); }),
             ContainsSubstring("the scales of A are those of the first block along its other"));
}

TEST_CASE("scaled weights of 4 bits are rounded to what is declared, but not in the probe",
          "[reference]") {
  problem p = sized(4, 4, 64, {KZOO_BF16, KZOO_I4, KZOO_BF16});
  constexpr double kSum = 0x1p20;
  const auto allowed = [&](kzoo_precision declared) {
    return reference::tolerance(p, declared).allowed({0, kSum, kSum});
  };
  const double without = allowed(KZOO_COMPUTE_BF16);
  p.scale_block_b = *scale_block_from_name("1x32");
  CHECK(allowed(KZOO_COMPUTE_BF16) > 100 * without);
  CHECK(allowed(KZOO_COMPUTE_FP32) == without);
  p.data = fill::probe;
  CHECK(reference::tolerance(p, KZOO_COMPUTE_BF16).holds_exactly(kSum));
}

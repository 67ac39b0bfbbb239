// What the error bounds accept and what they do not: orders of summation, TF32, 16 bits.

#include "unit/reference_samples.hpp"

#include "reference/tolerance.hpp"

#include "support/catch.hpp"

using namespace kzoo;
using namespace kzoo::samples;

namespace {

constexpr std::int64_t kDepths[] = {1, 2, 3, 17, 256, 4096};

float to_bf16(float x) { return bf16_bits_to_float(float_to_bf16_bits(x)); }
float to_fp16(float x) { return fp16_bits_to_float(float_to_fp16_bits(x)); }

reference::judgement judged_as(kzoo_precision declared, const problem& p, const recipe& how) {
  return reference::judge(reference::expected_result(p), declared, computed(p, how).bytes());
}

recipe with_inputs(float (*rounded)(float)) {
  recipe how;
  how.input = rounded;
  return how;
}

template <float (*kRounded)(float)>
recipe with_sums() {
  recipe how;
  how.sum = [](std::span<const float> terms) {
    float sum = 0;
    for (float term : terms) sum = kRounded(sum + term);
    return sum;
  };
  return how;
}

}  // namespace

TEST_CASE("fp32 sums are correct in any order", "[reference]") {
  for (std::int64_t k : kDepths) {
    for (const auto order : {sequential, reversed, pairwise}) {
      for (const double alpha : {1.0, 0.7}) {
        for (const double beta : {0.0, 1.3}) {
          problem p = sized(48, 32, k);
          p.alpha = alpha;
          p.beta = beta;
          recipe how;
          how.sum = order;
          const reference::judgement j = judged_as(KZOO_COMPUTE_FP32, p, how);
          INFO(problem_name(p) << ": " << j.reason);
          CHECK(j.right);
          CHECK(j.accuracy.max_rho > 0.0);
          CHECK(j.accuracy.max_rho < 6.0);
          CHECK(j.accuracy.worst_of_allowed > 0.0);
          CHECK(j.accuracy.digits > 5.0);
          CHECK(j.accuracy.rows_checked == 48);
        }
      }
    }
  }
}

TEST_CASE("TF32 inputs are wrong where fp32 is declared, correct where TF32 is", "[reference]") {
  for (std::int64_t k : kDepths) {
    for (const auto rounding : {round_to_tf32, truncate_to_tf32}) {
      const problem p = sized(64, 64, k);
      const recipe how = with_inputs(rounding);
      INFO(problem_name(p));
      const reference::judgement j = judged_as(KZOO_COMPUTE_FP32, p, how);
      CHECK_FALSE(j.right);
      CHECK_THAT(j.reason, test::ContainsSubstring("differ by more than fp32 allows"));
      CHECK_THAT(j.reason, test::ContainsSubstring("A and B are rounded to TF32 first"));
      CHECK(judged_as(KZOO_COMPUTE_TF32, p, how).reason == "");
    }
  }
}

TEST_CASE("TF32 inputs are found at large K too", "[reference]") {
  const problem p = sized(64, 64, 16384);
  CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32, p, with_inputs(round_to_tf32)).right);
  CHECK(judged_as(KZOO_COMPUTE_FP32, p, {}).right);
}

TEST_CASE("bf16 inputs are wrong where fp32 or TF32 is declared", "[reference]") {
  for (std::int64_t k : kDepths) {
    const problem p = sized(64, 64, k);
    INFO(problem_name(p));
    for (const kzoo_precision declared : {KZOO_COMPUTE_FP32, KZOO_COMPUTE_TF32}) {
      const reference::judgement j = judged_as(declared, p, with_inputs(to_bf16));
      CHECK_FALSE(j.right);
      CHECK_THAT(j.reason, test::ContainsSubstring("A and B are rounded to bf16 first"));
    }
    CHECK(judged_as(KZOO_COMPUTE_BF16, p, with_inputs(to_bf16)).reason == "");
  }
}

TEST_CASE("results of every type are correct with the sums that they are for", "[reference]") {
  for (const element_types& types : kElementTypes) {
    for (const std::int64_t k : {1, 17, 256, 2048}) {
      for (const fill data : kFills) {
        problem p = sized(12, 20, k, types);
        if (is_integer(types) && !has_integers(data)) continue;
        p.data = {data, std::min(parameter_of(data).most, 4.0)};
        p.beta = 2;
        p.alpha = -3;
        INFO(problem_name(p));
        const reference::judgement j = judged(p, computed(p));
        CHECK(j.reason == "");
        const bool as_wide = type_size(types.c) >= 4;
        if (has_integers(data) && as_wide) CHECK(j.accuracy.max_abs_error == 0);
      }
    }
  }
}

TEST_CASE("sums in fp16 are correct where they are declared", "[reference]") {
  for (const element_types& types : {element_types(KZOO_F16), {KZOO_F16, KZOO_F16, KZOO_F32}}) {
    for (const std::int64_t k : kDepths) {
      const problem p = sized(24, 24, k, types);
      const recipe how = with_sums<to_fp16>();
      INFO(problem_name(p));
      CHECK(judged_as(KZOO_COMPUTE_FP16_SUMS, p, how).reason == "");
      if (k > 3) CHECK_FALSE(judged_as(KZOO_COMPUTE_FP16, p, how).right);
    }
  }
}

TEST_CASE("sums of fp8 elements may keep 14 bits where fp8 is declared", "[reference]") {
  problem p = sized(24, 24, 4096, {KZOO_E4M3, KZOO_E4M3, KZOO_F32});
  // Sums of 128 products cut to 14 bits, added in fp32; or never added there.
  const auto cut = [](double x) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::trunc(std::ldexp(fraction, 14)), exponent - 14);
  };
  const operands o = operands_of(p);
  for (const std::int64_t promoted_after : {std::int64_t{128}, p.k}) {
    buffer words(p);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0, part = 0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          part += value_at(o.a, i, k) * value_at(o.b, k, j);
          if ((k + 1) % 32 == 0) part = cut(part);  // one instruction multiplies 32 of each row
          if ((k + 1) % promoted_after != 0) continue;
          sum += part;
          part = 0;
        }
        words.put(i, j, sum);
      }
    }
    const reference::expected_result t(p);
    CHECK(reference::judge(t, KZOO_COMPUTE_FP8, words.bytes()).right == (promoted_after == 128));
    CHECK_FALSE(reference::judge(t, KZOO_COMPUTE_FP32, words.bytes()).right);
  }
}

TEST_CASE("A B may be rounded to a 16-bit C before beta C is added, but not if C is wider",
          "[reference]") {
  struct {
    element_types dtype;
    kzoo_precision declared;
    std::int64_t k;  // so many that sums need more bits than C has
  } const cases[] = {{{KZOO_E4M3, KZOO_E4M3, KZOO_BF16}, KZOO_COMPUTE_FP8, 64},
                     {{KZOO_BF16, KZOO_BF16, KZOO_BF16}, KZOO_COMPUTE_BF16, 512},
                     {{KZOO_F16, KZOO_F16, KZOO_F16}, KZOO_COMPUTE_FP16, 4096}};
  for (const auto& each : cases) {
    problem p = sized(24, 24, each.k, each.dtype);
    INFO(problem_name(p));
    p.data = fill::integers;
    problem without = p;
    p.beta = 1;
    const operands o = operands_of(p);
    const buffer products = computed(without), rounded_once = computed(p);
    problem wide = p;
    wide.dtype.c = KZOO_F32;
    buffer words(p), wide_words(wide);
    int different = 0;
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        const float sum = products.at(i, j) + value_at(o.c, i, j);
        words.put(i, j, sum);
        wide_words.put(i, j, sum);
        different += words.at(i, j) != rounded_once.at(i, j);
      }
    }
    CHECK(different > 0);
    const reference::expected_result t(p), in_fp32(wide);
    CHECK(reference::judge(t, each.declared, words.bytes()).reason == "");
    CHECK_FALSE(reference::judge(in_fp32, each.declared, wide_words.bytes()).right);
  }
}

TEST_CASE("fill::probe tells sums in bf16 from those in fp16, where they are small",
          "[reference]") {
  problem p = sized(24, 24, 16, KZOO_F16);
  p.data = fill::probe;
  CHECK(judged_as(KZOO_COMPUTE_FP16_SUMS, p, with_sums<to_fp16>()).reason == "");
  CHECK_FALSE(judged_as(KZOO_COMPUTE_FP16_SUMS, p, with_sums<to_bf16>()).right);
}

TEST_CASE("sums of 16-bit elements in bf16 are wrong where C is fp32", "[reference]") {
  problem p = sized(24, 24, 512, {KZOO_BF16, KZOO_BF16, KZOO_F32});
  const recipe how = with_sums<to_bf16>();
  const reference::judgement j = judged_as(KZOO_COMPUTE_BF16, p, how);
  CHECK_FALSE(j.right);
  CHECK_THAT(j.reason, test::ContainsSubstring("sums are kept in bf16"));
  p.data = fill::probe;
  CHECK_FALSE(judged_as(KZOO_COMPUTE_BF16, p, how).right);
}

TEST_CASE("the probes of wide integers, bytes and fp8 tell narrower arithmetic", "[reference]") {
  const auto fp32_sums = [](problem p) {
    p.data = fill::probe;
    buffer words(p);
    const operands o = operands_of(p);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
          sum += float(value_at(o.a, i, k)) * float(value_at(o.b, k, j));
        words.put(i, j, double(sum));
      }
    }
    return reference::judge(reference::expected_result(p), usual_precision(p.dtype.a),
                            words.bytes());
  };
  CHECK_FALSE(fp32_sums(sized(8, 8, 40, KZOO_F64)).right);
  CHECK_FALSE(fp32_sums(sized(8, 8, 16384, {KZOO_I8, KZOO_I8, KZOO_I32})).right);
  CHECK(fp32_sums(sized(8, 8, 4096, {KZOO_E4M3, KZOO_E4M3, KZOO_F32})).right);
  for (const kzoo_type type : {KZOO_E4M3, KZOO_E5M2}) {  // one fraction bit fewer
    problem p = sized(8, 8, 64, {type, type, KZOO_F32});
    p.data = fill::probe;
    buffer words(p);
    const operands o = operands_of(p);
    const auto cut = [&](double x) {
      int exponent = 0;
      const double fraction = std::frexp(x, &exponent);
      const int bits = type == KZOO_E4M3 ? 3 : 2;
      return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
    };
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
          sum += cut(value_at(o.a, i, k)) * cut(value_at(o.b, k, j));
        words.put(i, j, sum);
      }
    }
    CHECK_FALSE(judged(p, words).right);
  }
}

TEST_CASE("16-bit results of fp32 sums are correct", "[reference]") {
  for (kzoo_type type : {KZOO_F16, KZOO_BF16}) {
    for (std::int64_t k : kDepths) {
      for (const double beta : {0.0, 1.3}) {
        problem p = sized(32, 48, k, type);
        p.beta = beta;
        const reference::judgement j = judged(p, computed(p));
        INFO(problem_name(p) << ": " << j.reason);
        CHECK(j.right);
        CHECK(j.accuracy.worst_of_allowed > 0.1);  // one rounding fills most of the bound
        CHECK(j.accuracy.max_rho < 6.0);           // and does not count here
      }
    }
  }
}

TEST_CASE("a 16-bit result one ulp beyond its rounding is wrong", "[reference]") {
  for (kzoo_type type : {KZOO_F16, KZOO_BF16}) {
    const problem p = sized(16, 16, 64, type);
    buffer words = computed(p);
    const std::int64_t index = data::index_of(words.matrix(), 3, 5);
    words.put_word(index, words.word(index) + 2);
    const reference::judgement j = judged(p, words);
    CHECK_FALSE(j.right);
    CHECK_THAT(j.reason, test::ContainsSubstring("1 of 256 elements of C (0.391%)"));
    CHECK_THAT(j.reason, test::ContainsSubstring("row 3, column 5"));
  }
}

TEST_CASE("sums kept in 16 bits are wrong, with that as likely cause", "[reference]") {
  const problem p = sized(32, 32, 256, KZOO_F16);
  const reference::judgement j = judged_as(KZOO_COMPUTE_FP16, p, with_sums<to_fp16>());
  CHECK_FALSE(j.right);
  CHECK_THAT(j.reason, test::ContainsSubstring("sums are kept in f16"));
}

TEST_CASE("integers are exact in every floating type", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16}) {
    problem p = sized(24, 24, 100, type);
    p.data = fill::integers;
    p.alpha = -2;
    p.beta = 1;
    buffer words = computed(p);
    CHECK(judged(p, words).reason == "");
    words.put(1, 1, words.at(1, 1) + (type == KZOO_F32 ? 0.001 : 64));
    CHECK_FALSE(judged(p, words).right);
  }
}

TEST_CASE("the probes detect inputs that are narrower than declared, at any K", "[reference]") {
  for (const fill data : {fill::probe, fill::probe_b}) {
    for (std::int64_t k : kDepths) {
      problem p = sized(40, 48, k);
      p.data = data;
      CHECK(judged_as(KZOO_COMPUTE_FP32, p, {}).accuracy.max_abs_error == 0);
      CHECK(judged_as(KZOO_COMPUTE_FP32_SPLIT, p, {}).accuracy.max_abs_error == 0);
      for (const auto rounding : {round_to_tf32, truncate_to_tf32, to_bf16}) {
        const reference::judgement j = judged_as(KZOO_COMPUTE_FP32, p, with_inputs(rounding));
        CHECK_FALSE(j.right);
        CHECK_FALSE(judged_as(KZOO_COMPUTE_FP32_SPLIT, p, with_inputs(rounding)).right);
        if (k > 1)
          CHECK_THAT(j.reason, test::ContainsSubstring("A and B are rounded to ") ||
                                   test::ContainsSubstring("are not exact"));
      }
      CHECK(judged_as(KZOO_COMPUTE_TF32, p, with_inputs(round_to_tf32)).reason == "");
    }
  }
}

namespace {

constexpr int kSpread = 20;

// hi hi + hi lo + lo hi of numbers that are rounded to a narrower format, and what that leaves.
buffer from_parts(const problem& p, float (*rounded)(float)) {
  const operands o = operands_of(p);
  buffer words(p);
  const auto parts = [&](double whole) {
    const auto x = static_cast<float>(whole);
    const float hi = rounded(x);
    return std::pair(hi, rounded(x - hi));
  };
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) {
        const auto [a, rest_a] = parts(value_at(o.a, i, k));
        const auto [b, rest_b] = parts(value_at(o.b, k, j));
        for (const float product : {rest_a * b, a * rest_b, a * b}) sum += product;
      }
      words.put(i, j, sum);
    }
  }
  return words;
}

}  // namespace

TEST_CASE("lone products detect parts that hold fewer bits than fp32 needs, at any K",
          "[reference]") {
  for (const fill data : {fill::lone, fill::lone_b}) {
    for (const int spread : {0, kSpread}) {
      for (const std::int64_t k : kDepths) {
        problem p = sized(24, 28, k);
        p.data = data;
        p.data.spread = spread;
        INFO(problem_name(p));
        const reference::expected_result t(p);
        for (const kzoo_precision declared : {KZOO_COMPUTE_FP32, KZOO_COMPUTE_FP32_SPLIT}) {
          CHECK(judged_as(declared, p, {}).accuracy.max_abs_error == 0);
          CHECK_FALSE(reference::judge(t, declared, from_parts(p, to_bf16).bytes()).right);
        }
        const buffer of_tf32 = from_parts(p, round_to_tf32);  // 22 bits
        CHECK(reference::judge(t, KZOO_COMPUTE_FP32_SPLIT, of_tf32.bytes()).right);
        CHECK_FALSE(reference::judge(t, KZOO_COMPUTE_FP32, of_tf32.bytes()).right);
      }
    }
  }
}

TEST_CASE("integers times powers of two are exact, and judged to be", "[reference]") {
  for (const fill data : {fill::integers, fill::probe, fill::probe_b}) {
    for (const kzoo_type type : {KZOO_F32, KZOO_F64, KZOO_F16, KZOO_BF16}) {
      const bool has_probe_b = type == KZOO_F32 || type == KZOO_F64;
      if (data == fill::probe_b && !has_probe_b) continue;
      problem p = sized(40, 30, 512, type);
      p.data = data;
      p.data.spread = type == KZOO_F16 ? 4 : kSpread;
      p.beta = 1;
      const buffer right = computed(p);
      INFO(problem_name(p));
      CHECK(objection_to(p, right) == "");
      if (type != KZOO_F32) continue;
      buffer off = right;  // by as little as there is
      off.put_word(data::index_of(off.matrix(), 17, 11),
                   off.word(data::index_of(off.matrix(), 17, 11)) ^ 1);
      CHECK_FALSE(judged(p, off).right);
    }
  }
}

TEST_CASE("parts of bf16 are within the bound of fp32 and beyond its usual errors", "[reference]") {
  for (const std::int64_t k : {512, 2048, 8192}) {
    const problem p = sized(64, 48, k);
    INFO(problem_name(p));
    const reference::expected_result t(p);
    const buffer parts = from_parts(p, to_bf16);
    const reference::judgement j = reference::judge(t, KZOO_COMPUTE_FP32, parts.bytes());
    CHECK_FALSE(j.right);
    CHECK(j.accuracy.worst_of_allowed < 1);
    CHECK_THAT(j.reason, test::ContainsSubstring("times as large as fp32 sums of"));
    CHECK(reference::judge(t, KZOO_COMPUTE_FP32_SPLIT, parts.bytes()).right);
  }
}

TEST_CASE("fp32 sums of any order, numbers and scalars have usual errors", "[reference]") {
  const std::vector<filling> fills{fill::uniform,      fill::normal,       {fill::sparse, 0.9},
                                   {fill::scaled, 40}, {fill::uneven, 40}, fill::unequal};
  for (const filling& data : fills) {
    for (const std::int64_t k : {1, 2, 3, 5, 9, 33, 129, 1025}) {
      for (const auto order : {sequential, reversed, pairwise}) {
        for (const auto& [alpha, beta] :
             {std::pair{1.0, 0.0}, {0.7, 0.0}, {-0.7, -1.3}, {1.0, 1e4}}) {
          problem p = sized(40, 50, k);
          p.data = data;
          p.alpha = alpha;
          p.beta = beta;
          recipe how;
          how.sum = order;
          INFO(problem_name(p));
          CHECK(judged_as(KZOO_COMPUTE_FP32, p, how).reason == "");
        }
      }
    }
  }
}

TEST_CASE("fill::probe detects 16-bit sums of 16-bit elements", "[reference]") {
  for (kzoo_type type : {KZOO_F16, KZOO_BF16}) {
    problem p = sized(24, 24, 2048, type);
    p.data = fill::probe;
    CHECK(judged(p, computed(p)).reason == "");
    // In bf16, sums are narrower than any tensor core's.
    CHECK_FALSE(judged(p, computed(p, with_sums<to_bf16>())).right);
    CHECK_FALSE(judged(p, computed(p, with_sums<to_fp16>())).right);
  }
}

TEST_CASE("fill::signs keeps every sum exact in every type", "[reference]") {
  for (kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    problem p = sized(32, 32, 20000, type);
    p.data = fill::signs;
    const buffer words = computed(p);
    const reference::judgement j = judged(p, words);
    CHECK(j.reason == "");
    CHECK(j.accuracy.max_abs_error == 0);
    CHECK(j.accuracy.relative_frobenius == 0);
  }
}

TEST_CASE("sums may start from beta C, however large that is", "[reference]") {
  for (const double beta : {1.3, 1e7, 4e7, 1e8, 1e12}) {
    problem p = sized(48, 48, 4096);
    p.data = fill::integers;
    p.beta = beta;
    const operands o = operands_of(p);
    buffer words(p);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        float sum = float(beta) * float(words.at(i, j));
        for (std::int64_t k = 0; k < p.k; ++k)
          sum += float(value_at(o.a, i, k)) * float(value_at(o.b, k, j));
        words.put(i, j, sum);
      }
    }
    INFO(beta);
    CHECK(judged(p, words).reason == "");
  }
}

TEST_CASE("a declared format that holds every element exactly does not widen the bound",
          "[reference]") {
  for (const auto& [type, wide] : {std::pair{KZOO_F16, KZOO_COMPUTE_TF32},
                                   {KZOO_BF16, KZOO_COMPUTE_TF32},
                                   {KZOO_BF16, KZOO_COMPUTE_FP16}}) {
    problem p = sized(8, 8, 256, type);
    const reference::expected_result t(p);
    CHECK(reference::tolerance(p, wide).allowed(t.sizes_of(2, 3)) ==
          reference::tolerance(p, usual_precision(type)).allowed(t.sizes_of(2, 3)));
  }
}

TEST_CASE("infinity is correct exactly where the expected value overflows the type",
          "[reference]") {
  problem p = sized(8, 8, 16, KZOO_F16);
  p.alpha = 60000;
  buffer words = computed(p);
  int infinite = 0;
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) infinite += std::isinf(words.at(i, j));
  REQUIRE(infinite > 0);
  REQUIRE(infinite < 64);
  CHECK(judged(p, words).reason == "");
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      buffer flipped = words;
      const double value = words.at(i, j);
      flipped.put(i, j, std::isinf(value) ? -value : std::copysign(INFINITY, value));
      INFO(value);
      CHECK_THAT(judged(p, flipped).reason, test::ContainsSubstring("infinite in 1 of 64"));
    }
  }
}

TEST_CASE("in rows without expected values infinities pass only if some expected value overflows",
          "[reference]") {
  problem p = sized(40, 8, 16, KZOO_F16);
  for (const double alpha : {60000.0, 1.0}) {
    p.alpha = alpha;
    const reference::expected_result t(p, 5.5 * 8 * 16);
    REQUIRE(t.rows().size() == 5);
    buffer words = computed(p);
    std::int64_t hidden = 1;
    while (hidden == t.rows()[1]) ++hidden;
    words.put(hidden, 2, INFINITY);
    CHECK(reference::judge(t, KZOO_COMPUTE_FP16, words.bytes()).right == (alpha > 1));
  }
}

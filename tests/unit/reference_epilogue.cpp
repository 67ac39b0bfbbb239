// Epilogues: what the reference makes of them, and what it allows to them.
#include "reference/epilogue.hpp"

#include "core/operands.hpp"
#include "support/catch.hpp"
#include "unit/reference_samples.hpp"

#include <kzoo/epilogue.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

using namespace kzoo;
using namespace kzoo::samples;

namespace {

problem with(problem p, const char* stages) {
  p.epilogue = epilogue_from_name(stages);
  return p;
}

// The operands of a problem as a kernel finds them.
class given_operands {
 public:
  explicit given_operands(const problem& p) : abi_(to_abi(p)) {
    for (const named_operand& operand : named_operands(p)) {
      const data::matrix& x = operand.stored;
      const auto bytes = static_cast<std::size_t>(type_size(x.type));
      auto& words = words_.emplace_back(static_cast<std::size_t>(data::word_count(x)) * bytes);
      for (std::int64_t i = 0; i < data::word_count(x); ++i) {
        const data::word_bits bits = data::word(x, i);
        std::memcpy(words.data() + static_cast<std::size_t>(i) * bytes, &bits, bytes);
      }
    }
  }

  // A kernel's own: fp32, by the functions of the CUDA library.
  float finished(float x, std::int64_t row, std::int64_t col) const {
    for (std::uint32_t i = 0; i < abi_.stage_count; ++i) {
      const kzoo_stage& stage = abi_.epilogue[i];
      kzoo::epilogue::stage own{stage.kind, 0, nullptr, 0, 0, float(stage.low), float(stage.high)};
      if (stage.kind <= KZOO_STAGE_MULTIPLY) {
        const kzoo_operand& x_of = abi_.operands[stage.operand];
        own.type = x_of.type;
        own.operand = words_[stage.operand].data() +
                      static_cast<std::size_t>(data::kRedzone) * type_size(x_of.type);
        own.row_step = x_of.rows == 1 ? 0 : x_of.ld;
        own.col_step = x_of.cols == 1 ? 0 : 1;
      }
      x = kzoo::epilogue::applied(own, x, int(row), int(col));
    }
    return x;
  }

 private:
  kzoo_problem abi_;
  std::vector<std::vector<std::byte>> words_;
};

// C as a kernel computes it that rounds to the type of C once.
buffer finished(const problem& p, const problem& applied) {
  problem products = p;  // in the type of the accumulators
  products.epilogue.clear();
  products.dtype.c = KZOO_F32;
  products.beta = 0;
  const given_operands operands(applied);
  const buffer sums = computed(products);
  buffer result(p);
  for (std::int64_t row = 0; row < p.m; ++row)
    for (std::int64_t col = 0; col < p.n; ++col) {
      const float start = p.beta == 0 ? 0 : float(p.beta) * float(result.at(row, col));
      result.put(row, col, operands.finished(float(sums.at(row, col)) + start, row, col));
    }
  return result;
}

constexpr const char* kAll[] = {"bias",
                                "bias + relu",
                                "bias:f32 + gelu",
                                "gelu_tanh",
                                "row_bias + silu + residual",
                                "row_scale + column_scale + bias:bf16",
                                "residual:f16 + clamp(-0.7, 0.3)",
                                "clamp(0, 1e+20) + bias"};

}  // namespace

TEST_CASE("an epilogue is read as it is written", "[core]") {
  for (const char* name : kAll) CHECK(epilogue_name(epilogue_from_name(name)) == name);
  CHECK(epilogue_name(epilogue_from_name(" bias+relu ")) == "bias + relu");
  CHECK(epilogue_from_name("").empty());
  CHECK(problem_name(with(sized(8, 9, 10), "bias + relu")) ==
        "8x9x10 f32 epilogue=\"bias + relu\"");
  const auto fault = [](const char* name) {
    try {
      epilogue_from_name(name);
    } catch (const std::invalid_argument& why) {
      return std::string(why.what());
    }
    return std::string("none");
  };
  CHECK(fault("bias + tanh") ==
        "\"tanh\" is none of bias, row_bias, residual, column_scale, row_scale, relu, gelu, "
        "gelu_tanh, silu, clamp(LOW, HIGH)");
  CHECK(fault("bias +") == "\"bias +\" has a + with nothing on one side");
  CHECK(fault("bias + relu + bias:f16") == "\"bias + relu + bias:f16\" has the operand bias twice");
  CHECK(fault("bias:i32") == "\"bias:i32\" has none of the types of an operand: f32, f16, bf16");
  CHECK(fault("relu:f16") == "\"relu:f16\" has no operand, and so no type");
  for (const char* clamp :
       {"clamp", "clamp(1, 0)", "clamp(1)", "clamp(a, 2)", "clamp(0, inf)", "clamp(0, 1e39)"})
    CHECK_THAT(fault(clamp), test::ContainsSubstring("is not clamp with its two limits"));
  CHECK_THAT(fault("relu + relu + relu + relu + relu + relu + relu + relu + relu"),
             test::ContainsSubstring("has 9 stages; at most 8 are possible"));
}

TEST_CASE("plugins get an epilogue as stages, and operands as matrices", "[core]") {
  problem p = with(sized(6, 10, 4, {KZOO_BF16, KZOO_BF16, KZOO_BF16}),
                   "row_scale + bias + relu + residual:f32");
  p.padding = 2;
  const kzoo_problem abi = to_abi(p);
  REQUIRE(abi.stage_count == 4);
  CHECK(abi.epilogue[0].kind == KZOO_STAGE_MULTIPLY);
  CHECK(abi.epilogue[1].kind == KZOO_STAGE_ADD);
  CHECK(abi.epilogue[2].kind == KZOO_STAGE_RELU);
  CHECK(abi.epilogue[3].operand == 2);
  REQUIRE(abi.operand_count == 3);
  const auto check = [&](int i, std::string_view name, kzoo_type type, std::int64_t rows,
                         std::int64_t cols, std::int64_t ld) {
    const kzoo_operand& x = abi.operands[i];
    CHECK(x.name == name);
    CHECK(x.type == type);
    CHECK(x.rows == rows);
    CHECK(x.cols == cols);
    CHECK(x.ld == ld);
  };
  check(0, "row_scale", KZOO_F32, 6, 1, 1);
  check(1, "bias", KZOO_BF16, 1, 10, 10);
  check(2, "residual", KZOO_F32, 6, 10, 18);
}

TEST_CASE(
    "GELU and SiLU have the values of their definitions, and no derivative is larger than "
    "the bound has it",
    "[reference]") {
  using enum stage_kind;
  CHECK(reference::activated(gelu, 1) == Approx(0.8413447460685429).epsilon(1e-14));
  CHECK(reference::activated(gelu, -3) == Approx(-0.00404969409489031).epsilon(1e-12));
  CHECK(reference::activated(gelu_tanh, 1) == Approx(0.8411919906082768).epsilon(1e-14));
  CHECK(reference::activated(silu, 1) == Approx(0.7310585786300049).epsilon(1e-14));
  CHECK(reference::activated(silu, -1000) == 0);
  for (const stage_kind what : {gelu, gelu_tanh, silu}) {
    constexpr double kStep = 1e-3;
    double steepest = 0;
    for (double x = -10; x < 10; x += kStep)
      steepest = std::max(
          steepest,
          std::abs(reference::activated(what, x + kStep) - reference::activated(what, x)) / kStep);
    const double bound = what == silu ? reference::kSteepestSilu : reference::kSteepestGelu;
    CHECK(steepest <= bound);
    CHECK(steepest > 0.998 * bound);
  }
}

TEST_CASE("a correct epilogue is right in any type, on both sides", "[reference]") {
  for (const element_types& types :
       {element_types(KZOO_F32), element_types(KZOO_F16), element_types(KZOO_BF16),
        element_types(KZOO_BF16, KZOO_BF16, KZOO_F32)}) {
    for (const char* stages : kAll) {
      problem p = with(sized(37, 70, 90, types), stages);
      problem general = p;
      general.alpha = -0.7;
      general.beta = 1.3;
      general.padding = 3;
      problem exact = p;
      exact.data = fill::signs;
      for (const problem& each : {p, general, exact}) {
        INFO(problem_name(each));
        CHECK(objection_to(each, finished(each, each)) == "");
      }
    }
  }
}

TEST_CASE("another epilogue, or none, is wrong", "[reference]") {
  const problem p = with(sized(37, 70, 90), "bias + gelu");
  for (const char* other : {"", "bias", "gelu", "gelu + bias", "bias + gelu_tanh", "bias + silu",
                            "bias + relu", "row_bias + gelu"}) {
    INFO(other);
    const buffer wrong = finished(p, with(p, other));
    CHECK_FALSE(judged(p, wrong).right);
    CHECK_FALSE(judged_on_cpu(p, wrong).right());
  }
  const auto cause = [&](const char* other) {
    return judged(p, finished(p, with(p, other))).reason;
  };
  CHECK_THAT(cause(""), test::ContainsSubstring("likely cause: the epilogue is left out"));
  CHECK_THAT(cause("bias"), test::ContainsSubstring("likely cause: gelu is left out"));
  CHECK_THAT(cause("gelu"), test::ContainsSubstring("likely cause: bias is left out"));
  CHECK_THAT(cause("gelu + bias"), test::ContainsSubstring("applied in reverse order"));
  CHECK_THAT(cause("bias + gelu_tanh"),
             test::ContainsSubstring("GELU is computed by tanh, not by erf"));
}

// cuBLASLt's GELU on an H100 is off by 2^-17.95 |x| where C is fp32, also on integers, whose sums
// are exact.
TEST_CASE("an activation may be as far off as that of a library, and not much more",
          "[reference]") {
  for (const fill what : {fill::uniform, fill::signs}) {
    problem p = with(sized(37, 70, 16), "gelu_tanh");
    p.data = what;
    const auto off_by = [&](double of_x) {
      buffer words(p);
      const buffer sums = computed(with(p, ""));
      for (std::int64_t row = 0; row < p.m; ++row)
        for (std::int64_t col = 0; col < p.n; ++col) {
          const double x = sums.at(row, col);
          words.put(row, col,
                    reference::activated(stage_kind::gelu_tanh, x) +
                        of_x * std::min(std::abs(x), reference::kActivationEnd));
        }
      return judged(p, words);
    };
    INFO(problem_name(p));
    CHECK(off_by(0x1.1p-18).reason == "");
    CHECK_FALSE(off_by(0x1p-16).right);
  }
}

TEST_CASE("an activation is held to its own error where sums are kept in fp16", "[reference]") {
  problem p = with(sized(37, 70, 16, KZOO_F16), "gelu");
  const auto verdict = [&](const buffer& words) {
    return reference::judge(reference::expected_result(p), KZOO_COMPUTE_FP16_SUMS, words.bytes());
  };
  CHECK(verdict(finished(p, p)).reason.empty());
  CHECK_FALSE(verdict(finished(p, with(p, ""))).right);
  CHECK_FALSE(verdict(finished(p, with(p, "clamp(0, 0)"))).right);
}

TEST_CASE("a part of C that is stale shows wherever it is", "[reference]") {
  const problem p = with(sized(70, 100, 30), "bias + relu + residual");
  problem before = p;
  before.seed += 1;
  const buffer right = finished(p, p), stale = finished(before, before);
  for (const std::int64_t row : {0, 32, 64}) {
    for (const std::int64_t col : {0, 64, 96}) {
      buffer words = right;
      for (std::int64_t r = row; r < std::min(row + 32, p.m); ++r)
        for (std::int64_t c = col; c < std::min(col + 32, p.n); ++c)
          words.put(r, c, stale.at(r, c));
      const reference::product_findings found = judged_on_cpu(p, words);
      CHECK(found.wrong_elements >= 1);
      CHECK((found.row >= row && found.row < row + 32));
    }
  }
}

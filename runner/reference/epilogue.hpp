#pragma once
// An epilogue's effect on an element, in fp64, and on the element's error: for the reference on the
// CPU and the judges on both devices.
//
// A stage f turns x, with error e, into f(x), with error g e + r. g is the largest derivative of f,
// r the error of computing f. Adding and multiplying round once. Accumulators may start at operands
// that are added before all other stages, as at beta C0. Then K roundings, a random walk, have the
// operand's magnitude. The derivatives of GELU and SiLU are largest, 1.129 and 1.0999, where the
// second derivatives are 0: at x = sqrt(2) and x = 2.3994. Activations may be off by kActivation
// |x|, for |x| up to 8. In fp32 this is twice the error of cuBLASLt's GELU on an H100, which uses
// tanh.approx.f32. In 16 bits it covers that instruction's guaranteed 11 bits and the difference
// between both GELUs.

#include "core/problem.hpp"
#include "data/contents.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define KZOO_JUDGE_FUNCTION __host__ __device__ inline
#else
#define KZOO_JUDGE_FUNCTION inline
#endif

namespace kzoo::reference {

inline constexpr double kSteepestGelu = 1.13, kSteepestSilu = 1.1;
inline constexpr double kActivation = 0x1p-17, kNarrowActivation = 0x1p-10;
inline constexpr double kActivationEnd = 8;

struct applied_stage {
  stage_kind kind;
  data::matrix operand;  // if the stage has one
  double low, high;
};

// Trivially copyable: kernels receive it.
struct applied_epilogue {
  explicit applied_epilogue(const problem& p);

  std::array<applied_stage, kMostStages> stages;
  int count = 0;
  std::int64_t m;     // rows of one matrix C
  double activation;  // kActivation or kNarrowActivation
  double start_walk;  // accumulators that start at a value lose u times this factor of it
};

// After the epilogue, an error e is at most gain * e + u * roundings + extra.
struct finished_element {
  double value;
  double gain = 1, roundings = 0, extra = 0;
};

// The stage's operand for an element of C; `row` counts over all matrices of the batch.
constexpr double operand_at(const applied_stage& stage, std::int64_t m, std::int64_t row,
                            std::int64_t col) {
  const data::matrix& x = stage.operand;
  if (stage.kind == stage_kind::bias || stage.kind == stage_kind::column_scale) row = 0;
  if (stage.kind == stage_kind::row_bias || stage.kind == stage_kind::row_scale) {
    row %= m;
    col = 0;
  }
  return data::decode(x.type, data::element_in(x, row, data::index_of(x, row, col)));
}

KZOO_JUDGE_FUNCTION double activated(stage_kind kind, double x) {
  constexpr double kRootHalf = 0.70710678118654752440;
  constexpr double kRootTwoByPi = 0.79788456080286535588, kCubic = 0.044715;
  switch (kind) {
    case stage_kind::gelu: return 0.5 * x * erfc(-x * kRootHalf);
    case stage_kind::gelu_tanh:
      return 0.5 * x * (1 + tanh(kRootTwoByPi * (x + kCubic * x * x * x)));
    default: return x / (1 + exp(-x));
  }
}

// `x`: the element of alpha A B + beta C0.
KZOO_JUDGE_FUNCTION finished_element finished(const applied_epilogue& e, double x, std::int64_t row,
                                              std::int64_t col) {
  finished_element at{x};
  bool may_start = true;
  const auto next = [&at](double value, double gain, double roundings, double error = 0) {
    at = {value, gain * at.gain, gain * at.roundings + roundings, gain * at.extra + error};
  };
  for (int i = 0; i < e.count; ++i) {
    const applied_stage& stage = e.stages[static_cast<std::size_t>(i)];
    const double before = at.value;
    may_start = may_start && adds(stage.kind);
    if (adds(stage.kind)) {
      const double other = operand_at(stage, e.m, row, col), sum = before + other;
      next(sum, 1, fabs(sum) + (may_start ? e.start_walk * fabs(other) : 0.0));
    } else if (multiplies(stage.kind)) {
      const double factor = operand_at(stage, e.m, row, col);
      next(before * factor, fabs(factor), fabs(before * factor));
    } else if (stage.kind == stage_kind::relu) {
      next(before > 0 ? before : 0, 1, 0);
    } else if (stage.kind == stage_kind::clamp) {
      const double limited = fmin(fmax(before, stage.low), stage.high);
      next(limited, 1, limited == before ? 0 : fabs(limited));  // the limit is rounded to the
                                                                // accumulators' type
    } else {
      constexpr double kRoundings = 4;  // multiplications and divisions
      const double steepest = stage.kind == stage_kind::silu ? kSteepestSilu : kSteepestGelu;
      const double value = activated(stage.kind, before);
      next(value, steepest, kRoundings * fabs(value),
           e.activation * fmin(fabs(before), kActivationEnd));
    }
  }
  return at;
}

}  // namespace kzoo::reference

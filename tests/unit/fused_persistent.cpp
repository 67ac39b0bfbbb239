// fused_persistent: the errors of its activations, and what it makes of a thread's accumulators.
#include <hopper/fused_persistent/finished.hpp>

#include "core/problem.hpp"
#include "reference/epilogue.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

// The largest error of the formula at x from -20 to 20, as a part of what is allowed there. The
// GPU's tanh, which is not the one here, adds a quarter: 2^-11 of x/2.
template <class Activation>
double part_of_allowed(Activation a, kzoo::stage_kind what) {
  using namespace kzoo::reference;
  double worst = 0;
  for (int i = -20 * 1024; i <= 20 * 1024; ++i) {
    const float x = static_cast<float>(i) / 1024;
    const double allowed =
        kNarrowActivation * std::min(std::fabs(double(x)), kActivationEnd) + 1e-30;
    worst = std::max(worst, std::fabs(double(a(x)) - activated(what, x)) / allowed);
  }
  return worst;
}

TEST_CASE("Activations with one tanh are right to a quarter of what C in 16 bits is allowed",
          "[fused_persistent]") {
  using kzoo::stage_kind;
  CHECK(part_of_allowed(fused_persistent::kGelu, stage_kind::gelu) < 0.15);
  CHECK(part_of_allowed(fused_persistent::kGeluTanh, stage_kind::gelu_tanh) < 0.001);
  CHECK(part_of_allowed(fused_persistent::silu, stage_kind::silu) < 0.001);

  const auto is_right_at_the_ends = [](auto a) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    return a(kLargest) == kLargest && a(-kLargest) == 0 &&
           std::isnan(a(std::numeric_limits<float>::quiet_NaN()));
  };
  CHECK(is_right_at_the_ends(fused_persistent::kGelu));
  CHECK(is_right_at_the_ends(fused_persistent::kGeluTanh));
  CHECK(is_right_at_the_ends(fused_persistent::silu));
}

// An m x n product's C, and operands of all kinds, of elements that differ.
template <class T>
struct layer {
  int m, n;
  std::ptrdiff_t ldc = n + n % 2;
  std::vector<T> c = numbers<T>(m * ldc, 3), bias = numbers<T>(n, 5),
                 residual = numbers<T>(m * ldc, 7);
  std::vector<float> column_scale = numbers<float>(n, 11), row_scale = numbers<float>(m, 13);
  std::vector<__half> others_bias = numbers<__half>(n, 17);

  template <class E>
  static std::vector<E> numbers(std::ptrdiff_t count, int seed) {
    std::vector<E> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<E>(static_cast<float>((i * 37 + seed * 101) % 64) / 16.0f - 2.0f);
    return all;
  }

  template <class E>
  static kzoo::epilogue::stage with(kzoo_stage_kind kind, const std::vector<E>& x,
                                    std::ptrdiff_t row_step, std::ptrdiff_t col_step) {
    return {kind, kzoo::element_traits<E>::type, x.data(), row_step, col_step, 0, 0};
  }
  static kzoo::epilogue::stage plain(kzoo_stage_kind kind) {
    return {kind, 0, nullptr, 0, 0, -0.75f, 1.5f};
  }

  // "", or where the accumulators of a 64 x 16 tile's threads, each 10 r + c before, become
  // something else than store() of a fused_gemm makes of them.
  std::string difference(std::initializer_list<kzoo::epilogue::stage> stages, float alpha,
                         float beta) const {
    kzoo::fused_gemm<T> all{};
    all.m = m;
    all.n = n;
    all.ldc = ldc;
    auto out = c;
    all.c = out.data();
    all.alpha = alpha;
    all.beta = beta;
    for (const auto& stage : stages) all.finish.stages[all.finish.count++] = stage;
    const fused_persistent::finished<kzoo::gemm<T>> own(all, all.finish);
    const auto sum = [](int row, int col) { return static_cast<float>(row % 5 - col % 7) / 4; };

    for (int thread = 0; thread < 128; ++thread) {
      const int row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
      float acc[8];
      for (int i = 0; i < 8; ++i) acc[i] = sum(row + i % 4 / 2 * 8, col + i / 4 * 8 + i % 2);
      own.finish(row, col, acc);
      for (int i = 0; i < 8; ++i) {
        const int r = row + i % 4 / 2 * 8, k = col + i / 4 * 8 + i % 2;
        if (r >= m || k >= n) continue;
        const float before = static_cast<float>(c[r * ldc + k]);
        const float expected =
            all.finish(alpha * sum(r, k) + (beta == 0 ? 0 : beta * before), r, k);
        if (std::fabs(acc[i] - expected) > 1e-3f * std::max(1.0f, std::fabs(expected)))
          return "(" + std::to_string(r) + ", " + std::to_string(k) +
                 "): " + std::to_string(acc[i]) + " for " + std::to_string(expected);
      }
    }
    return "";
  }
};

template <class T>
void check_layers() {
  for (const int n : {16, 14, 9, 1}) {
    for (const int m : {64, 41, 1}) {
      const layer<T> x{m, n};
      CAPTURE(m, n);
      const auto bias = x.with(KZOO_STAGE_ADD, x.bias, 0, 1),
                 others_bias = x.with(KZOO_STAGE_ADD, x.others_bias, 0, 1),
                 residual = x.with(KZOO_STAGE_ADD, x.residual, x.ldc, 1),
                 column_scale = x.with(KZOO_STAGE_MULTIPLY, x.column_scale, 0, 1),
                 narrow_scale = x.with(KZOO_STAGE_MULTIPLY, x.bias, 0, 1),
                 row_bias = x.with(KZOO_STAGE_ADD, x.row_scale, 1, 0),
                 row_scale = x.with(KZOO_STAGE_MULTIPLY, x.row_scale, 1, 0);
      CHECK(x.difference({}, 1, 0) == "");
      CHECK(x.difference({}, 0.7f, 1.3f) == "");
      CHECK(x.difference({bias, x.plain(KZOO_STAGE_GELU)}, 1, 0) == "");
      CHECK(x.difference({others_bias, x.plain(KZOO_STAGE_RELU)}, 1, 0) == "");
      CHECK(x.difference({row_bias, x.plain(KZOO_STAGE_CLAMP)}, 2, 0) == "");
      CHECK(x.difference({narrow_scale, row_scale, x.plain(KZOO_STAGE_GELU_TANH)}, 1, -1) == "");
      CHECK(x.difference({column_scale, bias, x.plain(KZOO_STAGE_SILU), residual}, 0.5f, 0) == "");
    }
  }
}

TEST_CASE("A thread's accumulators go through all stages of an epilogue", "[fused_persistent]") {
  check_layers<__half>();
  check_layers<__nv_bfloat16>();
}

}  // namespace

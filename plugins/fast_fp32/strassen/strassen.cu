// One level of Strassen's algorithm: seven products of half the size instead of eight, each by the
// fastest kernel for fp32.
//
//   M1 = (A11 + A22) (B11 + B22)    M4 = A22 (B21 - B11)      C11 = M1 + M4 - M5 + M7
//   M2 = (A21 + A22) B11            M5 = (A11 + A12) B22      C12 = M3 + M5
//   M3 = A11 (B12 - B22)            M6 = (A21 - A11) (B11 + B12)    C21 = M2 + M4
//                                   M7 = (A12 - A22) (B21 + B22)    C22 = M1 - M2 + M3 + M6
//
// Where a dimension is odd, say, the second quadrants are smaller than the first. What they lack is
// zero, and is neither read nor multiplied.

#include <fp32/14_pipelined/pipelined.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "plan.hpp"

namespace strassen {

using pipeline = pipelined::variant<128, 256, 16, 5, 1>;

class variant {
 public:
  static constexpr kzoo_precision precision = KZOO_COMPUTE_FP32_NORMWISE;
  static constexpr unsigned compute_capability = 80;
  // A11 + A22 is not the opposite of itself when rows of A11 alone change sign.
  static constexpr bool nondeterministic = true;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    return pipeline::supports(p, d);
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const plan all(p);
    if (!all.is_halved()) return pipeline::workspace_bytes(p, d);
    std::size_t most = 0;
    for (int i = 0; i < kProducts; ++i) {
      most = std::max(most, pipeline::workspace_bytes(all.product(p, i), d));
    }
    return all.elements() * sizeof(float) + most;
  }

  variant(const kzoo_problem& p, const kzoo_device& d) : plan_(p) {
    if (!plan_.is_halved()) {
      pipelines_[0].emplace(p, d);
      return;
    }
    for (int i = 0; i < kProducts; ++i) pipelines_[i].emplace(plan_.product(p, i), d);
  }

  void run(const kzoo::gemm<float>& g, const kzoo_arguments& args) const {
    if (!plan_.is_halved()) return pipelines_[0]->run(g, args);
    const auto stream = static_cast<kzoo::stream_t>(args.stream);
    auto* const workspace = static_cast<float*>(args.workspace);
    const quadrants a = plan_.a_in(g, workspace), b = plan_.b_in(g, workspace);
    const bool aligned = g.k % 4 == 0 && g.n % 4 == 0 && g.rows_aligned(16);
    for (const quadrants& x : {a, b}) {
      launch(aligned ? add_quadrants<true> : add_quadrants<false>, x.q11, stream, x);
    }
    const std::array<view<const float>, kProducts> left_of{
        a.of(diagonal), a.of(lower), a.q11, a.q22, a.of(upper), a.of(left), a.of(right)};
    const std::array<view<const float>, kProducts> right_of{
        b.of(diagonal), b.q11, b.of(right), b.of(left), b.q22, b.of(upper), b.of(lower)};
    kzoo_arguments rest = args;
    rest.workspace = workspace + plan_.elements();
    products all;
    for (int i = 0; i < kProducts; ++i) {
      const shape s = plan_.shapes()[i];
      float* const to = plan_.product_in(workspace, i);
      const view<const float>&x = left_of[i], &y = right_of[i];
      const kzoo::gemm<float> product{.m = s.rows,
                                      .n = s.cols,
                                      .k = s.steps,
                                      .lda = x.row_length,
                                      .ldb = y.row_length,
                                      .ldc = plan_.n.first,
                                      .a = x.data,
                                      .b = y.data,
                                      .c = to,
                                      .alpha = 1.0f,
                                      .beta = 0.0f};
      pipelines_[i]->run(product, rest);
      all.m[i] = {to, plan_.n.first, s.rows, s.cols};
    }
    launch(aligned ? combine<true> : combine<false>, all.m[0], stream, g, all, plan_.m, plan_.n);
  }

 private:
  // A thread for four neighbours of what is as large as `whole`.
  template <class... Parameters, class... Arguments>
  static void launch(void (*kernel)(Parameters...), const view<const float>& whole,
                     kzoo::stream_t stream, const Arguments&... arguments) {
    const std::int64_t threads = std::int64_t{whole.rows} * (whole.cols / kWidth);
    kzoo::launch({.grid = dim3(static_cast<unsigned>((threads + kThreads - 1) / kThreads)),
                  .block = dim3(kThreads),
                  .max_threads = kThreads,
                  .stream = stream},
                 kernel, arguments...);
  }

  plan plan_;
  std::array<std::optional<pipeline>, kProducts> pipelines_;  // the first alone: of the whole
};

}  // namespace strassen

KZOO_PLUGIN("strassen", "One level of Strassen's algorithm over the kernel of pipelined",
            kzoo::variant<strassen::variant>("one_level", "seven products of half the size"));

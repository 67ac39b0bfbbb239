#pragma once
// Products with everything that a call may have, and what they come to in fp64.

#include <kzoo/kzoo.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kzoo::test {

struct random_product {
  kzoo_operation transa, transb;
  std::int64_t m, n, k, lda, ldb, ldc, batch, stride_a, stride_b, stride_c;
  bool row_major;
  float alpha, beta;
  std::vector<float> a, b, c;

  explicit random_product(std::mt19937& random, std::int64_t largest = 300) {
    const auto up_to = [&](std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(0, most)(random);
    };
    const auto size = [&] {
      return up_to(3) == 0 ? 1 + up_to(largest - 1) : 1 + up_to(largest / 3 - 1);
    };
    transa = static_cast<kzoo_operation>(up_to(2));
    transb = static_cast<kzoo_operation>(up_to(2));
    m = size(), n = size(), k = size();
    row_major = up_to(1) == 0;
    alpha = std::vector{1.0f, -0.5f, 3.25f}[static_cast<std::size_t>(up_to(2))];
    beta = std::vector{0.0f, 0.0f, 1.0f, -2.0f}[static_cast<std::size_t>(up_to(3))];
    batch = up_to(4) == 0 ? 2 + up_to(3) : 1;
    const auto padding = [&] { return up_to(1) * up_to(9); };
    // Of one line in memory, and how many lines there are.
    const bool a_lines_k = (transa == KZOO_OP_N) == row_major;
    const bool b_lines_n = (transb == KZOO_OP_N) == row_major;
    lda = (a_lines_k ? k : m) + padding();
    ldb = (b_lines_n ? n : k) + padding();
    ldc = (row_major ? n : m) + padding();
    stride_a = up_to(3) == 0 ? 0 : lda * (a_lines_k ? m : k) + padding();
    stride_b = up_to(3) == 0 ? 0 : ldb * (b_lines_n ? k : n) + padding();
    stride_c = ldc * (row_major ? m : n) + padding();
    std::uniform_real_distribution<float> number(-1, 1);
    const auto fill = [&](std::vector<float>& x, std::int64_t elements) {
      x.resize(static_cast<std::size_t>(elements));
      for (float& f : x) f = number(random);
    };
    fill(a, lda * (a_lines_k ? m : k) + (batch - 1) * stride_a);
    fill(b, ldb * (b_lines_n ? k : n) + (batch - 1) * stride_b);
    fill(c, batch * stride_c);
    if (beta == 0) std::fill(c.begin(), c.end(), std::numeric_limits<float>::quiet_NaN());
  }

  std::string name() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " op " +
           std::to_string(transa) + std::to_string(transb) + " ld " + std::to_string(lda) + "," +
           std::to_string(ldb) + "," + std::to_string(ldc) + (row_major ? " row-major" : "") +
           " batch " + std::to_string(batch) + " alpha " + std::to_string(alpha) + " beta " +
           std::to_string(beta);
  }

  std::size_t index(std::int64_t row, std::int64_t col, std::int64_t ld, bool transposed) const {
    if (transposed) std::swap(row, col);
    return static_cast<std::size_t>(row_major ? row * ld + col : col * ld + row);
  }

  // The largest error of `got` in units of what rounding in fp32 allows; infinite if an element
  // outside the matrix has changed.
  double worst_error(const std::vector<float>& got) const {
    double worst = 0;
    std::vector<bool> inside(got.size());
    for (std::int64_t i = 0; i < batch; ++i) {
      const float* from_a = a.data() + i * stride_a;
      const float* from_b = b.data() + i * stride_b;
      for (std::int64_t row = 0; row < m; ++row) {
        for (std::int64_t col = 0; col < n; ++col) {
          double sum = 0, magnitude = 0;
          for (std::int64_t x = 0; x < k; ++x) {
            const double product = double(from_a[index(row, x, lda, transa != KZOO_OP_N)]) *
                                   double(from_b[index(x, col, ldb, transb != KZOO_OP_N)]);
            sum += product;
            magnitude += std::abs(product);
          }
          const std::size_t at =
              static_cast<std::size_t>(i * stride_c) + index(row, col, ldc, false);
          inside[at] = true;
          const double before = beta == 0 ? 0 : double(beta) * double(c[at]);
          const double allowed =
              0x1p-24 * double(k + 4) *
              (std::abs(double(alpha)) * magnitude + std::abs(before) + 0x1p-100);
          const double error = std::abs(double(got[at]) - (double(alpha) * sum + before));
          worst = std::isnan(error) ? INFINITY : std::max(worst, error / allowed);
        }
      }
    }
    for (std::size_t at = 0; at < got.size(); ++at) {
      const bool same = got[at] == c[at] || (std::isnan(got[at]) && std::isnan(c[at]));
      if (!inside[at] && !same) return INFINITY;
    }
    return worst;
  }

  // Calls kzoo_gemm_ex on a copy of C, which it leaves in `result`.
  kzoo_status call(kzoo_handle handle, std::vector<float>& result, void* stream = nullptr) const {
    result = c;
    kzoo_call how{};
    how.struct_size = sizeof how;
    how.stream = stream;
    how.row_major = row_major ? 1 : 0;
    how.batch = batch;
    how.stride_a = stride_a;
    how.stride_b = stride_b;
    how.stride_c = stride_c;
    return kzoo_gemm_ex(handle, transa, transb, m, n, k, &alpha, a.data(), KZOO_F32, lda, b.data(),
                        KZOO_F32, ldb, &beta, result.data(), KZOO_F32, ldc, &how);
  }
};

}  // namespace kzoo::test

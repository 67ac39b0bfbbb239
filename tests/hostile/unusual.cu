// Correct but unusual kernels: none may be blamed.
#include "hostile.hpp"

#include <cstddef>

namespace {

using hostile::gemm;
using hostile::honest;

// Compensated sums (Kahan 1965). The correction of an infinity would be NaN.
struct kahan : hostile::per_element<kahan> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0, lost = 0;
    for (int i = 0; i < g.k; ++i) {
      const float term = g.a_at(row, i) * g.b_at(i, col) - lost;
      const float next = sum + term;
      lost = isfinite(next) ? (next - sum) - term : 0;
      sum = next;
    }
    g.store(row, col, sum);
  }
};

// Copies B, transposed, into a large workspace.
__global__ void transpose_kernel(gemm g, float* transposed) {
  for (int i = hostile::row(); i < g.k; i += gridDim.y * blockDim.y)
    if (hostile::col() < g.n)
      transposed[std::size_t(hostile::col()) * std::size_t(g.k) + std::size_t(i)] =
          g.b_at(i, hostile::col());
}
__global__ void product_of_transposed_kernel(gemm g, const float* transposed) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  const float* column = transposed + std::size_t(col) * std::size_t(g.k);
  float sum = 0;
  for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * column[i];
  g.store(row, col, sum);
}
struct large_workspace : honest {
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const std::size_t least = d.kind == KZOO_CUDA ? std::size_t(256) << 20 : std::size_t(1) << 20;
    return least + std::size_t(p.n) * std::size_t(p.k) * sizeof(float);
  }
  void run(const gemm& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    const auto transposed = static_cast<float*>(arguments.workspace);
    hostile::launch(transpose_kernel, g, stream, transposed);
    hostile::launch(product_of_transposed_kernel, g, stream, transposed);
  }
};

// Two halves of K are added to C in no fixed order; the first launch writes beta C.
__global__ void scale_kernel(gemm g) {
  if (hostile::row() < g.m && hostile::col() < g.n) g.store(hostile::row(), hostile::col(), 0);
}
__global__ void add_part_kernel(gemm g, int first, int last) {
  const int row = hostile::row(), col = hostile::col();
  if (row >= g.m || col >= g.n) return;
  float sum = 0;
  for (int i = first; i < last; ++i) sum += g.a_at(row, i) * g.b_at(i, col);
  atomicAdd(&g.c[std::size_t(row) * std::size_t(g.ldc) + std::size_t(col)], g.alpha * sum);
}
struct atomics : honest {
  static constexpr bool nondeterministic = true;
  void run(const gemm& g, kzoo::stream_t stream) const {
    hostile::launch(scale_kernel, g, stream);
    hostile::launch(add_part_kernel, g, stream, 0, g.k / 2);
    hostile::launch(add_part_kernel, g, stream, g.k / 2, g.k);
  }
};

// A launch for each of 1500 parts of C.
__global__ void part_kernel(gemm g, std::size_t first, std::size_t last) {
  for (std::size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
    const auto n = static_cast<std::size_t>(g.n);
    hostile::store_product(g, static_cast<int>(i / n), static_cast<int>(i % n));
  }
}
struct many_launches : honest {
  void run(const gemm& g, kzoo::stream_t stream) const {
    constexpr std::size_t kParts = 1500;
    const std::size_t size = std::size_t(g.m) * std::size_t(g.n);
    for (std::size_t i = 0; i < kParts; ++i)
      kzoo::launch({.grid = dim3(1), .block = dim3(32), .stream = stream}, part_kernel, g,
                   size * i / kParts, size * (i + 1) / kParts);
  }
};

}  // namespace

KZOO_PLUGIN("unusual", "Right, in ways that few kernels are",
            kzoo::variant<kahan>("kahan", "compensated sums"),
            kzoo::variant<large_workspace>("large_workspace", "256 MB on a GPU"),
            kzoo::variant<atomics>("atomics", "adds in no fixed order"),
            kzoo::variant<many_launches>("many_launches", "1500"));

#pragma once
// Groups of rows, as a mixture of experts has them: the rows of A and C are split into groups, each
// of which is multiplied by a B of its own. A variant that says
//
//   static constexpr bool groups = true;
//
// gets a kzoo::grouped_gemm where its problem has groups. Where they begin is known on the device
// alone, in memory, and changes from run to run.

#include <kzoo/cuda.hpp>
#include <kzoo/gemm.hpp>

#include <cstddef>

namespace kzoo {

// Like a gemm_batch, a kernel takes a product of it: `const auto g = groups[blockIdx.z];`, whose
// g.m rows are those of the group; there may be none.
template <class T, layout kLayout = layout::nn>
struct grouped_gemm {
  using element = T;
  using a_type = typename gemm<T, kLayout>::a_type;
  using b_type = typename gemm<T, kLayout>::b_type;
  using c_type = typename gemm<T, kLayout>::c_type;
  using accumulator_type = accumulator_t<T>;
  static_assert(!is_a_transposed(kLayout), "the rows of a group lie together in memory");

  gemm<T, kLayout> all;  // all rows, with the B of the first group
  int count;
  std::ptrdiff_t stride_b;  // elements from one group's B to the next one's
  const int* offsets;       // count + 1, from 0 to all.m, in device memory

  int products() const { return count; }
  // What a grid has to cover for each group, which may have all rows.
  const gemm<T, kLayout>& largest() const { return all; }

  __device__ gemm<T, kLayout> operator[](int group) const {
    const int first = offsets[group];
    gemm<T, kLayout> g = all;
    g.m = offsets[group + 1] - first;
    g.a += first * g.lda;
    g.b += group * stride_b;
    g.c += first * g.ldc;
    return g;
  }
};

}  // namespace kzoo

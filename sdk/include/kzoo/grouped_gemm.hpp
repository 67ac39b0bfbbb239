#pragma once
// Grouped GEMM, as in mixtures of experts: each group of rows of A and C has its own B. A variant
// with
//
//   static constexpr bool groups = true;
//
// gets a kzoo::grouped_gemm for problems with groups. The groups' first rows are only in device
// memory, and change between runs.

#include <kzoo/cuda.hpp>
#include <kzoo/gemm.hpp>

#include <cstddef>

namespace kzoo {

// The GEMMs of all groups. A kernel takes one as from a gemm_batch: `const auto g =
// groups[blockIdx.z];`. g.m is the number of the group's rows, which may be 0.
template <class T, layout kLayout = layout::nn>
struct grouped_gemm {
  using element = T;                                 // as in types: one type, or mixed
  using a_type = typename gemm<T, kLayout>::a_type;  // elements of A
  using b_type = typename gemm<T, kLayout>::b_type;  // elements of B
  using c_type = typename gemm<T, kLayout>::c_type;  // elements of C
  using accumulator_type = accumulator_t<T>;         // of sums, alpha and beta
  static_assert(!is_a_transposed(kLayout), "the rows of a group lie together in memory");

  gemm<T, kLayout> all;     // all rows, with the B of the first group
  int count;                // of groups
  std::ptrdiff_t stride_b;  // elements from one group's B to the next
  const int* offsets;       // count + 1, from 0 to all.m, in device memory

  // The number of groups, for gridDim.z.
  int products() const { return count; }
  // The sizes that a grid must cover for each group, which may have all rows.
  const gemm<T, kLayout>& largest() const { return all; }

  // The GEMM of a group, from 0; not checked. Device code.
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

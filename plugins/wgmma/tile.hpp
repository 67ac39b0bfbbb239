#pragma once
// What the kernels on wgmma share: a block's tile of C, its stages, and a warpgroup's part of both.

#include <common/store_pairs.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/swizzled_tile.hpp>
#include <kzoo/warpgroup.hpp>
#include <kzoo/wgmma.hpp>

#include <cstddef>

namespace wgmma {

// A block computes BM x BN of C; each of its warpgroups computes 64 rows of that.
template <int BM, int BN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = 64;  // 128 bytes along K
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpgroups = BM / 64, kThreads = kzoo::kWarpgroup * kWarpgroups;
  static constexpr int kAccumulators = BN / 2;  // of a thread
  static_assert(BM % 64 == 0, "a warpgroup multiplies 64 rows");
};

// A stage: a k tile of A and of B.
template <class T, class S>
struct layout {
  using a_tile = kzoo::swizzled_tile<T, S::kBM, S::kBK>;
  using b_tile = kzoo::swizzled_tile<T, S::kBK, S::kBN>;
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;
  static constexpr std::size_t kBytes = std::size_t{S::kStages} * kStage * sizeof(T);
};

// Starts acc += a warpgroup's rows of A times B, of one k tile; `first`: acc = that instead.
template <class T, class S>
__device__ __forceinline__ void multiply_k_tile(const T* stage, int row, bool first,
                                                float (&acc)[S::kAccumulators]) {
  using L = layout<T, S>;
  const T* b = stage + L::a_tile::kElements;
  kzoo::wgmma_fence();
#pragma unroll
  for (int k = 0; k < S::kBK; k += 16) {
    kzoo::wgmma<S::kBN>(acc, kzoo::k_major<typename L::a_tile>(stage, row, k),
                        kzoo::mn_major<typename L::b_tile>(b, k, 0), k > 0 || !first);
  }
  kzoo::wgmma_commit();
}

// A warpgroup's accumulators into C, from (row0, col0) on.
template <bool kPairs, class T, int kCount>
__device__ __forceinline__ void store(const kzoo::gemm<T>& g, int row0, int col0,
                                      const float (&acc)[kCount]) {
  const int thread = threadIdx.x % kzoo::kWarpgroup;
  const int row = row0 + thread / 32 * 16 + thread % 32 / 4, col = col0 + thread % 4 * 2;
#pragma unroll
  for (int j = 0; j < kCount / 4; ++j) {
    common::store_pair<kPairs>(g, row, col + 8 * j, acc[4 * j], acc[4 * j + 1]);
    common::store_pair<kPairs>(g, row + 8, col + 8 * j, acc[4 * j + 2], acc[4 * j + 3]);
  }
}

// What all variants on wgmma have in common.
struct hopper_variant {
  using types = kzoo::types<__half, __nv_bfloat16>;
  static constexpr unsigned compute_capability = 90;

  static const char* supports(const kzoo_device& d) {
    if (d.kind == KZOO_CPU) return "it uses wgmma, which the simulator does not have";
    return d.compute_capability == 90 ? nullptr
                                      : "it is built for sm_90a, which runs on sm_90 alone";
  }
};

}  // namespace wgmma

#pragma once
// Warpgroups multiply straight from shared memory. Copies are as in mma, and so is the swizzle.

#include <kzoo/threadblock_swizzle.hpp>
#include <kzoo/mbarrier.hpp>
#include <tensor_cores/common/launch_tiles.hpp>
#include <tensor_cores/common/operand_tile.hpp>

#include "tile.hpp"

namespace wgmma {

// acc = a warpgroup's part of the block's tile of C. Its products are asynchronous: those of one k
// tile run while those of the next are started. So a stage is free one k tile later than in mma,
// and the copies are kStages - 2 ahead.
//
//   stage   0          1           2         3           (kStages = 4)
//           running    starting    arriving  loading     start k tile 1, wait for 0, load 3
//           loading    running     starting  arriving    start k tile 2, wait for 1, load 4
template <class G, class S, int kWidth>
__device__ __forceinline__ void multiply(const common::matrix<typename G::a_type>& a,
                                         const common::matrix<typename G::b_type>& b, int k_tiles,
                                         int row0, int col0, int warpgroup_row,
                                         typename G::a_type* stages,
                                         float (&acc)[S::kAccumulators]) {
  using L = layout<G, S>;
  const auto load = [&](int k_tile) {
    if (k_tile < k_tiles) {
      auto* stage = stages + k_tile % S::kStages * L::kStage;
      common::copy_k_tile<typename L::a_tile, S::kThreads, kWidth>(a, stage, row0, k_tile * S::kBK);
      common::copy_k_tile<typename L::b_tile, S::kThreads, kWidth>(b, L::b_of(stage), col0,
                                                                   k_tile * S::kBK);
    }
    kzoo::commit_group();
  };
  for (int k_tile = 0; k_tile < S::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    kzoo::wait_group<S::kStages - 3>();
    kzoo::fence_async_proxy();
    __syncthreads();  // this stage is complete, and all warpgroups are done with the one before
                      // last
    multiply_k_tile<G, S>(stages + k_tile % S::kStages * L::kStage, warpgroup_row, k_tile == 0,
                          acc);
    load(k_tile + S::kStages - 2);
    kzoo::wgmma_wait<1>();
  }
  kzoo::wgmma_wait<0>(acc);
  kzoo::wait_group<0>();
}

template <class G, class S, int kWidth>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    kernel(G g, common::matrix<typename G::a_type> a, common::matrix<typename G::b_type> b,
           int tile_rows, int tile_cols) {
  const auto tile = kzoo::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[S::kAccumulators];
  multiply<G, S, kWidth>(a, b, kzoo::ceil_div(g.k, S::kBK), row0, col0, warpgroup_row,
                         kzoo::dynamic_shared<typename G::a_type>(), acc);
  store<(kWidth > 1)>(g, row0 + warpgroup_row, col0, acc);
}

// For a kernel that copies kWidth elements at a time.
template <class S, int kWidth>
struct launcher {
  template <class G>
  static constexpr auto kKernel = kernel<G, S, kWidth>;
  template <class G>
  static constexpr std::size_t kBytes = layout<G, S>::kBytes;

  static void prepare(const kzoo_problem& p) {
    common::for_gemm_of(p, hopper_variant::types{}, hopper_variant::layouts{}, [](auto of) {
      using G = typename decltype(of)::type;
      kzoo::allow_dynamic_shared(kKernel<G>, kBytes<G>);
    });
  }
  template <class G>
  static void run(const G& g, kzoo::stream_t stream) {
    common::launch_tiles<S>(kKernel<G>, g, S::kThreads, kBytes<G>, stream, g, common::a_of(g),
                            common::b_of(g));
  }
};

template <class S>
class variant : public hopper_variant {
  static constexpr int kVector = 8;  // elements of a 16-byte copy
  using by_vectors = launcher<S, kVector>;
  using by_elements = launcher<S, 1>;

 public:
  variant(const kzoo_problem& p, const kzoo_device&) {
    by_vectors::prepare(p);
    by_elements::prepare(p);
  }

  template <class G>
  void run(const G& g, kzoo::stream_t stream) const {
    const bool aligned = common::a_of(g).cols % kVector == 0 &&
                         common::b_of(g).cols % kVector == 0 && g.n % 2 == 0 && g.rows_aligned(16);
    if (aligned) {
      by_vectors::run(g, stream);
    } else {
      by_elements::run(g, stream);
    }
  }
};

}  // namespace wgmma

// The step before this with another way into shared memory: one thread asks the copy engine for
// whole tiles, and an mbarrier per stage says when they have arrived.

#include <common/threadblock_swizzle.hpp>
#include <wgmma/kernel.hpp>

#include "operands.hpp"

namespace tma {

using wgmma::layout;
using wgmma::tiling;

// As in wgmma, with an mbarrier for each stage instead of groups of copies.
template <class T, class S>
__device__ __forceinline__ void multiply(const tile_maps<T, S>& maps, int k_tiles, int row0,
                                         int col0, int warpgroup_row, T* stages,
                                         kzoo::mbarrier* arrived, float (&acc)[S::kAccumulators]) {
  using L = layout<T, S>;
  const auto load = [&](int k_tile) {
    if (threadIdx.x != 0 || k_tile >= k_tiles) return;
    const int number = k_tile % S::kStages;
    T* stage = stages + number * L::kStage;
    arrived[number].arrive_and_expect(L::kStage * sizeof(T));
    kzoo::tma_load(maps.a, stage, row0, k_tile * S::kBK, arrived[number]);
    kzoo::tma_load(maps.b, stage + L::a_tile::kElements, k_tile * S::kBK, col0, arrived[number]);
  };
  for (int k_tile = 0; k_tile < S::kStages - 2; ++k_tile) load(k_tile);

  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    const int stage = k_tile % S::kStages;
    arrived[stage].wait(k_tile / S::kStages % 2);
    __syncthreads();  // all warpgroups are done with the k tile before last
    wgmma::multiply_k_tile<T, S>(stages + stage * L::kStage, warpgroup_row, k_tile == 0, acc);
    load(k_tile + S::kStages - 2);
    kzoo::wgmma_wait<1>();
  }
  kzoo::wgmma_wait<0>(acc);
}

template <class T, class S, bool kPairs>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    kernel(const __grid_constant__ tile_maps<T, S> maps, kzoo::gemm<T> g, int tile_rows,
           int tile_cols) {
  T* stages = kzoo::dynamic_shared<T>();
  auto* arrived = reinterpret_cast<kzoo::mbarrier*>(stages + S::kStages * layout<T, S>::kStage);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < S::kStages; ++stage) arrived[stage].init(1);
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();

  const auto tile = common::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int warpgroup_row = threadIdx.x / kzoo::kWarpgroup * 64;
  float acc[S::kAccumulators];
  multiply<T, S>(maps, kzoo::ceil_div(g.k, S::kBK), row0, col0, warpgroup_row, stages, arrived,
                 acc);
  wgmma::store<kPairs>(g, row0 + warpgroup_row, col0, acc);
}

template <class S>
class variant : public wgmma::hopper_variant {
  template <class T>
  static constexpr std::size_t kBytes = layout<T, S>::kBytes + S::kStages * sizeof(kzoo::mbarrier);

 public:
  variant(const kzoo_problem& p, const kzoo_device& d) : unaddressable_(p, d) {
    if (p.type_c == KZOO_F16) prepare<__half>();
    if (p.type_c == KZOO_BF16) prepare<__nv_bfloat16>();
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    if (!addressable(g)) return unaddressable_.run(g, stream);
    const int tile_rows = kzoo::ceil_div(g.m, S::kBM), tile_cols = kzoo::ceil_div(g.n, S::kBN);
    kzoo::launch({.grid = dim3(static_cast<unsigned>(tile_rows) * tile_cols),
                  .block = dim3(S::kThreads),
                  .dynamic_shared = kBytes<T>,
                  .max_threads = S::kThreads,
                  .stream = stream},
                 common::pairs_aligned(g) ? kernel<T, S, true> : kernel<T, S, false>,
                 tile_maps<T, S>::of(g), g, tile_rows, tile_cols);
  }

 private:
  template <class T>
  static void prepare() {
    kzoo::allow_dynamic_shared(kernel<T, S, true>, kBytes<T>);
    kzoo::allow_dynamic_shared(kernel<T, S, false>, kBytes<T>);
  }

  wgmma::variant<S>
      unaddressable_;  // for matrices whose rows do not start at multiples of 16 bytes
};

}  // namespace tma

using tma::tiling;

KZOO_PLUGIN("tma", "Tiles by the copy engine, warpgroup products",
            kzoo::variant<tma::variant<tiling<128, 64, 4, 2>>>(
                "128x64x64", "2 warpgroups, 4 stages; for matrices with few tiles"),
            kzoo::variant<tma::variant<tiling<128, 128, 3, 2>>>(
                "128x128x64", "2 warpgroups, 3 stages, two blocks per SM"));

// One warpgroup asks for tiles and does nothing else; two others multiply them and do nothing else.
// No barrier stops them all: each stage has two of its own, for full and for empty.

#include <common/threadblock_swizzle.hpp>
#include <tma/operands.hpp>
#include <wgmma/kernel.hpp>

#include "pipeline.hpp"

namespace warp_specialized {

using tma::tile_maps;
using wgmma::layout;
using wgmma::tiling;

// One thread: k tiles into stages, each as soon as it is empty.
template <class T, class S>
__device__ __forceinline__ void produce(const tile_maps<T, S>& maps, int k_tiles, int row0,
                                        int col0, T* stages, barriers<S::kStages>& sync) {
  using L = layout<T, S>;
  position<S::kStages> at;
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile, at.advance()) {
    T* stage = stages + at.stage * L::kStage;
    kzoo::mbarrier& full = sync.full[at.stage];
    sync.empty[at.stage].wait(at.parity ^ 1);  // at once, the first time round
    full.arrive_and_expect(L::kStage * sizeof(T));
    kzoo::tma_load(maps.a, stage, row0, k_tile * S::kBK, full);
    kzoo::tma_load(maps.b, stage + L::a_tile::kElements, k_tile * S::kBK, col0, full);
  }
}

template <class T, class S, bool kPairs>
__global__ void __launch_bounds__(kThreads<S>, S::kBlocksPerSm)
    kernel(const __grid_constant__ tile_maps<T, S> maps, kzoo::gemm<T> g, int tile_rows,
           int tile_cols) {
  T* stages = kzoo::dynamic_shared<T>();
  auto& sync = *reinterpret_cast<barriers<S::kStages>*>(stages + S::kStages * layout<T, S>::kStage);
  if (threadIdx.x == 0) sync.init(S::kWarpgroups);
  __syncthreads();

  const auto tile = common::threadblock_swizzle(blockIdx.x, tile_rows, tile_cols, 8);
  const int row0 = tile.row * S::kBM, col0 = tile.col * S::kBN;
  const int k_tiles = kzoo::ceil_div(g.k, S::kBK);
  const int warpgroup = threadIdx.x / kzoo::kWarpgroup;
  if (warpgroup == S::kWarpgroups) {
    if constexpr (registers<S>::kMove) kzoo::release_registers<registers<S>::kProducer>();
    if (threadIdx.x % kzoo::kWarpgroup == 0) produce<T, S>(maps, k_tiles, row0, col0, stages, sync);
  } else {
    if constexpr (registers<S>::kMove) kzoo::request_registers<registers<S>::kConsumer>();
    position<S::kStages> at;
    float acc[S::kAccumulators];
    const auto release = [&](int stage) {
      if (threadIdx.x % kzoo::kWarpgroup == 0) sync.empty[stage].arrive();
    };
    consume<T, S>(
        stages, sync, at, k_tiles, warpgroup * 64, release, [](int) {}, acc);
    wgmma::store<kPairs>(g, row0 + warpgroup * 64, col0, acc);
  }
}

template <class S>
class variant : public wgmma::hopper_variant {
  template <class T>
  static constexpr std::size_t kBytes = layout<T, S>::kBytes + sizeof(barriers<S::kStages>);

 public:
  variant(const kzoo_problem& p, const kzoo_device& d) : unaddressable_(p, d) {
    if (p.type_c == KZOO_F16) prepare<__half>();
    if (p.type_c == KZOO_BF16) prepare<__nv_bfloat16>();
  }

  template <class T>
  void run(const kzoo::gemm<T>& g, kzoo::stream_t stream) const {
    if (!tma::addressable(g)) return unaddressable_.run(g, stream);
    const int tile_rows = kzoo::ceil_div(g.m, S::kBM), tile_cols = kzoo::ceil_div(g.n, S::kBN);
    kzoo::launch({.grid = dim3(static_cast<unsigned>(tile_rows) * tile_cols),
                  .block = dim3(kThreads<S>),
                  .dynamic_shared = kBytes<T>,
                  .max_threads = kThreads<S>,
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

  wgmma::variant<tiling<128, 128, 3, 2>> unaddressable_;  // for rows that TMA cannot address
};

}  // namespace warp_specialized

using warp_specialized::tiling;

KZOO_PLUGIN("warp_specialized", "A producer and two consumer warpgroups",
            kzoo::variant<warp_specialized::variant<tiling<128, 64, 8, 1>>>(
                "128x64x64", "8 stages; for matrices with few tiles"),
            kzoo::variant<warp_specialized::variant<tiling<128, 128, 6, 1>>>("128x128x64",
                                                                             "6 stages"),
            kzoo::variant<warp_specialized::variant<tiling<128, 256, 4, 1>>>(
                "128x256x64", "4 stages; for large matrices"));

// Sliced-K, for small problems: each slice of a block's warps multiplies its slice of every k tile,
// and the slices add up what they have at the end of a tile of C. So a small tile has as many
// threads as a large one, with as many accumulators each.

#include <fp32/common/async_copies.hpp>
#include <fp32/common/stream_k.hpp>

#include "slices.hpp"

namespace sliced_k {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kBlockThreads, Tile::kBlocksPerSm)
    sliced_k_kernel(kzoo::gemm<float> g, common::stream_k work, common::partial_sums<Tile> sums) {
  using Layout = typename Tile::Layout;                 // padded
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  float* const last_stage = stages + (Tile::kStages - 1) * Tile::kStage;
  const int slice_k = Tile::slice() * Tile::kSliceK;  // where the thread's slice of a k tile begins
  const int block = static_cast<int>(blockIdx.x);
  for (std::int64_t at = work.begin(block); at < work.begin(block + 1);) {
    const auto [tile, first, k_tiles] = work.tile_work_at(at, block);
    const auto coords = work.coords_in<Tile>(tile);

    common::async_copies<Tile, kAligned, Tile::kBlockThreads> copies(
        g, Tile::block_thread(), coords.row0, coords.col0, first);
#pragma unroll 1
    for (int k_tile = 0; k_tile < Tile::kStages - 1; ++k_tile) {
      copies.copy_all(stages + k_tile * Tile::kStage, k_tile < k_tiles);
      kzoo::commit_group();
      copies.advance(k_tile + 1 < k_tiles);
    }

    float *reading = stages, *filling = last_stage;
    float a[2][Tile::kTM], b[2][Tile::kTN];
    const auto read = [&](int k) {  // k step k of the slice; in a stage they are rows of both tiles
      common::read_fragments<Tile, Layout>(reading + slice_k * Layout::kStride,
                                           reading + Layout::kSize + slice_k * Tile::kBN, coords, k,
                                           a[k % 2], b[k % 2]);
    };
    const auto wait_for_next_stage = [] {
      kzoo::wait_group<Tile::kStages - 2>();  // all but the youngest kStages - 2 have arrived
      __syncthreads();  // this k tile is complete, and all threads have read the one before it
    };
    wait_for_next_stage();
    read(0);

    float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      const bool has_tile = k_tile + Tile::kStages - 1 < k_tiles;
#pragma unroll
      for (int k = 0; k < Tile::kSliceK; ++k) {
        if (k + 1 < Tile::kSliceK) {
          read(k + 1);
          copies.copy_in_step(k, Tile::kSliceK, filling, has_tile);
        } else {  // reads the first fragments of the next stage; after the last k tile, in vain
          kzoo::commit_group();
          copies.advance(k_tile + Tile::kStages < k_tiles);
          filling = reading;
          reading = reading == last_stage ? stages : reading + Tile::kStage;
          wait_for_next_stage();
          read(0);
        }
        common::outer_product(a[k % 2], b[k % 2], acc);
      }
    }
    kzoo::wait_group<0>();
    __syncthreads();  // the stages are free
    reduce_slices<Tile>(stages, sums, acc);
    if (k_tiles == work.k_tiles) {  // the whole tile, not a part
      for_own_rows<Tile>([&](int i) { common::store_row_inside<kAligned>(g, coords, i, acc[i]); });
    } else {
      const int slot = work.slot(block, at == work.begin(block));
      for_own_rows<Tile>([&](int i) { sums.store_row(slot, i, acc[i]); });
    }
    at += k_tiles;
    __syncthreads();  // reduce_slices has used the stages
  }
}

template <int BM, int BN, int BK, int Stages, int Slices, int BlocksPerSm>
class variant {
  using Tile =
      sliced<common::staged<common::warp_tiling<BM, BN, BK, 64, 64, 16, 8>, Stages, BlocksPerSm>,
             Slices>;
  template <bool kAligned>
  static constexpr auto kernel_for = sliced_k_kernel<Tile, kAligned>;

 public:
  static constexpr unsigned compute_capability = 80;
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    const char* const reason = common::too_many_tiles<Tile>(p);
    return reason != nullptr ? reason : Tile::too_much_shared_memory(d);
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return common::partial_sums<Tile>::bytes(common::make_stream_k<Tile>(p, d));
  }
  variant(const kzoo_problem& p, const kzoo_device& d) : work_(common::make_stream_k<Tile>(p, d)) {
    kzoo::allow_dynamic_shared(kernel_for<true>, Tile::kSharedBytes);
    kzoo::allow_dynamic_shared(kernel_for<false>, Tile::kSharedBytes);
  }

  void run(const kzoo::gemm<float>& g, const kzoo_arguments& args) const {
    const auto stream = static_cast<kzoo::stream_t>(args.stream);
    const common::partial_sums<Tile> sums{static_cast<float4*>(args.workspace), 1.0f};
    kzoo::launch({.grid = dim3(work_.blocks()),
                  .block = Tile::block(),
                  .dynamic_shared = Tile::kSharedBytes,
                  .max_threads = Tile::kBlockThreads,
                  .stream = stream},
                 Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, work_, sums);
    common::launch_add_partial_sums(g, work_, sums, stream);
  }

 private:
  common::stream_k work_;
};

}  // namespace sliced_k

KZOO_PLUGIN("sliced_k", "pipelined with k tiles that slices of a block divide among themselves",
            (kzoo::variant<sliced_k::variant<128, 64, 32, 4, 4, 1>>(
                "128x64x32_s4_k4", "4 stages, small tiles, sliced-K with 4 slices")),
            (kzoo::variant<sliced_k::variant<64, 64, 32, 4, 4, 2>>(
                "64x64x32_s4_k4", "the same with half the tile, two blocks per SM")));

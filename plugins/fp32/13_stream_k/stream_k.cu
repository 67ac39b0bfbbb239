// Stream-K: the last wave of tiles is shared by all blocks. A block computes its share of all k
// tiles, which may begin and end in the middle of a tile of C, and leaves partial sums of such
// tiles in the workspace; a second kernel adds them up. common/stream_k.hpp says which block
// computes what.

#include <fp32/common/async_copies.hpp>
#include <fp32/common/stream_k.hpp>

namespace {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    stream_k_kernel(kzoo::gemm<float> g, common::stream_k work, common::partial_sums<Tile> sums) {
  using Layout = typename Tile::Layout;                 // padded
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  const int block = static_cast<int>(blockIdx.x);
  // The block's k tiles, counted through all tiles of C, one part of a tile after the other.
  for (std::int64_t at = work.begin(block); at < work.begin(block + 1);) {
    const auto [tile, first, k_tiles] = work.tile_work_at(at, block);
    const auto coords = work.coords_in<Tile>(tile);  // as warp_tiles has them, in this tile

    // From the part's first k tile on, no longer from k tile 0.
    common::async_copies<Tile, kAligned> copies(g, coords.thread, coords.row0, coords.col0, first);
#pragma unroll 1
    for (int k_tile = 0; k_tile < Tile::kStages - 1; ++k_tile) {
      copies.copy_all(stages + k_tile * Tile::kStage, k_tile < k_tiles);
      kzoo::commit_group();
      copies.advance(k_tile + 1 < k_tiles);
    }

    float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
#pragma unroll 1
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      kzoo::wait_group<Tile::kStages - 2>();  // all but the youngest kStages - 2 have arrived
      __syncthreads();  // this k tile is complete, and all threads have read the one before it
      const float* const a_tile = stages + k_tile % Tile::kStages * Tile::kStage;  // (BK, BM)
      const float* const b_tile = a_tile + Layout::kSize;                          // (BK, BN)
      float* const filling = stages + (k_tile + Tile::kStages - 1) % Tile::kStages * Tile::kStage;
      const bool has_tile = k_tile + Tile::kStages - 1 < k_tiles;
      float a[2][Tile::kTM], b[2][Tile::kTN];
      common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, 0, a[0], b[0]);
#pragma unroll
      for (int k = 0; k < Tile::kBK; ++k) {
        const int now = k % 2, next = (k + 1) % 2;
        if (k + 1 < Tile::kBK) {
          common::read_fragments<Tile, Layout>(a_tile, b_tile, coords, k + 1, a[next], b[next]);
          copies.copy_in_step(k, Tile::kBK, filling, has_tile);
        }
        common::outer_product(a[now], b[now], acc);
      }
      kzoo::commit_group();
      copies.advance(k_tile + Tile::kStages < k_tiles);
    }
    kzoo::wait_group<0>();
    __syncthreads();                // the stages are free
    if (k_tiles == work.k_tiles) {  // the whole tile, not a part
      common::store_tile_inside<kAligned>(g, coords, acc);
    } else {
      // Equivalent to sums.at(slot, v) = each float4 of acc.
      sums.store(work.slot(block, at == work.begin(block)), acc);
    }
    at += k_tiles;
  }
}

template <int BM, int BN, int BK, int Stages, int BlocksPerSm>
class variant {
  using Tile = common::staged<common::warp_tiling<BM, BN, BK, 64, 64, 16, 8>, Stages, BlocksPerSm>;
  template <bool kAligned>
  static constexpr auto kernel_for = stream_k_kernel<Tile, kAligned>;

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
                  .block = dim3(Tile::kThreadsX, Tile::kThreadsY),
                  .dynamic_shared = Tile::kSharedBytes,
                  .max_threads = Tile::kThreads,
                  .stream = stream},
                 Tile::aligned(g) ? kernel_for<true> : kernel_for<false>, g, work_, sums);
    // C = alpha (sum of the partial sums) + beta C, where there are any.
    common::launch_add_partial_sums(g, work_, sums, stream);
  }

 private:
  common::stream_k work_;
};

}  // namespace

KZOO_PLUGIN("stream_k", "Stages filled by asynchronous copies, and stream-K for the last wave",
            (kzoo::variant<variant<128, 128, 16, 4, 2>>("128x128x16_s4",
                                                        "4 stages, two blocks per SM")),
            (kzoo::variant<variant<128, 256, 16, 5, 1>>("128x256x16_s5", "5 stages, large tiles")));

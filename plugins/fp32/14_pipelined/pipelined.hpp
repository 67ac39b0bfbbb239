#pragma once
// stream_k with a main loop that crosses the barrier between two k tiles: the last k step of one
// reads the first fragments of the next, so that the barrier is not followed by a wait for shared
// memory.
//
//   stream_k   barrier, read 0 | read 1, multiply 0 | ... | multiply 15
//   here                       | read 1, multiply 0 | ... | barrier, read next 0, multiply 15

#include <fp32/common/async_copies.hpp>
#include <fp32/common/stream_k.hpp>

namespace pipelined {

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    pipelined_kernel(kzoo::gemm<float> g, common::stream_k work, common::partial_sums<Tile> sums) {
  using Layout = typename Tile::Layout;                 // padded
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  float* const last_stage = stages + (Tile::kStages - 1) * Tile::kStage;
  const int block = static_cast<int>(blockIdx.x);
  for (std::int64_t at = work.begin(block); at < work.begin(block + 1);) {
    const auto [tile, first, k_tiles] = work.tile_work_at(at, block);
    const auto coords = work.coords_in<Tile>(tile);

    common::async_copies<Tile, kAligned> copies(g, coords.thread, coords.row0, coords.col0, first);
#pragma unroll 1
    for (int k_tile = 0; k_tile < Tile::kStages - 1; ++k_tile) {
      copies.copy_all(stages + k_tile * Tile::kStage, k_tile < k_tiles);
      kzoo::commit_group();
      copies.advance(k_tile + 1 < k_tiles);
    }

    float *reading = stages, *filling = last_stage;
    float a[2][Tile::kTM], b[2][Tile::kTN];
    const auto read = [&](int k) {
      common::read_fragments<Tile, Layout>(reading, reading + Layout::kSize, coords, k, a[k % 2],
                                           b[k % 2]);
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
      for (int k = 0; k < Tile::kBK; ++k) {
        if (k + 1 < Tile::kBK) {
          read(k + 1);
          copies.copy_in_step(k, Tile::kBK, filling, has_tile);
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
    __syncthreads();                // the stages are free
    if (k_tiles == work.k_tiles) {  // the whole tile, not a part
      common::store_tile_inside<kAligned>(g, coords, acc);
    } else {
      sums.store(work.slot(block, at == work.begin(block)), acc);
    }
    at += k_tiles;
  }
}

template <int BM, int BN, int BK, int Stages, int BlocksPerSm>
class variant {
  using Tile = common::staged<common::warp_tiling<BM, BN, BK, 64, 64, 16, 8>, Stages, BlocksPerSm>;
  template <bool kAligned>
  static constexpr auto kernel_for = pipelined_kernel<Tile, kAligned>;

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
    common::launch_add_partial_sums(g, work_, sums, stream);
  }

 private:
  common::stream_k work_;
};

}  // namespace pipelined

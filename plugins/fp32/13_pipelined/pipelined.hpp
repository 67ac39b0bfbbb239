#pragma once
// A software pipeline that hardly waits for memory. k tiles (BK steps along K) arrive by
// asynchronous copies, several ahead, in stages of shared memory that are used in turn; fragments
// are read from shared memory one step ahead; and the copies are spread over the steps, two or
// three at a time, so that they do not hold up the reads. Stream-K, where it pays, keeps all SMs
// busy in the last wave (schedule.hpp); with sliced-K the warps of a block share the steps of a
// small tile.

#include <fp32/common/fragments.hpp>
#include <fp32/common/outer_product.hpp>

#include <algorithm>
#include <climits>

#include "epilogue.hpp"
#include "schedule.hpp"
#include "tile_copies.hpp"

namespace pipelined {

// Tiling: a common::warp_tiling. Stages: k tiles in shared memory at a time. Slices: sliced-K; a
// block has that many groups of Tiling::kThreads threads, and each group multiplies its slice of
// every k tile for the same tile of C. That is more threads for a small tile, each with many
// accumulators.
template <class Tiling, int Stages, int Slices, int BlocksPerSm>
struct pipeline : Tiling {
  using layout = common::padded<Tiling>;
  static constexpr int kStages = Stages, kSlices = Slices, kBlocksPerSm = BlocksPerSm;
  static constexpr int kBlockThreads = Tiling::kThreads * Slices;
  static constexpr int kSliceK = Tiling::kBK / Slices;  // a slice's steps in a k tile
  static constexpr int kStage = layout::kSize + Tiling::kBK * Tiling::kBN;  // floats
  // The part of its accumulators that a thread stores itself: rows, and float4s in them.
  static constexpr int kOwnRows = Tiling::kTM / Slices, kOwnVec4s = kOwnRows * Tiling::kTN / 4;
  static constexpr std::size_t kStagesBytes = sizeof(float) * Stages * kStage;
  static constexpr std::size_t kReduceBytes =
      sizeof(float) * (Slices - 1) * Tiling::kBM * Tiling::kBN;
  static constexpr std::size_t kSharedBytes =
      kStagesBytes > kReduceBytes ? kStagesBytes : kReduceBytes;
  static_assert(Tiling::kBK % Slices == 0 && kSliceK % 2 == 0, "two sets of fragments take turns");
  static_assert(Tiling::kTM % Slices == 0, "slices divide a thread's rows among themselves");
  static_assert(Stages >= 3, "one stage is read, one is filled, others arrive");
};

// The prologue: copies of the first kStages - 1 of `count` k tiles, one commit group for each. Of
// k tile 0 of a tile of C, the first `missing` steps are before the beginning of K.
template <class S, bool kAligned>
__device__ __forceinline__ void fill_stages(tile_copies<S, kAligned>& next, int first, int count,
                                            int missing, float* stages) {
#pragma unroll 1
  for (int stage = 0; stage < S::kStages - 1; ++stage) {
#pragma unroll
    for (int i = 0; i < next.kCount; ++i) {
      next.copy(i, stages + stage * S::kStage,
                kAligned || (stage < count && (first + stage > 0 || next.k_of(i) >= missing)));
    }
    kzoo::commit_group();
    next.advance(!kAligned || stage + 1 < count);
  }
}

// All but the youngest kStages - 2 groups of copies have arrived: the next stage to read is
// complete, and all threads have read the one before it.
template <class S>
__device__ __forceinline__ void wait_for_next_stage() {
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();
}

// The main loop: acc = the products of k tiles [first, first + count) of a tile of C.
//
//   stage   0         1         2         3         4           (kStages = 5)
//           reading   arriving  arriving  arriving  filling     multiply k tile 0, start to copy 4
//           filling   reading   arriving  arriving  arriving    multiply k tile 1, start to copy 5
//
// kAligned: K is a multiple of BK, and the copies go on without a test when there is nothing left
// to copy, repeating the last k tile. A test in the loop costs 2 %.
template <class S, bool kAligned>
__device__ __forceinline__ void multiply(const kzoo::gemm<float>& g,
                                         const common::warp_thread_coords<S>& p, int k_tiles,
                                         int first, int count, float* stages,
                                         float (&acc)[S::kTM][S::kTN]) {
  const int missing = k_tiles * S::kBK - g.k;
  tile_copies<S, kAligned> next(g, p, first * S::kBK - missing);
  fill_stages<S, kAligned>(next, first, count, missing, stages);

  const int slice_k = own_slice<S>() * S::kSliceK;  // where this thread's slice of a k tile begins
  float* const last_stage = stages + (S::kStages - 1) * S::kStage;
  float *reading = stages, *filling = last_stage;
  float a[2][S::kTM], b[2][S::kTN];
  const auto read = [&](int k) {
    common::read_fragments<typename S::layout>(reading + slice_k * S::layout::kStride,
                                               reading + S::layout::kSize + slice_k * S::kBN, p, k,
                                               a[k % 2], b[k % 2]);
  };
  wait_for_next_stage<S>();
  read(0);

#pragma unroll 1
  for (int k_tile = 0; k_tile < count; ++k_tile) {
    const bool more = k_tile + S::kStages - 1 < count;
#pragma unroll
    for (int k = 0; k < S::kSliceK; ++k) {
      if (k + 1 < S::kSliceK) {
        read(k + 1);
        next.copy_in_step(k, filling, kAligned || more);
      } else {  // the last step reads the first fragments of the next stage
        kzoo::commit_group();
        next.advance(!kAligned || k_tile + S::kStages < count);
        filling = reading;
        reading = reading == last_stage ? stages : reading + S::kStage;
        wait_for_next_stage<S>();
        read(0);
      }
      common::outer_product(a[k % 2], b[k % 2], acc);
    }
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the stages are free
}

template <class S, bool kAligned>
__global__ void __launch_bounds__(S::kBlockThreads, S::kBlocksPerSm)
    pipelined_kernel(kzoo::gemm<float> g, schedule work, float4* workspace, float one) {
  float* const stages = kzoo::dynamic_shared<float>();
  const int block = static_cast<int>(blockIdx.x);
  const std::int64_t end = work.begin(block + 1);
  for (std::int64_t at = work.begin(block); at < end;) {
    const int tile = static_cast<int>(at / work.k_tiles);
    const int first = static_cast<int>(at % work.k_tiles);
    const int count = static_cast<int>(min(end - at, std::int64_t{work.k_tiles - first}));
    const auto p = work.coords_in<S>(tile);

    float acc[S::kTM][S::kTN] = {};
    multiply<S, kAligned>(g, p, work.k_tiles, first, count, stages, acc);
    if constexpr (S::kSlices > 1) {
      multiply_by<S>(one, acc);
      reduce_slices<S>(p, stages, acc);
    }
    if (count == work.k_tiles) {
      for_own_vec4s<S>([&](int, int i, int j) { store<S, kAligned>(g, p, i, j, &acc[i][j]); });
    } else {
      if constexpr (S::kSlices == 1) multiply_by<S>(one, acc);
      const int slot = work.slot(block, at == work.begin(block));
      for_own_vec4s<S>(
          [&](int v, int i, int j) { partial<S>(workspace, slot, v, p) = pack(&acc[i][j]); });
    }
    at += count;
    if constexpr (S::kSlices > 1) __syncthreads();  // reduce_slices has used the stages
  }
}

template <class S>
class variant {
 public:
  using types = kzoo::types<float>;
  static constexpr unsigned compute_capability = 80;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (tiles(p.m, S::kBM) * tiles(p.n, S::kBN) > INT_MAX / 2) return "C has more than 2^30 tiles";
    return d.kind == KZOO_CPU || S::kSharedBytes <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return sizeof(float) * S::kBM * S::kBN * schedule_for(p, d).slots();
  }

  variant(const kzoo_problem& p, const kzoo_device& d)
      : work_(schedule_for(p, d)),
        aligned_(p.k % S::kBK == 0 && p.n % 4 == 0 && p.ldb % 4 == 0 && p.ldc % 4 == 0 &&
                 p.alignment % 16 == 0) {
    kzoo::allow_dynamic_shared(aligned_ ? pipelined_kernel<S, true> : pipelined_kernel<S, false>,
                               S::kSharedBytes);
  }

  void run(const kzoo::gemm<float>& g, const kzoo_arguments& args) const {
    const auto stream = static_cast<kzoo::stream_t>(args.stream);
    auto* workspace = static_cast<float4*>(args.workspace);
    const dim3 threads(S::kThreadsX, S::kThreadsY, S::kSlices);
    kzoo::launch({.grid = dim3(work_.blocks()),
                  .block = threads,
                  .dynamic_shared = S::kSharedBytes,
                  .max_threads = S::kBlockThreads,
                  .stream = stream},
                 aligned_ ? pipelined_kernel<S, true> : pipelined_kernel<S, false>, g, work_,
                 workspace, 1.0f);
    if (work_.sk_blocks == 0) return;
    kzoo::launch({.grid = dim3(work_.sk_tiles(), S::kOwnVec4s / kVec4sAtATime),
                  .block = threads,
                  .max_threads = S::kBlockThreads,
                  .stream = stream},
                 aligned_ ? add_partial_sums<S, true> : add_partial_sums<S, false>, g, work_,
                 workspace);
  }

 private:
  // Tiles that cover `size` rows, columns or elements along K.
  static std::int64_t tiles(std::int64_t size, int tile) { return (size + tile - 1) / tile; }

  static schedule schedule_for(const kzoo_problem& p, const kzoo_device& d) {
    // Where an SM has too little shared memory for kBlocksPerSm blocks, waves are smaller than
    // assumed here: the schedule is still correct, but not the best.
    const int wave =
        S::kBlocksPerSm *
        std::max(1, static_cast<int>(d.kind == KZOO_CPU ? d.threads : d.multiprocessors));
    // In cycles: an SM does 128 FMAs in each; the second kernel takes 6000 to start, and then the
    // device moves 1500 bytes in each, two partial tiles for each share.
    constexpr int kKTile = S::kBM * S::kBN * S::kBK / 128 * S::kBlocksPerSm;
    const int fix_up = 6000 + 2 * wave * S::kBM * S::kBN * int(sizeof(float)) / 1500;
    return make_schedule(int(tiles(p.m, S::kBM)), int(tiles(p.n, S::kBN)), int(tiles(p.k, S::kBK)),
                         wave, kzoo::ceil_div(fix_up, kKTile), double(S::kBN) / S::kBM);
  }

  schedule work_;
  bool aligned_;
};

// Warp tiles of 64 x 64 and 16 x 8 accumulators per thread.
template <int BM, int BN, int BK, int Stages, int Slices, int BlocksPerSm>
using with =
    variant<pipeline<common::warp_tiling<BM, BN, BK, 64, 64, 16, 8>, Stages, Slices, BlocksPerSm>>;

}  // namespace pipelined

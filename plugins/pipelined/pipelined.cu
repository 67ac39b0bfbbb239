// Nothing waits: tiles arrive by asynchronous copies, several steps along K ahead, in a ring of
// stages; fragments are read one step ahead; and the copies are spread over the steps, two
// or three at a time, so that they do not get in the way of the fragments.

#include <common/outer_product.hpp>

#include <algorithm>
#include <climits>

#include "schedule.hpp"
#include "sums.hpp"
#include "tile_copies.hpp"

namespace pipelined {

// Tiling: a common::warp_tiling. A ring of so many stages. A block has so many slices, groups of
// threads that each do their share of a stage's steps along K, for the same tile of C: more threads
// for a small tile, each with many sums.
template <class Tiling, int Stages, int Slices, int BlocksPerSm>
struct pipeline : Tiling {
  using layout = common::padded<Tiling>;
  static constexpr int kStages = Stages, kSlices = Slices, kBlocksPerSm = BlocksPerSm;
  static constexpr int kBlockThreads = Tiling::kThreads * Slices;
  static constexpr int kSliceK = Tiling::kBK / Slices;  // a slice's steps in a stage
  static constexpr int kStage = layout::kSize + Tiling::kBK * Tiling::kBN;  // floats
  // Of a thread's sums, the rows and quads that it stores itself.
  static constexpr int kOwnRows = Tiling::kTM / Slices, kOwnQuads = kOwnRows * Tiling::kTN / 4;
  static constexpr std::size_t kRingBytes = sizeof(float) * Stages * kStage;
  static constexpr std::size_t kReduceBytes =
      sizeof(float) * (Slices - 1) * Tiling::kBM * Tiling::kBN;
  static constexpr std::size_t kSharedBytes = kRingBytes > kReduceBytes ? kRingBytes : kReduceBytes;
  static_assert(Tiling::kBK % Slices == 0 && kSliceK % 2 == 0, "two sets of fragments take turns");
  static_assert(Tiling::kTM % Slices == 0, "slices divide a thread's rows among themselves");
  static_assert(Stages >= 3, "one stage is read, one is complete, others arrive");
};

// sum = the products of `count` steps of BK along K, from step `first` of the tile on. kWhole: K is
// full steps, and the copies go on untested when all has been fetched, repeating the last step: a
// test in the loop costs 2 %.
template <class S, bool kWhole>
__device__ __forceinline__ void multiply(const kzoo::gemm<float>& g, const common::warp_place<S>& p,
                                         int depth, int first, int count, float* ring,
                                         float (&sum)[S::kTM][S::kTN]) {
  using copies = tile_copies<S, kWhole>;
  const int missing = depth * S::kBK - g.k;
  copies next(g, p, first * S::kBK - missing);
#pragma unroll 1
  for (int stage = 0; stage < S::kStages - 1; ++stage) {
#pragma unroll
    for (int i = 0; i < copies::kCount; ++i) {
      next.copy(i, ring + stage * S::kStage,
                kWhole || (stage < count && (first + stage > 0 || next.k_of(i) >= missing)));
    }
    kzoo::commit_group();
    next.advance(!kWhole || stage + 1 < count);
  }

  // What a slice reads of a stage starts here.
  const int own = own_slice<S>() * S::kSliceK;
  float* reading = ring;
  float* filling = ring + (S::kStages - 1) * S::kStage;
  float a[2][S::kTM], b[2][S::kTN];
  const auto read = [&](int k) {
    common::read_fragments<S, typename S::layout>(reading + own * S::layout::kStride,
                                                  reading + S::layout::kSize + own * S::kBN, p, k,
                                                  a[k % 2], b[k % 2]);
  };
  kzoo::wait_group<S::kStages - 2>();
  __syncthreads();
  read(0);

  // Spread over all k but the last, which commits and waits.
  constexpr int kEven = (copies::kCount + S::kSliceK - 2) / (S::kSliceK - 1);
  constexpr int kAtATime = kEven > 2 ? kEven : 2;
#pragma unroll 1
  for (int step = 0; step < count; ++step) {
    const bool more = step + S::kStages - 1 < count;
#pragma unroll
    for (int k = 0; k < S::kSliceK; ++k) {
      if (k + 1 < S::kSliceK) {
        read(k + 1);
#pragma unroll
        for (int i = k * kAtATime; i < (k + 1) * kAtATime && i < copies::kCount; ++i) {
          next.copy(i, filling, kWhole || more);
        }
      } else {
        kzoo::commit_group();
        next.advance(!kWhole || step + S::kStages < count);
        filling = reading;
        reading = reading == ring + (S::kStages - 1) * S::kStage ? ring : reading + S::kStage;
        kzoo::wait_group<S::kStages - 2>();
        __syncthreads();  // the next stage is complete, and everybody has read this one
        read(0);
      }
      common::outer_product(a[k % 2], b[k % 2], sum);
    }
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the ring is free
}

template <class S, bool kWhole>
__global__ void __launch_bounds__(S::kBlockThreads, S::kBlocksPerSm)
    pipelined_kernel(kzoo::gemm<float> g, schedule work, float4* workspace, float one) {
  float* const ring = kzoo::dynamic_shared<float>();
  const int block = static_cast<int>(blockIdx.x);
  const std::int64_t end = work.begin(block + 1);
  for (std::int64_t at = work.begin(block); at < end;) {
    const int tile = static_cast<int>(at / work.depth), first = static_cast<int>(at % work.depth);
    const int count = static_cast<int>(min(end - at, std::int64_t{work.depth - first}));
    const auto p = place_in<S>(work, tile);

    float sum[S::kTM][S::kTN] = {};
    multiply<S, kWhole>(g, p, work.depth, first, count, ring, sum);
    if constexpr (S::kSlices > 1) {
      multiply_by<S>(one, sum);
      reduce_slices<S>(p, ring, sum);
    }
    if (count == work.depth) {
      for_own_quads<S>([&](int, int i, int j) { store<S, kWhole>(g, p, i, j, &sum[i][j]); });
    } else {
      if constexpr (S::kSlices == 1) multiply_by<S>(one, sum);
      const int slot = work.slot(block, at == work.begin(block));
      for_own_quads<S>([&](int quad, int i, int j) {
        partial<S>(workspace, slot, quad, p) =
            make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      });
    }
    at += count;
    if constexpr (S::kSlices > 1) __syncthreads();  // the ring held the slices' sums
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
        whole_(p.k % S::kBK == 0 && p.n % 4 == 0 && p.ldb % 4 == 0 && p.ldc % 4 == 0 &&
               p.alignment % 16 == 0) {
    kzoo::allow_dynamic_shared(whole_ ? pipelined_kernel<S, true> : pipelined_kernel<S, false>,
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
                 whole_ ? pipelined_kernel<S, true> : pipelined_kernel<S, false>, g, work_,
                 workspace, 1.0f);
    if (work_.sharing == 0) return;
    kzoo::launch({.grid = dim3(work_.shared_tiles(), S::kOwnQuads / kQuadsAtATime),
                  .block = threads,
                  .max_threads = S::kBlockThreads,
                  .stream = stream},
                 whole_ ? add_partial_sums<S, true> : add_partial_sums<S, false>, g, work_,
                 workspace);
  }

 private:
  // Tiles that cover `size` rows, columns or elements along K.
  static std::int64_t tiles(std::int64_t size, int tile) { return (size + tile - 1) / tile; }

  static schedule schedule_for(const kzoo_problem& p, const kzoo_device& d) {
    // Where a multiprocessor has not the shared memory for that many, waves are longer than
    // thought.
    const int at_once =
        S::kBlocksPerSm *
        std::max(1, static_cast<int>(d.kind == KZOO_CPU ? d.threads : d.multiprocessors));
    // In cycles: a step does 128 multiply-adds in each, and the second kernel starts in 6000 and
    // then moves 1500 bytes in each, two parts of tiles for each share.
    constexpr int kStep = S::kBM * S::kBN * S::kBK / 128 * S::kBlocksPerSm;
    const int fix_up = 6000 + 2 * at_once * S::kBM * S::kBN * int(sizeof(float)) / 1500;
    return make_schedule(int(tiles(p.m, S::kBM)), int(tiles(p.n, S::kBN)), int(tiles(p.k, S::kBK)),
                         at_once, kzoo::ceil_div(fix_up, kStep), double(S::kBN) / S::kBM);
  }

  schedule work_;
  bool whole_;
};

// A thread has 16 x 8 sums in each.
template <int BM, int BN, int BK, int Stages, int Slices, int BlocksPerSm>
using with =
    variant<pipeline<common::warp_tiling<BM, BN, BK, 64, 64, 16, 8>, Stages, Slices, BlocksPerSm>>;

}  // namespace pipelined

KZOO_PLUGIN("pipelined", "A ring of stages filled by asynchronous copies, and no idle last wave",
            (kzoo::variant<pipelined::with<128, 256, 16, 5, 1, 1>>(
                "128x256x16_s5", "5 stages of large tiles, for large problems")),
            (kzoo::variant<pipelined::with<128, 64, 32, 4, 4, 1>>(
                "128x64x32_s4_k4", "4 stages of small tiles, and 4 slices along K in a block")),
            (kzoo::variant<pipelined::with<64, 64, 32, 4, 4, 2>>(
                "64x64x32_s4_k4", "the same with half the tile, two blocks on a multiprocessor")));

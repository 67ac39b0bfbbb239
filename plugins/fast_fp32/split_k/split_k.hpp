#pragma once
// pipelined with K divided between blocks, in one launch: each block leaves its sums of a tile in
// the workspace, and the last one of a tile adds them up, always in the same order.
//
//   pipelined   launch: sums of parts | launch: add them up
//   here        launch: sums of parts, the last block of a tile adds them up

#include <fast_fp32/common/arrivals.hpp>
#include <fast_fp32/common/simulated.hpp>
#include <fp32/15_sliced_k/slices.hpp>
#include <fp32/common/async_copies.hpp>
#include <kzoo/dependent_launch.hpp>

#include "schedule.hpp"

namespace split_k {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int Stages, int Slices,
          int BlocksPerSm>
struct tiling
    : sliced_k::sliced<
          common::staged<common::warp_tiling<BM, BN, BK, WM, WN, TM, TN>, Stages, BlocksPerSm>,
          Slices> {
  using base = typename tiling::sliced;
  // Of the stages, or afterwards the sums of all slices.
  static constexpr std::size_t kSharedBytes =
      std::max(base::kSharedBytes, Slices == 1 ? 0 : sizeof(float) * Slices * BM * BN);
};

__device__ __forceinline__ float4 add(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// A thread's own rows of its tile, as float4s. Where there are slices, these add up what they have
// through shared memory, in their order, and each thread gets its rows; all threads call this.
template <class Tile>
__device__ __forceinline__ void own_sums(float* shared, const common::partial_sums<Tile>& sums_of,
                                         const float (&acc)[Tile::kTM][Tile::kTN],
                                         float4 (&own)[Tile::kOwnVec4s]) {
  constexpr int kPerRow = Tile::kTN / 4, kAll = Tile::kTM * kPerRow, kOwn = Tile::kOwnVec4s;
  const auto sum = [&](int v) { return sums_of.pack(&acc[v / kPerRow][v % kPerRow * 4]); };
  if constexpr (Tile::kSlices == 1) {
#pragma unroll
    for (int v = 0; v < kOwn; ++v) own[v] = sum(v);
  } else {
    const int thread = Tile::block_thread() % Tile::kThreads;  // in its slice
    auto* const sums = reinterpret_cast<float4*>(shared) + thread;
#pragma unroll
    for (int v = 0; v < kAll; ++v) sums[(Tile::slice() * kAll + v) * Tile::kThreads] = sum(v);
    __syncthreads();
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
      own[v] = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int slice = 0; slice < Tile::kSlices; ++slice) {
        own[v] = add(own[v], sums[(slice * kAll + Tile::slice() * kOwn + v) * Tile::kThreads]);
      }
    }
    __syncthreads();  // the stages are free again
  }
}

// Float4 number v of the thread's own rows, in a slot of the partial sums.
template <class Tile>
__device__ __forceinline__ float4& own_part(const common::partial_sums<Tile>& sums, int slot,
                                            int v) {
  const std::int64_t first = (std::int64_t{slot} * Tile::kOwnVec4s + v) * Tile::kBlockThreads;
  return sums.slots[first + Tile::block_thread()];
}

// As many parts are read at a time as half of a thread's registers can hold: each read takes as
// long as the way to L2 and back, however little it brings.
template <class Tile>
inline constexpr int kPartsAtOnce = [] {
  constexpr int kRegisters = 65536 / (Tile::kBlockThreads * Tile::kBlocksPerSm), kOfVec4 = 4;
  return std::max(kRegisters / 2 / (kOfVec4 * Tile::kOwnVec4s), 1);
}();

// The parts of a tile of C, in the order of the blocks `first` to `last` that have computed them.
// `begins`: the first block's share begins in this tile.
template <class Tile>
__device__ __forceinline__ void add_parts(const common::stream_k& work,
                                          const common::partial_sums<Tile>& sums, int first,
                                          int last, bool begins, float4 (&total)[Tile::kOwnVec4s]) {
  constexpr int kAtOnce = kPartsAtOnce<Tile>;
#pragma unroll
  for (float4& each : total) each = make_float4(0, 0, 0, 0);
#pragma unroll 1
  for (int from = first; from <= last; from += kAtOnce) {
    float4 parts[kAtOnce][Tile::kOwnVec4s];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int block = min(from + i, last), slot = work.slot(block, begins || block > first);
#pragma unroll
      for (int v = 0; v < Tile::kOwnVec4s; ++v) parts[i][v] = __ldcg(&own_part(sums, slot, v));
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (from + i > last) break;
#pragma unroll
      for (int v = 0; v < Tile::kOwnVec4s; ++v) total[v] = add(total[v], parts[i][v]);
    }
  }
}

// C = alpha sum + beta C for row i, columns j to j + 3 of each lane, where rows of C do not start
// on 16 bytes: through kOfWarp floats of shared memory, after which neighbouring lanes store
// neighbouring elements. Where each stores its own four, one by one, each store writes a quarter of
// 32 sectors.
inline constexpr int kOfWarp = 4 * 32;
template <class Tile, class Coords>
__device__ __forceinline__ void store_ragged(const kzoo::gemm<float>& g, const Coords& coords,
                                             int i, int j, float4 four, float* shared) {
  constexpr int kCols = 4 * Tile::kLanesN;  // of a row of lanes; these are four rows of C apart
  const int first_row = coords.row0 + coords.row(i) - 4 * coords.lane_row;
  const int first_col = coords.col0 + coords.col(j) - 4 * coords.lane_col;
  common::store_vec4(shared + coords.lane_row * kCols + coords.lane_col * 4, four);
  __syncwarp();
#pragma unroll
  for (int at = coords.lane; at < kOfWarp; at += 32)
    g.store_inside(first_row + at / kCols * 4, first_col + at % kCols, shared[at]);
  __syncwarp();
}

// kAligned: A and B are copied 16 bytes at a time, and K needs no zeros; kAlignedC: C is stored so.
// `operands` has A and B, g has C; product number blockIdx.y of a batch, whose tiles are then not
// divided. In a dependent launch, the launch before may write copies of A and B.
template <class Tile, bool kAligned, bool kAlignedC>
__global__ void __launch_bounds__(Tile::kBlockThreads, Tile::kBlocksPerSm)
    split_k_kernel(kzoo::gemm_batch<float> all_operands, kzoo::gemm_batch<float> all,
                   common::stream_k work, common::partial_sums<Tile> sums,
                   common::arrivals arrivals) {
  const int product = static_cast<int>(blockIdx.y);
  const kzoo::gemm<float> operands = all_operands[product], g = all[product];
  using Layout = typename Tile::Layout;                 // padded
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  float* const last_stage = stages + (Tile::kStages - 1) * Tile::kStage;
  const int slice_k = Tile::slice() * Tile::kSliceK;  // where the thread's slice of a k tile begins
  const int block = static_cast<int>(blockIdx.x);
  kzoo::release_dependents();
  kzoo::wait_for_previous();
  for (std::int64_t at = work.begin(block); at < work.begin(block + 1);) {
    const auto [tile, first, k_tiles] = work.tile_work_at(at, block);
    const auto coords = work.coords_in<Tile>(tile);

    common::async_copies<Tile, kAligned, Tile::kBlockThreads> copies(
        operands, Tile::block_thread(), coords.row0, coords.col0, first);
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
    float4 own[Tile::kOwnVec4s];
    own_sums<Tile>(stages, sums, acc, own);
    const int slot = work.slot(block, at == work.begin(block));
    at += k_tiles;
    if (k_tiles < work.k_tiles) {
#pragma unroll
      for (int v = 0; v < Tile::kOwnVec4s; ++v) own_part(sums, slot, v) = own[v];
      const std::int64_t begin = std::int64_t{tile} * work.k_tiles;
      const int from = work.sk_block_of(begin), to = work.sk_block_of(begin + work.k_tiles - 1);
      if (!arrivals.is_last(tile, to - from + 1)) continue;
      add_parts(work, sums, from, to, work.begin(from) >= begin, own);
    }
#pragma unroll
    for (int v = 0; v < Tile::kOwnVec4s; ++v) {
      const int i = Tile::own_row() + v / sums.kPerRow, j = v % sums.kPerRow * 4;
      if constexpr (kAlignedC) {
        const int row = coords.row0 + coords.row(i), col = coords.col0 + coords.col(j);
        float four[4];
        common::unpack(own[v], four);
        if (row < g.m && col < g.n) common::store_c<true>(g, row, col, four);
      } else {
        store_ragged<Tile>(g, coords, i, j, own[v], stages + Tile::block_thread() / 32 * kOfWarp);
      }
    }
    if constexpr (!kAlignedC) __syncthreads();  // the stages are free again
  }
}

// The kernel, with a schedule that is decided elsewhere.
template <class Tile>
class product {
 public:
  // Blocks that the device runs at a time.
  static int wave(const kzoo_device& d) {
    return Tile::kBlocksPerSm *
           std::max(1, static_cast<int>(d.kind == KZOO_CPU ? d.threads : d.multiprocessors));
  }
  static common::stream_k divided(const kzoo_problem& p, const kzoo_device& d, int splits) {
    return uniform(tiles_along(p.m, Tile::kBM), tiles_along(p.n, Tile::kBN),
                   tiles_along(p.k, Tile::kBK), splits, wave(d), double(Tile::kBN) / Tile::kBM);
  }
  static std::size_t workspace_bytes(const common::stream_k& work) {
    if (work.sk_blocks == 0) return 0;
    return common::arrivals::bytes(work.tiles()) + common::partial_sums<Tile>::bytes(work);
  }
  static void prepare() {
    kzoo::allow_dynamic_shared(split_k_kernel<Tile, true, true>, Tile::kSharedBytes);
    kzoo::allow_dynamic_shared(split_k_kernel<Tile, true, false>, Tile::kSharedBytes);
    kzoo::allow_dynamic_shared(split_k_kernel<Tile, false, false>, Tile::kSharedBytes);
  }
  // `operands`: g, or g with copies of A and B that are padded. `dependent`: on the launch before,
  // which writes these copies.
  void run(const kzoo::gemm<float>& operands, const kzoo::gemm<float>& g,
           const common::stream_k& work, void* workspace, kzoo::stream_t stream,
           bool dependent = false) const {
    const auto one = [](const kzoo::gemm<float>& x) {
      return kzoo::gemm_batch<float>{x, 1, 0, 0, 0};
    };
    run(one(operands), one(g), work, workspace, stream, dependent);
  }
  // A batch of at most 65535 products, whose tiles are not divided.
  void run(const kzoo::gemm_batch<float>& operands, const kzoo::gemm_batch<float>& all,
           const common::stream_k& work, void* workspace, kzoo::stream_t stream,
           bool dependent = false) const {
    auto* const bytes = static_cast<unsigned char*>(workspace);
    common::partial_sums<Tile> sums{nullptr, 1.0f};
    if (work.sk_blocks > 0)
      sums.slots = reinterpret_cast<float4*>(bytes + common::arrivals::bytes(work.tiles()));
    kzoo::launch({.grid = dim3(work.blocks(), all.products()),
                  .block = Tile::block(),
                  .dynamic_shared = Tile::kSharedBytes,
                  .max_threads = Tile::kBlockThreads,
                  .stream = stream,
                  .dependent = dependent},
                 kernel_for(operands, all), operands, all, work, sums,
                 common::arrivals{static_cast<unsigned long long*>(workspace), numbers_.next()});
  }

 private:
  static int tiles_along(std::int64_t size, int tile) {
    return static_cast<int>((size + tile - 1) / tile);
  }
  static auto kernel_for(const kzoo::gemm_batch<float>& operands,
                         const kzoo::gemm_batch<float>& all) {
    const kzoo::gemm<float>& g = all.first;
    const bool c_aligned = g.n % 4 == 0 && g.ldc % 4 == 0 && all.stride_c % 4 == 0 &&
                           reinterpret_cast<std::uintptr_t>(g.c) % 16 == 0;
    kzoo::gemm<float> read = operands.first;
    read.c = nullptr, read.ldc = 0;  // asks for A and B alone
    if (!Tile::aligned(read) || operands.stride_a % 4 != 0 || operands.stride_b % 4 != 0)
      return split_k_kernel<Tile, false, false>;
    return c_aligned ? split_k_kernel<Tile, true, true> : split_k_kernel<Tile, true, false>;
  }

  persistent::run_numbers numbers_;
};

template <class Tile, bool kSimulated>
class variant : public common::simulated<kSimulated> {
 public:
  static constexpr unsigned compute_capability = 80;
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    const char* const reason = common::too_many_tiles<Tile>(p);
    return reason != nullptr ? reason : Tile::too_much_shared_memory(d);
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return product<Tile>::workspace_bytes(schedule(p, d));
  }
  variant(const kzoo_problem& p, const kzoo_device& d) : work_(schedule(p, d)) {
    product<Tile>::prepare();
  }
  void run(const kzoo::gemm<float>& g, const kzoo_arguments& args) const {
    product_.run(g, g, work_, args.workspace, static_cast<kzoo::stream_t>(args.stream));
  }

 private:
  static common::stream_k schedule(const kzoo_problem& p, const kzoo_device& d) {
    // In cycles: until the first k tile is there, and from the last one to a stored sum. A k tile
    // of all blocks on an SM takes kCycles, at one FMA for each of its 128 cores.
    constexpr int kStart = 2000, kFixup = 3000;
    constexpr int kCycles = Tile::kBM * Tile::kBN * Tile::kBK / 128 * Tile::kBlocksPerSm;
    const common::stream_k whole = product<Tile>::divided(p, d, 1);
    const int splits =
        best_splits(whole.tiles(), whole.k_tiles, product<Tile>::wave(d),
                    kzoo::ceil_div(kStart, kCycles), kzoo::ceil_div(kFixup, kCycles));
    return product<Tile>::divided(p, d, splits);
  }

  common::stream_k work_;
  product<Tile> product_;
};

}  // namespace split_k

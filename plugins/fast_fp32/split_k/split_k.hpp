#pragma once
// pipelined with K divided between blocks, in one launch: each block leaves its sums of a tile in
// the workspace, and the last one of a tile adds them up, always in the same order. A second launch
// adds up more than 512 KB of parts.
//
//   pipelined   launch: sums of parts | launch: add them up
//   here        launch: sums of parts, the last block of a tile adds them up

#include <fast_fp32/common/arrivals.hpp>
#include <fast_fp32/common/layout_copies.hpp>
#include <fast_fp32/common/simulated.hpp>
#include <fp32/15_sliced_k/slices.hpp>
#include <kzoo/dependent_launch.hpp>

#include "schedule.hpp"

namespace split_k {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, int Stages, int Slices,
          int BlocksPerSm>
struct tiling
    : sliced_k::sliced<
          common::staged<common::warp_tiling<BM, BN, BK, WM, WN, TM, TN>, Stages, BlocksPerSm>,
          Slices> {
  // Each stage has A's k tile and B's.
  template <kzoo::layout kLayout>
  using b_layout = fast_fp32::b_lines<BK, BN, kzoo::is_b_transposed(kLayout)>;
  template <kzoo::layout kLayout>
  static constexpr int kStageOf = tiling::Layout::kSize + b_layout<kLayout>::kSize;  // floats
  // Steps before K. With slices that gains nothing.
  static constexpr bool kLeavesOut = Slices == 1;
  static constexpr int kSumsStride = BN + 4;  // from row to row of the tile of C in shared memory
  // Of the stages, or afterwards the sums of all slices, or the tile of C.
  template <kzoo::layout kLayout>
  static constexpr std::size_t kSharedBytesOf =
      sizeof(float) * std::max({Stages * kStageOf<kLayout>, Slices == 1 ? 0 : Slices* BM* BN,
                                BM* kSumsStride});
  static constexpr std::size_t kSharedBytes = kSharedBytesOf<kzoo::layout::nn>;
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

// C = alpha sum + beta C from the tile of sums in shared memory: a line of threads stores a row,
// kWidth elements each.
template <class Tile, int kWidth, class Coords>
__device__ __forceinline__ void store_rows(const kzoo::gemm<float>& g, const Coords& coords,
                                           const float* shared) {
  constexpr int kPerLine = Tile::kBN / kWidth, kLines = Tile::kBlockThreads / kPerLine;
  static_assert(Tile::kBlockThreads % kPerLine == 0);
  const int line = Tile::block_thread() / kPerLine, col = Tile::block_thread() % kPerLine * kWidth;
  const int rows = coords.col0 + col < g.n ? min(Tile::kBM, g.m - coords.row0) : 0;
#pragma unroll 4
  for (int row = line; row < rows; row += kLines) {
    const float* const sums = &shared[row * Tile::kSumsStride + col];
    if constexpr (kWidth == 1) {
      g.store(coords.row0 + row, coords.col0 + col, *sums);
    } else {
      auto* const out =
          reinterpret_cast<float2*>(&g.c[(coords.row0 + row) * g.ldc + coords.col0 + col]);
      const float2 sum = *reinterpret_cast<const float2*>(sums);
      float2 result = make_float2(g.alpha * sum.x, g.alpha * sum.y);
      if (g.beta != 0) {
        const float2 old = *out;
        result = make_float2(result.x + g.beta * old.x, result.y + g.beta * old.y);
      }
      *out = result;
    }
  }
}

// The same from a thread's own rows, where rows of C do not start on 16 bytes: through shared
// memory. Where each thread stores its own four, one by one, each store writes a quarter of 32
// sectors. All threads call this.
template <class Tile, class Coords>
__device__ __forceinline__ void store_ragged(const kzoo::gemm<float>& g, const Coords& coords,
                                             const float4 (&own)[Tile::kOwnVec4s], float* shared,
                                             bool in_pairs) {
  constexpr int kPerRow = Tile::kTN / 4;
#pragma unroll
  for (int v = 0; v < Tile::kOwnVec4s; ++v) {
    const int row = coords.row(Tile::own_row() + v / kPerRow), col = coords.col(v % kPerRow * 4);
    common::store_vec4(shared + row * Tile::kSumsStride + col, own[v]);
  }
  __syncthreads();
  if (in_pairs) {
    store_rows<Tile, 2>(g, coords, shared);
  } else {
    store_rows<Tile, 1>(g, coords, shared);
  }
  __syncthreads();  // the stages are free again
}

// Without tests of copies, C is stored 16 bytes at a time; else `width_of_c` elements, 4, 2 or 1.
// `operands` has A and B, g has C; product number blockIdx.y of a batch,
// whose tiles are then not divided. In a dependent launch, the launch before may write copies of A
// and B.
template <class Tile, fast_fp32::copies kCopies, kzoo::layout kLayout>
__global__ void __launch_bounds__(Tile::kBlockThreads, Tile::kBlocksPerSm)
    split_k_kernel(kzoo::gemm_batch<float, kLayout> all_operands, kzoo::gemm_batch<float> all,
                   int width_of_c, common::stream_k work, common::partial_sums<Tile> sums,
                   common::arrivals arrivals) {
  const int product = static_cast<int>(blockIdx.y);
  const kzoo::gemm<float, kLayout> operands = all_operands[product];
  const kzoo::gemm<float> g = all[product];
  using Layout = typename Tile::Layout;  // padded
  using b_layout = typename Tile::template b_layout<kLayout>;
  constexpr int kStage = Tile::template kStageOf<kLayout>;
  float* const stages = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)
  float* const last_stage = stages + (Tile::kStages - 1) * kStage;
  const int slice_k = Tile::slice() * Tile::kSliceK;  // where the thread's slice of a k tile begins
  const int block = static_cast<int>(blockIdx.x);
  kzoo::release_dependents();
  kzoo::wait_for_previous();
  // A block with a tile of its own needs none of the divisions that find a share.
  const bool is_whole = block < work.dp_tiles;
  const std::int64_t begin = is_whole ? 0 : work.begin(block);
  const std::int64_t end = is_whole ? work.k_tiles : work.begin(block + 1);
  for (std::int64_t at = begin; at < end;) {
    const auto [tile, first, k_tiles] = is_whole
                                            ? common::stream_k::tile_work{block, 0, work.k_tiles}
                                            : work.tile_work_at(at, block);
    const auto coords = work.coords_in<Tile>(tile);

    fast_fp32::async_copies<Tile, kCopies, Tile::kBlockThreads, kLayout> copies(
        operands, Tile::block_thread(), coords.row0, coords.col0, first);
    // Whether k tile 0 begins before K, by two steps at least, which are left out.
    constexpr bool kLeavesOut = kCopies != fast_fp32::copies::whole && Tile::kLeavesOut;
    const int missing = kLeavesOut ? copies.missing(first) : 0;
    const int begun = missing > 1 ? 1 : 0;
#pragma unroll 1
    for (int k_tile = 0; k_tile < Tile::kStages - 1 + begun; ++k_tile) {
      copies.copy_all(stages + k_tile * kStage, k_tile < k_tiles);
      kzoo::commit_group();
      copies.advance(k_tile + 1 < k_tiles);
    }

    float *reading = stages, *filling = last_stage;
    float a[2][Tile::kTM], b[2][Tile::kTN];
    const auto read_as = [&](int k, int turn) {  // in a stage k steps are rows of both tiles
      fast_fp32::read_fragments<Tile, Layout, b_layout::kStride>(
          reading + slice_k * Layout::kStride,
          reading + Layout::kSize + slice_k * b_layout::kStride, coords, k, a[turn], b[turn]);
    };
    const auto read = [&](int k) { read_as(k, k % 2); };  // k step k of the slice
    const auto wait_for_next_stage = [] {
      kzoo::wait_group<Tile::kStages - 2>();  // all but the youngest kStages - 2 have arrived
      __syncthreads();  // this k tile is complete, and all threads have read the one before it
    };
    wait_for_next_stage();

    float acc[Tile::kTM][Tile::kTN] = {};  // (TM, TN)
    if (kLeavesOut && begun > 0) {         // all stages are being filled, the last one as well
#pragma unroll 1
      for (int k = missing / 2 * 2; k < Tile::kBK; k += 2) {
        read_as(k, 0);
        read_as(k + 1, 1);
        common::outer_product(a[0], b[0], acc);
        common::outer_product(a[1], b[1], acc);
      }
      filling = reading;
      reading += kStage;
      wait_for_next_stage();
    }
    read(0);
#pragma unroll 1
    for (int k_tile = begun; k_tile < k_tiles; ++k_tile) {
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
          reading = reading == last_stage ? stages : reading + kStage;
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
    const int slot = work.slot(block, at == begin);
    at += k_tiles;
    if (k_tiles < work.k_tiles) {
#pragma unroll
      for (int v = 0; v < Tile::kOwnVec4s; ++v) own_part(sums, slot, v) = own[v];
      const std::int64_t of_tile = std::int64_t{tile} * work.k_tiles;
      const int from = work.sk_block_of(of_tile);
      const int to = work.sk_block_of(of_tile + work.k_tiles - 1);
      if (arrivals.counters == nullptr) continue;  // add_up_kernel follows
      if (!arrivals.is_last(tile, to - from + 1)) continue;
      add_parts(work, sums, from, to, work.begin(from) >= of_tile, own);
    }
    if (kCopies == fast_fp32::copies::whole || width_of_c == 4) {
#pragma unroll
      for (int v = 0; v < Tile::kOwnVec4s; ++v) {
        const int i = Tile::own_row() + v / sums.kPerRow, j = v % sums.kPerRow * 4;
        const int row = coords.row0 + coords.row(i), col = coords.col0 + coords.col(j);
        float four[4];
        common::unpack(own[v], four);
        if (row < g.m && col < g.n) common::store_c<true>(g, row, col, four);
      }
    } else {
      store_ragged<Tile>(g, coords, own, stages, width_of_c == 2);
    }
  }
}

// Adds up the parts of tile number blockIdx.x of those that are shared, and of these the float4s
// number blockIdx.y of all threads.
template <class Tile>
__global__ void __launch_bounds__(Tile::kBlockThreads)
    add_up_kernel(kzoo::gemm<float> g, int width_of_c, common::stream_k work,
                  common::partial_sums<Tile> sums) {
  const int tile = work.dp_tiles + static_cast<int>(blockIdx.x);
  const std::int64_t of_tile = std::int64_t{tile} * work.k_tiles;
  const int from = work.sk_block_of(of_tile), to = work.sk_block_of(of_tile + work.k_tiles - 1);
  kzoo::release_dependents();
  kzoo::wait_for_previous();
  if (from == to) return;  // one block computed all of the tile, and has stored it
  const int v = static_cast<int>(blockIdx.y);
  float4 total = own_part(sums, work.slot(from, work.begin(from) >= of_tile), v);
#pragma unroll 8
  for (int block = from + 1; block <= to; ++block)
    total = add(total, own_part(sums, work.slot(block, true), v));
  const auto coords = work.coords_in<Tile>(tile);
  const int row = coords.row0 + coords.row(Tile::own_row() + v / sums.kPerRow);
  const int col = coords.col0 + coords.col(v % sums.kPerRow * 4);
  float four[4];
  common::unpack(total, four);
  if (width_of_c < 4) {
    common::store_c<false>(g, row, col, four);
  } else if (row < g.m && col < g.n) {
    common::store_c<true>(g, row, col, four);
  }
}

// The kernel, with a schedule that is decided elsewhere.
template <class Tile>
class product {
 public:
  // `all_for_sm_90`: a launch that adds up parts may begin early.
  explicit product(bool all_for_sm_90 = false) : all_for_sm_90_(all_for_sm_90) {}

  // Whether a second launch adds up parts, by all SMs: where the last block of a tile would have to
  // read so much.
  static bool adds_up_apart(const common::stream_k& work) {
    constexpr std::int64_t kMostBytes = 512 * 1024, kPart = sizeof(float) * Tile::kBM * Tile::kBN;
    return work.sk_blocks > 0 && work.sk_blocks * kPart > kMostBytes * work.sk_tiles();
  }
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
  // For operands in this layout.
  template <kzoo::layout kLayout = kzoo::layout::nn>
  static void prepare() {
    using fast_fp32::copies;
    for (const copies how : {copies::whole, copies::vectors, copies::pairs, copies::elements}) {
      kzoo::allow_dynamic_shared(kernel<kLayout>(how), Tile::template kSharedBytesOf<kLayout>);
    }
  }
  // `operands`: g, or g with copies of A and B that are padded. `dependent`: on the launch before,
  // which writes these copies.
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& operands, const kzoo::gemm<float>& g,
           const common::stream_k& work, void* workspace, kzoo::stream_t stream,
           bool dependent = false) const {
    run(kzoo::gemm_batch<float, kLayout>{operands, 1, 0, 0, 0},
        kzoo::gemm_batch<float>{g, 1, 0, 0, 0}, work, workspace, stream, dependent);
  }
  // A batch of at most 65535 products; if more than one, their tiles are not divided.
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm_batch<float, kLayout>& operands, const kzoo::gemm_batch<float>& all,
           const common::stream_k& work, void* workspace, kzoo::stream_t stream,
           bool dependent = false) const {
    auto* const bytes = static_cast<unsigned char*>(workspace);
    const int width = width_of_c(all);
    const bool apart = adds_up_apart(work);
    common::partial_sums<Tile> sums{nullptr, 1.0f};
    if (work.sk_blocks > 0)
      sums.slots = reinterpret_cast<float4*>(bytes + common::arrivals::bytes(work.tiles()));
    kzoo::launch({.grid = dim3(work.blocks(), all.products()),
                  .block = Tile::block(),
                  .dynamic_shared = Tile::template kSharedBytesOf<kLayout>,
                  .max_threads = Tile::kBlockThreads,
                  .stream = stream,
                  .dependent = dependent},
                 kernel<kLayout>(copies_of(operands, width == 4)), operands, all, width, work, sums,
                 common::arrivals{apart ? nullptr : static_cast<unsigned long long*>(workspace),
                                  numbers_.next()});
    if (!apart) return;
    kzoo::launch({.grid = dim3(work.sk_tiles(), Tile::kOwnVec4s),
                  .block = Tile::block(),
                  .max_threads = Tile::kBlockThreads,
                  .stream = stream,
                  .dependent = all_for_sm_90_},
                 add_up_kernel<Tile>, all.first, width, work, sums);
  }

 private:
  static int tiles_along(std::int64_t size, int tile) {
    return static_cast<int>((size + tile - 1) / tile);
  }
  template <kzoo::layout kLayout>
  static fast_fp32::copies copies_of(const kzoo::gemm_batch<float, kLayout>& operands,
                                     bool vectors_of_c) {
    // Whether an operand consists of so many elements at a time.
    const auto consists_of = [&](int width, const float* p, int size, std::ptrdiff_t ld,
                                 std::ptrdiff_t stride) {
      return reinterpret_cast<std::uintptr_t>(p) % (width * sizeof(float)) == 0 &&
             size % width == 0 && ld % width == 0 && (operands.count == 1 || stride % width == 0);
    };
    const auto& [g, count, stride_a, stride_b, stride_c] = operands;
    constexpr bool kA = kzoo::is_a_transposed(kLayout), kB = !kzoo::is_b_transposed(kLayout);
    const auto both = [&](int width) {
      return (!kA || consists_of(width, g.a, g.m, g.lda, stride_a)) &&
             (!kB || consists_of(width, g.b, g.n, g.ldb, stride_b));
    };
    if (!both(2)) return fast_fp32::copies::elements;
    if (!both(4)) return fast_fp32::copies::pairs;
    const bool is_whole = vectors_of_c && g.k % Tile::kBK == 0 && !(kA && g.m % Tile::kBM != 0) &&
                          !(kB && g.n % Tile::kBN != 0);
    return is_whole ? fast_fp32::copies::whole : fast_fp32::copies::vectors;
  }
  // Elements of C that are stored at a time.
  static int width_of_c(const kzoo::gemm_batch<float>& all) {
    const kzoo::gemm<float>& g = all.first;
    const auto stores = [&](int width) {
      return g.n % width == 0 && g.ldc % width == 0 && all.stride_c % width == 0 &&
             reinterpret_cast<std::uintptr_t>(g.c) % (width * sizeof(float)) == 0;
    };
    return stores(4) ? 4 : stores(2) ? 2 : 1;
  }
  template <kzoo::layout kLayout>
  static auto kernel(fast_fp32::copies how) {
    using fast_fp32::copies;
    if (how == copies::whole) return split_k_kernel<Tile, copies::whole, kLayout>;
    if constexpr (kLayout != kzoo::layout::nt) {  // there nothing keeps its order
      if (how == copies::pairs) return split_k_kernel<Tile, copies::pairs, kLayout>;
      if (how == copies::elements) return split_k_kernel<Tile, copies::elements, kLayout>;
    }
    return split_k_kernel<Tile, copies::vectors, kLayout>;
  }

  bool all_for_sm_90_;
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

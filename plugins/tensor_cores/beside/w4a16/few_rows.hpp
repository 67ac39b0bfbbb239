#pragma once
// Few rows of A: what takes the time is to read the weights once. So all of a block's copies of
// them start first, as many as shared memory has room for.
//
//              columns of B, 64 for each group of warps
//            +------+------+
//     part   | w0   | w1   |  128 steps along K: a tile, with 64 scales
//     of K   | w2   | w3   |
//            | w0   | w1   |  (4 warps in 2 groups)
//            | w2   | w3   |
//            +------+------+
//
// The weights are the operand with 16 rows of mma.sync, and rows of A the one with 8 columns: what
// comes out is C transposed. A lane (row r = lane / 4 of an operand, t = lane % 4) has 32 steps
// from 32 t on of eight columns, from 8 r on, which it has copied itself, 16 bytes each.

#include <fp32/beside/common/arrivals.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/int4.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "unpack.hpp"

namespace w4a16 {

inline constexpr int kBlock = 128;   // steps along K with one scale
inline constexpr int kColumns = 64;  // of a warp
inline constexpr int kOfLane = 8;    // columns, neighbours
inline constexpr int kStepsOfLane = 32;
inline constexpr int kPerWord = 8;  // weights

// A stage of a warp: what one tile's lanes have copied, and the scales of its columns.
struct stage {
  uint4 weights[kOfLane][32];
  float scales[kColumns];
};

// Rows: of A, 1, 8 or 16.
template <int Rows, int Warps, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kRows = Rows, kWarps = Warps, kThreads = 32 * Warps, kStages = Stages;
  static constexpr int kBlocksPerSm = BlocksPerSm;
  static constexpr int kOperands = (Rows + 7) / 8;  // of 8 rows of A each
  // What a block may have: an SM has 228 KB, and keeps 1 KB for each block.
  static constexpr int kSharedBytes = (BlocksPerSm == 1 ? 226 : 112) * 1024;
  static constexpr int kRing = Warps * Stages * int(sizeof(stage));
  // What is left is for A.
  static constexpr int kMostSteps =
      (kSharedBytes - kRing) / (Rows * int(sizeof(__half))) / kBlock * kBlock;
  static_assert(kMostSteps >= kBlock, "there is no room for A");
};

// How a product is divided. blockIdx.x counts strips of columns, blockIdx.y parts of K.
struct division {
  int groups;  // of warps, each with columns of its own: a power of two
  int strips, parts;
  int blocks;  // of K, in a part

  template <class Tile>
  static division of(std::int64_t n, std::int64_t k, const kzoo_device& d) {
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    // With so many columns a block reads four times as many bytes of weights as of A, or more.
    int groups = std::max(Tile::kRows / 4, 1);
    while (groups > 1 && groups / 2 * kColumns >= n) groups /= 2;
    const std::int64_t strips = up(n, std::int64_t{groups} * kColumns), blocks = up(k, kBlock);
    const std::int64_t sms = std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u);
    const std::int64_t wanted = Tile::kBlocksPerSm * sms / strips;
    const std::int64_t parts = std::clamp(wanted, up(blocks, Tile::kMostSteps / kBlock), blocks);
    const std::int64_t of_part = up(blocks, parts);
    return {groups, static_cast<int>(strips), static_cast<int>(up(blocks, of_part)),
            static_cast<int>(of_part)};
  }
  int columns() const { return groups * kColumns; }
};

// The parts of each sum, in the workspace, and their counters.
struct partial_sums {
  common::arrivals arrivals;
  float* parts;

  static std::size_t bytes(const division& d, int rows) {
    if (d.parts == 1) return 0;
    return common::arrivals::bytes(d.strips) + sizeof(float) * rows * d.columns() *
                                                   static_cast<std::size_t>(d.parts) *
                                                   static_cast<std::size_t>(d.strips);
  }
  static partial_sums in(void* workspace, const division& d, unsigned long long run) {
    if (d.parts == 1) return {};
    auto* const bytes = static_cast<unsigned char*>(workspace);
    return {{static_cast<unsigned long long*>(workspace), run},
            reinterpret_cast<float*>(bytes + common::arrivals::bytes(d.strips))};
  }
};

// A part of A in shared memory, as the lanes read it: for each block of K and each of the four
// words of weights that a lane has of a column, what the 32 lanes multiply these with.
template <class Tile>
struct a_part {
  uint4* operands;

  static constexpr int kOfWord = 4 * Tile::kRows;  // of 16 bytes
  static constexpr int kOfBlock = kStepsOfLane / kPerWord * kOfWord;

  // With one row, all columns of the operand are that row.
  __device__ __forceinline__ const uint4& at(int block, int word, int operand, int lane) const {
    return operands[block * kOfBlock + word * kOfWord + operand * 32 +
                    (Tile::kRows == 1 ? lane % 4 : lane)];
  }

  // Copies `blocks` of K from step k0 on, with zeros outside A.
  template <class G>
  __device__ __forceinline__ void copy(const G& g, int k0, int blocks) const {
    for (int i = static_cast<int>(threadIdx.x); i < blocks * kOfWord; i += Tile::kThreads) {
      const int t = i % 4, row = i / 4 % Tile::kRows, block = i / kOfWord;
      const int k = k0 + block * kBlock + t * kStepsOfLane;
      const auto* from = reinterpret_cast<const uint4*>(g.a + row * g.lda + k);
      uint4 words[4] = {};
      if (row < g.m && k < g.k) {
#pragma unroll
        for (int word = 0; word < 4; ++word) words[word] = from[word];
      }
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        operands[block * kOfBlock + word * kOfWord + row * 4 + t] = in_order_of_pairs(words[word]);
      }
    }
  }
};

// A warp's columns of B, from which it copies a tile at a time.
template <class G>
struct warp_columns {
  const unsigned char* weights;  // the lane's first
  std::ptrdiff_t column_bytes;
  const float* scales;
  int first, inside;  // the lane's first column, and how many of its columns there are

  __device__ warp_columns(const G& g, int col0, int lane)
      : column_bytes(g.ldb / 2), first(col0 + lane / 4 * kOfLane), inside(g.n - first) {
    weights = reinterpret_cast<const unsigned char*>(g.b) + first * column_bytes + lane % 4 * 16;
    scales = g.scales_b.scales + col0 + lane;
  }

  // Starts to copy block `block` of K, with zeros outside B.
  __device__ __forceinline__ void copy(const G& g, int block, int lane, stage& to) const {
    const bool has_steps = block * kBlock + lane % 4 * kStepsOfLane < g.k;
    const unsigned char* from = weights + std::ptrdiff_t{block} * (kBlock / 2);
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      kzoo::copy_async<16>(&to.weights[i][lane], from + i * column_bytes, has_steps && i < inside);
    }
    const int col = first - lane / 4 * kOfLane + lane;
    const float* of_block = scales + block * g.scales_b.ld;
#pragma unroll
    for (int i = 0; i < kColumns; i += 32) {
      kzoo::copy_async<4>(&to.scales[lane + i], of_block + i, col + i < g.n);
    }
  }
};

// A warp's sums: of tile i of 16 columns and 8 rows of A, number `operand`, those of two columns
// and two rows. With r = lane / 4 and t = lane % 4,
//
//                        row 2 t    row 2 t + 1
//     column 8 r + 2 i     [0]          [1]
//     the next one         [2]          [3]
template <class Tile>
using accumulators = float[kOfLane / 2][Tile::kOperands][4];

// sums += scales times the products of a tile.
template <class T, class Tile>
__device__ __forceinline__ void multiply(const stage& tile, const a_part<Tile>& a, int block,
                                         int lane, accumulators<Tile>& sums) {
  accumulators<Tile> acc = {};
  uint4 weights[kOfLane];
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) weights[i] = tile.weights[i][lane];
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    uint4 rows[Tile::kOperands];
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) rows[o] = a.at(block, word, o, lane);
#pragma unroll
    for (int i = 0; i < kOfLane / 2; ++i) {
      const auto word_of = [word](const uint4& w) {
        return word == 0 ? w.x : word == 1 ? w.y : word == 2 ? w.z : w.w;
      };
      unsigned even[4], odd[4];
      unpack<T>(word_of(weights[2 * i]), even);
      unpack<T>(word_of(weights[2 * i + 1]), odd);
      const unsigned low[4] = {even[0], odd[0], even[1], odd[1]};
      const unsigned high[4] = {even[2], odd[2], even[3], odd[3]};
#pragma unroll
      for (int o = 0; o < Tile::kOperands; ++o) {
        const unsigned low_rows[2] = {rows[o].x, rows[o].y}, high_rows[2] = {rows[o].z, rows[o].w};
        kzoo::mma<T>(acc[i][o], low, low_rows);
        kzoo::mma<T>(acc[i][o], high, high_rows);
      }
    }
  }
  const float* scales = tile.scales + lane / 4 * kOfLane;
#pragma unroll
  for (int i = 0; i < kOfLane / 2; ++i) {
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][o][e] += scales[2 * i + e / 2] * acc[i][o][e];
    }
  }
}

// The block's sums: what its warps have, added up. `shared` is kWarps / groups times rows of
// columns() floats and some, to keep lanes in different banks.
template <class Tile>
struct block_sums {
  float* shared;
  int columns, slices;

  static constexpr int kPad = 4;
  __device__ __forceinline__ float* row(int slice, int row) const {
    return shared + (slice * Tile::kRows + row) * (columns + kPad);
  }
  __device__ __forceinline__ void leave(int slice, int col, int lane,
                                        const accumulators<Tile>& sums) const {
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int of = 8 * o + lane % 4 * 2 + e;
        if (of >= Tile::kRows) continue;
        auto* const to = reinterpret_cast<float4*>(row(slice, of) + col + lane / 4 * kOfLane);
        to[0] = {sums[0][o][e], sums[0][o][e + 2], sums[1][o][e], sums[1][o][e + 2]};
        to[1] = {sums[2][o][e], sums[2][o][e + 2], sums[3][o][e], sums[3][o][e + 2]};
      }
    }
  }
  __device__ __forceinline__ float at(int of, int col) const {
    float sum = 0;
    for (int slice = 0; slice < slices; ++slice) sum += row(slice, of)[col];
    return sum;
  }
};

// C, or the block's part of it; the last block of a strip adds up its parts.
template <class Tile, class G>
__device__ __forceinline__ void finish(const G& g, const division& d, const partial_sums& parts,
                                       const block_sums<Tile>& sums) {
  const int strip = static_cast<int>(blockIdx.x), part = static_cast<int>(blockIdx.y);
  const int count = Tile::kRows * sums.columns, col0 = strip * sums.columns;
  const auto for_each = [&](const auto& body) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += Tile::kThreads) body(i);
  };
  const auto store = [&](int i, float sum) {
    g.store_inside(i / sums.columns, col0 + i % sums.columns, sum);
  };
  const auto of_block = [&](int i) { return sums.at(i / sums.columns, i % sums.columns); };
  if (d.parts == 1) {
    for_each([&](int i) { store(i, of_block(i)); });
    return;
  }
  float* const of_strip = parts.parts + std::int64_t{strip} * d.parts * count;
  for_each([&](int i) { __stcg(of_strip + std::int64_t{part} * count + i, of_block(i)); });
  if (!parts.arrivals.is_last(strip, d.parts)) return;
  for_each([&](int i) {
    float sum = 0;
#pragma unroll 4
    for (int p = 0; p < d.parts; ++p) sum += __ldcg(of_strip + std::int64_t{p} * count + i);
    store(i, sum);
  });
}

template <class Tile, kzoo::block_scaled G>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    few_rows_kernel(G g, division d, partial_sums parts) {
  using T = typename G::a_type;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int columns = d.groups * kColumns, slices = Tile::kWarps / d.groups;
  const int group = warp % d.groups, slice = warp / d.groups;
  auto* const ring = kzoo::dynamic_shared<stage>();  // (kWarps, kStages)
  stage* const mine = ring + warp * Tile::kStages;
  const a_part<Tile> a{reinterpret_cast<uint4*>(ring + Tile::kWarps * Tile::kStages)};

  const int first = static_cast<int>(blockIdx.y) * d.blocks;  // of K
  const int blocks = min(d.blocks, kzoo::ceil_div(g.k, kBlock) - first);
  const warp_columns<G> from(g, static_cast<int>(blockIdx.x) * columns + group * kColumns, lane);
#pragma unroll
  for (int i = 0; i < Tile::kStages; ++i) {
    const int block = slice + i * slices;
    if (block < blocks) from.copy(g, first + block, lane, mine[i]);
    kzoo::commit_group();
  }
  a.copy(g, first * kBlock, blocks);
  __syncthreads();  // A is complete

  accumulators<Tile> sums = {};
  int reading = 0;
#pragma unroll 1
  for (int block = slice; block < blocks; block += slices) {
    kzoo::wait_group<Tile::kStages - 1>();
    __syncwarp();  // the scales have arrived, too, which other lanes have copied
    multiply<T>(mine[reading], a, block, lane, sums);
    __syncwarp();
    const int next = block + Tile::kStages * slices;
    if (next < blocks) from.copy(g, first + next, lane, mine[reading]);
    kzoo::commit_group();
    reading = reading + 1 == Tile::kStages ? 0 : reading + 1;
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the rings are free
  const block_sums<Tile> all{reinterpret_cast<float*>(ring), columns, slices};
  all.leave(slice, group * kColumns, lane, sums);
  __syncthreads();
  finish<Tile>(g, d, parts, all);
}

// Stages: for one row of A, and for more, which need room for A.
template <int Warps, int StagesOfOne, int Stages, int BlocksPerSm>
class few_rows {
 public:
  static constexpr int kMostRows = 16;
  static constexpr bool block_scales = true;
  using types = kzoo::types<kzoo::mixed<__nv_bfloat16, kzoo::int4x2, __nv_bfloat16>,
                            kzoo::mixed<__half, kzoo::int4x2, __half>>;
  using layouts = kzoo::layouts<kzoo::layout::nt>;
  static constexpr unsigned compute_capability = 80;
  static constexpr kzoo::granularity granularity{.k = kStepsOfLane, .row_bytes = 16};

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > kMostRows) return "it takes up to 16 rows of A";
    if (!kzoo::has_scale_blocks(p, {0, 0}, {1, kBlock}))
      return "it takes scales of B alone, for blocks of 1x128";
    if (p.alignment % 16 != 0) return "its matrices have to start at multiples of 16 bytes";
    const auto needed = with_tile(p.m, [](auto tile) { return decltype(tile)::kSharedBytes; });
    return d.kind == KZOO_CPU || static_cast<std::uint64_t>(needed) <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return with_tile(p.m, [&](auto tile) {
      return partial_sums::bytes(division::of<decltype(tile)>(p.n, p.k, d), decltype(tile)::kRows);
    });
  }
  few_rows(const kzoo_problem& p, const kzoo_device& d)
      : division_(
            with_tile(p.m, [&](auto tile) { return division::of<decltype(tile)>(p.n, p.k, d); })) {
    with_tile(p.m, [&](auto tile) {
      using Tile = decltype(tile);
      const auto allow = [&]<class T>(std::type_identity<T>) {
        using G = kzoo::scaled_gemm<kzoo::mixed<T, kzoo::int4x2, T>, kzoo::layout::nt>;
        kzoo::allow_dynamic_shared(few_rows_kernel<Tile, G>, shared_bytes<Tile>());
      };
      if (p.type_a == KZOO_F16) {
        allow(std::type_identity<__half>{});
      } else {
        allow(std::type_identity<__nv_bfloat16>{});
      }
    });
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    with_tile(g.m, [&](auto tile) {
      using Tile = decltype(tile);
      kzoo::launch({.grid = dim3(division_.strips, division_.parts),
                    .block = dim3(Tile::kThreads),
                    .dynamic_shared = shared_bytes<Tile>(),
                    .max_threads = Tile::kThreads,
                    .stream = static_cast<kzoo::stream_t>(arguments.stream)},
                   few_rows_kernel<Tile, G>, g, division_,
                   partial_sums::in(arguments.workspace, division_, numbers_.next()));
    });
  }

 private:
  // Calls body(the tile for so many rows).
  template <class Body>
  static auto with_tile(std::int64_t rows, const Body& body) {
    if (rows <= 1) return body(tiling<1, Warps, StagesOfOne, BlocksPerSm>{});
    if (rows <= 8) return body(tiling<8, Warps, Stages, BlocksPerSm>{});
    return body(tiling<16, Warps, Stages, BlocksPerSm>{});
  }
  template <class Tile>
  std::size_t shared_bytes() const {
    const int sums = Tile::kWarps / division_.groups * Tile::kRows *
                     (division_.columns() + block_sums<Tile>::kPad) * int(sizeof(float));
    const int used = Tile::kRing + Tile::kRows * division_.blocks * kBlock * int(sizeof(__half));
    return static_cast<std::size_t>(std::max(used, sums));
  }

  division division_;
  persistent::run_numbers numbers_;
};

}  // namespace w4a16

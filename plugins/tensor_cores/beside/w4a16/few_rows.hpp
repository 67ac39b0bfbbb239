#pragma once
// Up to 16 rows of A: what takes the time is to read the weights once. So a block's copies of them
// start first, as many as shared memory has room for.
//
//              columns of B, 64 for each group of warps
//            +------+------+
//     part   | w0   | w1   |  a block of K: a stage
//     of K   | w2   | w3   |
//            | w0   | w1   |  (4 warps in 2 groups)
//            | w2   | w3   |
//            +------+------+

#include <fp32/beside/common/arrivals.hpp>
#include <fp32/beside/common/simulated.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weights.hpp"

namespace w4a16 {

// Rows: of A, 1, 8 or 16.
template <int Rows, int Warps, int Stages, int BlocksPerSm, keep Keep>
struct few_rows_tile {
  static constexpr keep kKeep = Keep;
  using stage = weight_stage<8>;
  static constexpr int kRows = Rows, kWarps = Warps, kThreads = 32 * Warps, kStages = Stages;
  static constexpr int kBlocksPerSm = BlocksPerSm;
  static constexpr int kOperands = (Rows + 7) / 8;  // of 8 rows of A each
  static constexpr int kSharedBytes = (BlocksPerSm == 1 ? kMaxSharedKb : 112) * 1024;
  static constexpr int kRing = Warps * Stages * int(sizeof(stage));
  // What is left is for A.
  static constexpr int kMostBlocks = (kSharedBytes - kRing) / (Rows * int(sizeof(__half)) * kBlock);
  static_assert(kMostBlocks >= 1, "there is no room for A");
};

// How a product is divided. blockIdx.x counts strips of columns, blockIdx.y parts of K.
struct strips_and_parts {
  int groups;  // of warps, each with columns of its own: a power of two
  int strips, parts;
  int blocks;  // of K, in a part

  template <class Tile>
  static strips_and_parts of(std::int64_t n, std::int64_t k, const kzoo_device& d) {
    constexpr int kColumns = Tile::stage::kColumns;
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    // With so many columns a block reads four times as many bytes of weights as of A, or more.
    int groups = std::max(Tile::kRows / 4, 1);
    while (groups > 1 && groups / 2 * kColumns >= n) groups /= 2;
    const std::int64_t strips = up(n, std::int64_t{groups} * kColumns), blocks = up(k, kBlock);
    const std::int64_t sms = std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u);
    const std::int64_t wanted = Tile::kBlocksPerSm * sms / strips;
    const std::int64_t parts = std::clamp(wanted, up(blocks, Tile::kMostBlocks), blocks);
    const std::int64_t of_part = up(blocks, parts);
    return {groups, static_cast<int>(strips), static_cast<int>(up(blocks, of_part)),
            static_cast<int>(of_part)};
  }
};

// The parts of each sum, in the workspace, and their counters.
struct partial_sums {
  common::arrivals arrivals;
  float* parts;

  // `sums`: of a strip (a tile), of which there are `count`.
  static std::size_t bytes(std::int64_t count, int parts, int sums) {
    if (parts == 1) return 0;
    return common::arrivals::bytes(count) + sizeof(float) * static_cast<std::size_t>(sums) *
                                                static_cast<std::size_t>(parts) *
                                                static_cast<std::size_t>(count);
  }
  static partial_sums in(void* workspace, std::int64_t count, int parts, unsigned long long run) {
    if (parts == 1) return {};
    auto* const bytes = static_cast<unsigned char*>(workspace);
    return {{static_cast<unsigned long long*>(workspace), run},
            reinterpret_cast<float*>(bytes + common::arrivals::bytes(count))};
  }
};

// A part of A in shared memory, as lanes read it: for each block of K and each of the four words of
// weights that a lane has of a column, what the 32 lanes multiply these with.
template <class Tile>
struct a_part {
  uint4* operands;

  static constexpr int kOfWord = 4 * Tile::kRows;  // of 16 bytes
  static constexpr int kOfBlock = kWordsOfLane * kOfWord;

  // With one row, all columns of the operand are that row.
  __device__ __forceinline__ uint4 at(int block, int word, int operand, int lane) const {
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
      uint4 words[kWordsOfLane] = {};
      if (row < g.m && k < g.k) {
#pragma unroll
        for (int word = 0; word < kWordsOfLane; ++word) words[word] = from[word];
      }
#pragma unroll
      for (int word = 0; word < kWordsOfLane; ++word)
        operands[block * kOfBlock + word * kOfWord + row * 4 + t] = apart::in_order(words[word]);
    }
  }
};

// What the warps of a block have, to be added up: in shared memory, for each slice of K that has a
// warp of its own, rows of floats, with some more to keep lanes in different banks.
template <class Tile>
struct sums_of_slices {
  float* shared;
  int columns, slices;

  static constexpr int kPad = 4;
  __device__ __forceinline__ float* row(int slice, int row) const {
    return shared + (slice * Tile::kRows + row) * (columns + kPad);
  }
  __device__ __forceinline__ void leave(
      int slice, int col, int lane,
      const accumulators<typename Tile::stage, Tile::kOperands>& sums) const {
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int of = 8 * o + lane % 4 * 2 + e;
        if (of >= Tile::kRows) continue;
        auto* const to =
            reinterpret_cast<float4*>(row(slice, of) + col + lane / 4 * Tile::stage::kOfLane);
        to[0] = {sums[0][o][e], sums[0][o][e + 2], sums[1][o][e], sums[1][o][e + 2]};
        to[1] = {sums[2][o][e], sums[2][o][e + 2], sums[3][o][e], sums[3][o][e + 2]};
      }
    }
  }
  __device__ __forceinline__ float at(int of, int col) const {
    float sum = 0;
#pragma unroll 4
    for (int slice = 0; slice < slices; ++slice) sum += row(slice, of)[col];
    return sum;
  }
};

// C, or the block's part of it; the last block of a strip adds up its parts.
template <class Tile, class G>
__device__ __forceinline__ void finish(const G& g, int parts, const partial_sums& partial,
                                       const sums_of_slices<Tile>& sums) {
  const int strip = static_cast<int>(blockIdx.x), part = static_cast<int>(blockIdx.y);
  const int count = Tile::kRows * sums.columns, col0 = strip * sums.columns;
  const auto for_each = [&](const auto& body) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += Tile::kThreads) body(i);
  };
  const auto of_block = [&](int i) { return sums.at(i / sums.columns, i % sums.columns); };
  const auto store = [&](int i, float sum) {
    g.store_inside(i / sums.columns, col0 + i % sums.columns, sum);
  };
  if (parts == 1) {
    for_each([&](int i) { store(i, of_block(i)); });
    return;
  }
  float* const of_strip = partial.parts + std::int64_t{strip} * parts * count;
  for_each([&](int i) { __stcg(of_strip + std::int64_t{part} * count + i, of_block(i)); });
  if (!partial.arrivals.is_last(strip, parts)) return;
  for_each([&](int i) {
    float sum = 0;
#pragma unroll 4
    for (int p = 0; p < parts; ++p) sum += __ldcg(of_strip + std::int64_t{p} * count + i);
    store(i, sum);
  });
}

template <class Tile, kzoo::block_scaled G>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    few_rows_kernel(G g, strips_and_parts d, partial_sums partial) {
  using stage = typename Tile::stage;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int columns = d.groups * stage::kColumns, slices = Tile::kWarps / d.groups;
  const int group = warp % d.groups, slice = warp / d.groups;
  auto* const rings = kzoo::dynamic_shared<stage>();  // (kWarps, kStages)
  stage* const ring = rings + warp * Tile::kStages;
  const a_part<Tile> a{reinterpret_cast<uint4*>(rings + Tile::kWarps * Tile::kStages)};

  const int first = static_cast<int>(blockIdx.y) * d.blocks;  // of K
  const int blocks = min(d.blocks, kzoo::ceil_div(g.k, kBlock) - first);
  const weight_copies<G, stage, Tile::kKeep> from(
      g, static_cast<int>(blockIdx.x) * columns + group * stage::kColumns, lane);
#pragma unroll
  for (int i = 0; i < Tile::kStages; ++i) {
    const int block = slice + i * slices;
    if (block < blocks) from.copy(first + block, ring[i]);
    kzoo::commit_group();
  }
  a.copy(g, first * kBlock, blocks);
  __syncthreads();  // A is complete

  accumulators<stage, Tile::kOperands> sums = {};
  int reading = 0;
#pragma unroll 1
  for (int block = slice; block < blocks; block += slices) {
    kzoo::wait_group<Tile::kStages - 1>();
    __syncwarp();  // scales that other lanes have copied have arrived, too
    multiply<typename G::a_type, apart, 2, Tile::kOperands>(
        ring[reading], lane, [&](int word, int o) { return a.at(block, word, o, lane); }, sums);
    __syncwarp();
    const int next = block + Tile::kStages * slices;
    if (next < blocks) from.copy(first + next, ring[reading]);
    kzoo::commit_group();
    reading = reading + 1 == Tile::kStages ? 0 : reading + 1;
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the rings are free
  const sums_of_slices<Tile> all{reinterpret_cast<float*>(rings), columns, slices};
  all.leave(slice, group * stage::kColumns, lane, sums);
  __syncthreads();
  finish<Tile>(g, d.parts, partial, all);
}

// Stages: with one row of A, and with more, which leave less room.
template <int Warps, int StagesOfOne, int Stages, int BlocksPerSm, keep kKeep = keep::as_ever>
class few_rows : public for_weights, public common::simulated<kKeep == keep::as_ever> {
 public:
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > 16) return "it takes up to 16 rows of A";
    return objection(p, d, with_tile(p.m, [](auto tile) { return decltype(tile)::kSharedBytes; }));
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return with_tile(p.m, [&](auto tile) {
      using Tile = decltype(tile);
      const auto of = strips_and_parts::of<Tile>(p.n, p.k, d);
      return partial_sums::bytes(of.strips, of.parts,
                                 Tile::kRows * of.groups * Tile::stage::kColumns);
    });
  }
  few_rows(const kzoo_problem& p, const kzoo_device& d) {
    with_tile(p.m, [&](auto tile) {
      using Tile = decltype(tile);
      division_ = strips_and_parts::of<Tile>(p.n, p.k, d);
      for_type(p, [&]<class T>(T) {
        kzoo::allow_dynamic_shared(few_rows_kernel<Tile, gemm<T>>, shared_bytes<Tile>());
      });
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
                   partial_sums::in(arguments.workspace, division_.strips, division_.parts,
                                    numbers_.next()));
    });
  }

 private:
  // Calls body(the tile for so many rows).
  template <class Body>
  static auto with_tile(std::int64_t rows, const Body& body) {
    if (rows <= 1) return body(few_rows_tile<1, Warps, StagesOfOne, BlocksPerSm, kKeep>{});
    if (rows <= 8) return body(few_rows_tile<8, Warps, Stages, BlocksPerSm, kKeep>{});
    return body(few_rows_tile<16, Warps, Stages, BlocksPerSm, kKeep>{});
  }
  template <class Tile>
  std::size_t shared_bytes() const {
    const int row = division_.groups * Tile::stage::kColumns + sums_of_slices<Tile>::kPad;
    const int sums = Tile::kWarps / division_.groups * Tile::kRows * row * int(sizeof(float));
    const int used = Tile::kRing + Tile::kRows * division_.blocks * kBlock * int(sizeof(__half));
    return static_cast<std::size_t>(std::max(used, sums));
  }

  strips_and_parts division_{};
  persistent::run_numbers numbers_;
};

}  // namespace w4a16

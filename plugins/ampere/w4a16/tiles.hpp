#pragma once
// More rows of A: tiles of C, each warp with all rows of a tile and 32 of its columns, so that a
// weight is unpacked once in a block. A comes through shared memory, a block of K at a time, as it
// lies in memory but for the order of its 16-byte chunks.

#include <fast_fp32/common/arrivals.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weights.hpp"

namespace w4a16 {

template <int Rows, int Stages>
struct tile {
  using weights = weight_stage<4>;
  static constexpr int kRows = Rows, kWarps = 8, kThreads = 32 * kWarps, kStages = Stages;
  static constexpr int kCols = kWarps * weights::kColumns;
  static constexpr int kOperands = Rows / 8;  // of A
  static constexpr int kSums = Rows * kCols;
  static_assert(Rows % 32 == 0, "a row of 16 chunks takes 16 threads");

  struct stage {
    uint4 rows[kWordsOfLane][kOperands][32];
    weights columns[kWarps];
  };
  static constexpr int kSharedBytes = Stages * int(sizeof(stage));
  static_assert(kSharedBytes <= kMaxSharedKb * 1024);
};

// How a product is divided. blockIdx.x counts tiles, those with the same columns one after the
// other, so that what they read of B is in the L2; blockIdx.y counts parts of K.
struct tiles_and_parts {
  int tile_rows, tiles, parts;
  int blocks;  // of K, in a part

  template <class Tile>
  static tiles_and_parts of(std::int64_t m, std::int64_t n, std::int64_t k, const kzoo_device& d) {
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    const std::int64_t rows = up(m, Tile::kRows), tiles = rows * up(n, Tile::kCols);
    const std::int64_t sms = std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u);
    // A part of less than four blocks would end before its copies arrive one after the other.
    const std::int64_t blocks = up(k, kBlock), most = std::max<std::int64_t>(blocks / 4, 1);
    const std::int64_t of_part = up(blocks, std::clamp<std::int64_t>(sms / tiles, 1, most));
    return {static_cast<int>(rows), static_cast<int>(tiles), static_cast<int>(up(blocks, of_part)),
            static_cast<int>(of_part)};
  }
};

// The parts of each sum, in the workspace, and their counters.
struct partial_sums {
  common::arrivals arrivals;
  float* parts;

  // `sums`: of a tile, of which there are `count`.
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

// Where chunks of 16 bytes of A are in a stage: chunk 4 t + w of a row's block of K is what lane t
// of four multiplies its word w with. Eight neighbours in a row, which eight threads copy, and the
// eight of as many lanes that are read together, each lie in different banks.
__device__ __forceinline__ int place_of(int lane, int word) {
  return lane ^ (word % 2 * 4 + word / 2 * 2);
}

template <class Tile, class G>
__device__ __forceinline__ void copy_rows(const G& g, int row0, int block,
                                          typename Tile::stage& to) {
  constexpr int kDown = Tile::kThreads / kChunks;
  const int thread = static_cast<int>(threadIdx.x), chunk = thread % kChunks;
  const int t = chunk / kWordsOfLane, word = chunk % kWordsOfLane;
  const int k = block * kBlock + chunk * 8;
#pragma unroll
  for (int i = 0; i < Tile::kRows / kDown; ++i) {
    const int row = thread / kChunks + i * kDown;
    kzoo::copy_async<16>(&to.rows[word][row / 8][place_of(row % 8 * 4 + t, word)],
                         g.a + (row0 + row) * g.lda + k, row0 + row < g.m && k < g.k);
  }
}

// The warp's sums into C, from (row0, col0) on.
template <bool kPairs, class Tile, class G>
__device__ __forceinline__ void store(
    const G& g, int row0, int col0, int lane,
    const accumulators<typename Tile::weights, Tile::kOperands>& sums) {
#pragma unroll
  for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
#pragma unroll
      for (int i = 0; i < Tile::weights::kOfLane / 2; ++i) {
        common::store_pair<kPairs>(g, row0 + 8 * o + lane % 4 * 2 + e,
                                   col0 + lane / 4 * Tile::weights::kOfLane + 2 * i, sums[i][o][e],
                                   sums[i][o][e + 2]);
      }
    }
  }
}

// The block's sums become those of all parts of its tile. False in all blocks but the last one.
template <class Tile>
__device__ __forceinline__ bool add_parts(
    int parts, const partial_sums& partial,
    accumulators<typename Tile::weights, Tile::kOperands>& sums) {
  const auto number = static_cast<std::int64_t>(blockIdx.x);
  auto* const of_tile = reinterpret_cast<float4*>(partial.parts) +
                        number * parts * (Tile::kSums / 4) + static_cast<int>(threadIdx.x);
  constexpr int kOperands = Tile::weights::kOfLane / 2;
  const auto place = [&](int part, int i, int o) {
    return of_tile + std::int64_t{part} * (Tile::kSums / 4) +
           (i * Tile::kOperands + o) * Tile::kThreads;
  };
#pragma unroll
  for (int i = 0; i < kOperands; ++i) {
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
      const auto& of = sums[i][o];
      __stcg(place(static_cast<int>(blockIdx.y), i, o), make_float4(of[0], of[1], of[2], of[3]));
    }
  }
  if (!partial.arrivals.is_last(number, parts)) return false;
#pragma unroll
  for (int i = 0; i < kOperands; ++i) {
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
      for (float& sum : sums[i][o]) sum = 0;
    }
  }
#pragma unroll 1
  for (int part = 0; part < parts; ++part) {
#pragma unroll
    for (int i = 0; i < kOperands; ++i) {
#pragma unroll
      for (int o = 0; o < Tile::kOperands; ++o) {
        const float4 more = __ldcg(place(part, i, o));
        sums[i][o][0] += more.x;
        sums[i][o][1] += more.y;
        sums[i][o][2] += more.z;
        sums[i][o][3] += more.w;
      }
    }
  }
  return true;
}

template <class Tile, kzoo::block_scaled G>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    tile_kernel(G g, tiles_and_parts d, partial_sums partial, bool pairs) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = static_cast<int>(blockIdx.x) % d.tile_rows * Tile::kRows;
  const int col0 =
      static_cast<int>(blockIdx.x) / d.tile_rows * Tile::kCols + warp * Tile::weights::kColumns;
  auto* const stages = kzoo::dynamic_shared<typename Tile::stage>();

  const int first = static_cast<int>(blockIdx.y) * d.blocks;  // of K
  const int blocks = min(d.blocks, kzoo::ceil_div(g.k, kBlock) - first);
  const weight_copies<G, typename Tile::weights> columns(g, col0, lane);
  const auto copy = [&](int block, int stage) {
    if (block < blocks) {
      columns.copy(first + block, stages[stage].columns[warp]);
      copy_rows<Tile>(g, row0, first + block, stages[stage]);
    }
    kzoo::commit_group();
  };
#pragma unroll 1
  for (int i = 0; i < Tile::kStages - 1; ++i) copy(i, i);
  accumulators<typename Tile::weights, Tile::kOperands> sums = {};
  int reading = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    kzoo::wait_group<Tile::kStages - 2>();
    __syncthreads();  // the stage is complete, and all have read the one before
    copy(block + Tile::kStages - 1, reading == 0 ? Tile::kStages - 1 : reading - 1);
    const typename Tile::stage& stage = stages[reading];
    const auto& of = stage.columns[warp];
    uint4 weights[Tile::weights::kOfLane];
#pragma unroll
    for (int i = 0; i < Tile::weights::kOfLane; ++i) weights[i] = of.weights[i][lane];
    accumulators<typename Tile::weights, Tile::kOperands> acc = {};
    multiply<typename G::a_type, neighbours, Tile::weights::kOfLane / 2, 4>(
        weights, [&](int word, int o) { return stage.rows[word][o][place_of(lane, word)]; }, acc);
    add_scaled(*reinterpret_cast<const float4*>(&of.scales[lane / 4 * 4]), acc, sums);
    reading = reading + 1 == Tile::kStages ? 0 : reading + 1;
  }
  kzoo::wait_group<0>();
  if (d.parts > 1 && !add_parts<Tile>(d.parts, partial, sums)) return;
  if (pairs) {
    store<true, Tile>(g, row0, col0, lane, sums);
  } else {
    store<false, Tile>(g, row0, col0, lane, sums);
  }
}

template <class Tile>
class tiles : public for_weights {
 public:
  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > std::int64_t{1} << 20) return "it takes up to 2^20 rows of A";
    return objection(p, d, Tile::kSharedBytes);
  }
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const auto of = tiles_and_parts::of<Tile>(p.m, p.n, p.k, d);
    return partial_sums::bytes(of.tiles, of.parts, Tile::kSums);
  }
  tiles(const kzoo_problem& p, const kzoo_device& d)
      : division_(tiles_and_parts::of<Tile>(p.m, p.n, p.k, d)) {
    for_type(p, []<class T>(T) {
      kzoo::allow_dynamic_shared(tile_kernel<Tile, gemm<T>>, Tile::kSharedBytes);
    });
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    kzoo::launch(
        {.grid = dim3(division_.tiles, division_.parts),
         .block = dim3(Tile::kThreads),
         .dynamic_shared = Tile::kSharedBytes,
         .max_threads = Tile::kThreads,
         .stream = static_cast<kzoo::stream_t>(arguments.stream)},
        tile_kernel<Tile, G>, g, division_,
        partial_sums::in(arguments.workspace, division_.tiles, division_.parts, numbers_.next()),
        common::pairs_aligned(g));
  }

 private:
  tiles_and_parts division_;
  persistent::run_numbers numbers_;
};

}  // namespace w4a16

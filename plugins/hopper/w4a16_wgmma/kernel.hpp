#pragma once
// w4a16's tiles with wgmma: 256 columns of B are the rows of four products of 64, two for each of
// two warpgroups, with all rows of a tile of A as their columns. A third warpgroup copies A.
//
//                      128 columns of B        128 columns of B
//                    +-----------------------+-----------------------+
//     64 or 128      |  warpgroup 0          |  warpgroup 1          |   a warp: 32 columns,
//     rows of A      |  two products, which take turns               |   16 in each product
//                    +-----------------------+-----------------------+

#include <ampere/w4a16/weights.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/mbarrier.hpp>
#include <kzoo/plugin.hpp>
#include <kzoo/swizzled_tile.hpp>
#include <kzoo/warpgroup.hpp>
#include <tensor_cores/common/store_pairs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rendezvous.hpp"
#include "wgmma_from_registers.hpp"

namespace w4a16 {

template <int Rows, int Stages>
struct wgmma_tile {
  using weights = weight_stage<4>;
  static constexpr int kRows = Rows, kStages = Stages;
  static constexpr int kWarps = 8, kConsumers = 32 * kWarps;
  static constexpr int kThreads = kConsumers + kzoo::kWarpgroup;
  static constexpr int kCols = kWarps * weights::kColumns;
  static constexpr int kProducts = weights::kOfLane / 2;  // of a warpgroup
  static constexpr int kOperands = Rows / 8, kSums = Rows * kCols;
  // setmaxnreg: what the producer's warpgroup gives back is what two consumers get, who begin with
  // as many as __launch_bounds__ allows.
  static constexpr int kLaunched = 168, kProducerRegisters = 40, kConsumerRegisters = 232;
  static_assert(kWarps / 4 * (kConsumerRegisters - kLaunched) == kLaunched - kProducerRegisters);

  // In shared memory.
  template <class T>
  using a_tile = kzoo::swizzled_tile<T, Rows, kBlock>;
  struct barriers {
    kzoo::mbarrier full[Stages], empty[Stages];  // of A
  };
  static constexpr std::size_t kOfA = std::size_t{Stages} * a_tile<__half>::kBytes;
  static constexpr std::size_t kOfWeights = std::size_t{Stages} * kWarps * sizeof(weights);
  static constexpr std::size_t kSharedBytes = kOfA + kOfWeights + sizeof(barriers);
  static_assert(kSharedBytes <= kMaxSharedKb * 1024);
};

// How a product is divided: as tiles_and_parts of w4a16, but parts run at the same time.
struct wgmma_division {
  int tile_rows, tiles, parts;
  int blocks;  // of K, in a part

  template <class Tile>
  static wgmma_division of(const kzoo_problem& p, const kzoo_device& d) {
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    const std::int64_t rows = up(p.m, Tile::kRows), tiles = rows * up(p.n, Tile::kCols);
    const std::int64_t blocks = up(p.k, kBlock), most = std::max<std::int64_t>(blocks / 4, 1);
    const std::int64_t wanted = std::int64_t{d.multiprocessors} / tiles;
    // A part adds up a share of the products' sums: more parts than these would have none.
    const std::int64_t limit = std::min<std::int64_t>(most, Tile::kProducts * Tile::kOperands);
    const std::int64_t of_part = up(blocks, std::clamp<std::int64_t>(wanted, 1, limit));
    return {static_cast<int>(rows), static_cast<int>(tiles), static_cast<int>(up(blocks, of_part)),
            static_cast<int>(of_part)};
  }
};

// The parts of each tile's sums, in the workspace.
struct tile_parts {
  rendezvous meeting;
  float4* sums;

  static std::size_t bytes(const wgmma_division& d, int sums) {
    if (d.parts == 1) return 0;
    return rendezvous::bytes(d.tiles) + sizeof(float) * static_cast<std::size_t>(sums) *
                                            static_cast<std::size_t>(d.parts) *
                                            static_cast<std::size_t>(d.tiles);
  }
  static tile_parts in(void* workspace, const wgmma_division& d, unsigned long long run) {
    if (d.parts == 1) return {};
    auto* const bytes = static_cast<unsigned char*>(workspace);
    return {{static_cast<unsigned long long*>(workspace), run},
            reinterpret_cast<float4*>(bytes + rendezvous::bytes(d.tiles))};
  }
};

template <class Tile>
using wgmma_sums = float[Tile::kProducts][Tile::kOperands][4];

// A producer's copies of a block of K of A. wgmma knows which elements of a row a lane multiplies
// its registers with: of 16 steps, numbers 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 are for lane t of
// four. So what that lane's weights are multiplied with comes there, pair by pair: pair p of a
// block of 128 steps, p = 16 t + 4 word + 2 half + e, is pair t + 4 e of product 2 word + half.
// Both have 32 bytes: a lane copies 4 bytes, a warp 32 pairs of a row. In shared memory these are
// a row's 128 bytes of one panel; in global memory, four times 32 bytes.
template <class Tile, class G>
__device__ __forceinline__ void copy_pairs(const G& g, int row0, int k0, typename G::a_type* to) {
  using a_tile = typename Tile::template a_tile<typename G::a_type>;
  constexpr int kRowsAtOnce = 4;  // one for each warp
  static_assert(a_tile::kPanels == 2);
  const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup, lane = thread % 32;
  const int warp = thread / 32, t = lane / 8;
  const bool has_steps = k0 + t * kStepsOfLane < g.k;
  const auto* from = g.a + (row0 + warp) * g.lda + k0 + t * kStepsOfLane + lane % 8 * 2;
#pragma unroll 4
  for (int row = warp; row < Tile::kRows; row += kRowsAtOnce) {
    const bool inside = has_steps && row0 + row < g.m;
    auto* const in_row = to + a_tile::offset(row, lane % 8 * a_tile::kChunk) + 2 * t;
#pragma unroll
    for (int panel = 0; panel < a_tile::kPanels; ++panel) {
      kzoo::copy_async<4>(in_row + panel * a_tile::kPanelElements, from + panel * 16, inside);
    }
    from += kRowsAtOnce * g.lda;
  }
}

template <class Tile, class G>
__device__ __forceinline__ void produce(const G& g, int row0, int first, int blocks,
                                        typename G::a_type* stages, typename Tile::barriers& sync) {
  using a_tile = typename Tile::template a_tile<typename G::a_type>;
  constexpr int kAhead = 2;  // stages that are on their way while an older one is waited for
  static_assert(kAhead < Tile::kStages);
  const auto arrived = [&](int block) {
    kzoo::fence_async_proxy();
    __syncwarp();
    if (threadIdx.x % 32 == 0) sync.full[block % Tile::kStages].arrive();
  };
#pragma unroll 1
  for (int block = 0; block < blocks + kAhead; ++block) {
    const int stage = block % Tile::kStages, round = block / Tile::kStages;
    if (block < blocks) {
      if (round > 0) sync.empty[stage].wait((round - 1) % 2);
      copy_pairs<Tile>(g, row0, (first + block) * kBlock, stages + stage * a_tile::kElements);
    }
    kzoo::commit_group();
    kzoo::wait_group<kAhead>();
    if (block >= kAhead) arrived(block - kAhead);
  }
}

// sums += scales times the products of a block of K.
template <class T, class Tile>
__device__ __forceinline__ void multiply_block(const T* a, const typename Tile::weights& stage,
                                               int lane, wgmma_sums<Tile>& sums) {
  using a_tile = typename Tile::template a_tile<T>;
  constexpr int kInstructionK = 16;
#pragma unroll
  for (int i = 0; i < Tile::kProducts; ++i) {
    const uint4 column = stage.weights[2 * i][lane], next = stage.weights[2 * i + 1][lane];
    float acc[Tile::kRows / 2];
    operands of[2];
#pragma unroll
    for (int word = 0; word < kWordsOfLane; ++word) {
      of[word % 2] = unpack<T, neighbours>(word_of(column, word), word_of(next, word));
      const auto rows = [&](int part) {
        return kzoo::k_major<a_tile>(a, 0, (2 * word + part) * kInstructionK);
      };
      kzoo::wgmma_fence();
      wgmma_from_registers<Tile::kRows>(acc, of[word % 2].first, rows(0), word > 0);
      wgmma_from_registers<Tile::kRows>(acc, of[word % 2].second, rows(1), true);
      kzoo::wgmma_commit();
      if (word > 0) {
        kzoo::wgmma_wait<1>();
        keep_registers(of[(word - 1) % 2].first);
        keep_registers(of[(word - 1) % 2].second);
      }
    }
    kzoo::wgmma_wait<0>(acc);
    keep_registers(of[(kWordsOfLane - 1) % 2].first);
    keep_registers(of[(kWordsOfLane - 1) % 2].second);
    const float* const scales = stage.scales + lane / 4 * Tile::weights::kOfLane + 2 * i;
    const float of_columns[2] = {scales[0], scales[1]};
#pragma unroll
    for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][o][e] += of_columns[e / 2] * acc[4 * o + e];
    }
  }
}

template <class Tile, class G>
__device__ __forceinline__ void consume(const G& g, int col0, int first, int blocks,
                                        const typename G::a_type* stages,
                                        typename Tile::weights* ring, typename Tile::barriers& sync,
                                        wgmma_sums<Tile>& sums) {
  using a_tile = typename Tile::template a_tile<typename G::a_type>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const weight_copies<G, typename Tile::weights> columns(g, col0, lane);
#pragma unroll 1
  for (int i = 0; i < Tile::kStages; ++i) {
    if (i < blocks) columns.copy(first + i, ring[i]);
    kzoo::commit_group();
  }
#pragma unroll 1
  for (int block = 0, stage = 0, parity = 0; block < blocks; ++block) {
    kzoo::wait_group<Tile::kStages - 1>();
    __syncwarp();  // scales that other lanes have copied have arrived, too
    sync.full[stage].wait(parity);
    multiply_block<typename G::a_type, Tile>(stages + stage * a_tile::kElements, ring[stage], lane,
                                             sums);
    __syncwarp();
    if (lane == 0) sync.empty[stage].arrive();
    if (block + Tile::kStages < blocks) columns.copy(first + block + Tile::kStages, ring[stage]);
    kzoo::commit_group();
    if (++stage == Tile::kStages) stage = 0, parity ^= 1;
  }
  kzoo::wait_group<0>();
}

// Where a consumer thread's sums are that it does not have in registers any more, four at a time:
// numbers count these, with the kProducts of the same rows one after the other.
template <class Tile>
struct places {
  static constexpr int kCount = Tile::kProducts * Tile::kOperands;

  float4* own;  // in shared memory: those of the block's share, from number `begin` to `end`
  float4* all;  // in the workspace: those of all parts of the tile
  int part, begin, end;

  __device__ places(void* shared, const tile_parts& partial, int parts)
      : own(static_cast<float4*>(shared) + threadIdx.x),
        all(partial.sums + std::int64_t{blockIdx.x} * parts * (Tile::kSums / 4) + threadIdx.x),
        part(static_cast<int>(blockIdx.y)),
        begin(part * kCount / parts),
        end((part + 1) * kCount / parts) {}
  __device__ __forceinline__ float4* of_part(int from, int number) const {
    return all + std::int64_t{from} * (Tile::kSums / 4) + number * Tile::kConsumers;
  }
  __device__ __forceinline__ float4* of_share(int number) const {
    return own + (number - begin) * Tile::kConsumers;
  }
};

// Adds what the other parts have of the block's share: the next part first, in each run.
template <class Tile>
__device__ __forceinline__ void add_others(int parts, const places<Tile>& at) {
  constexpr int kAtOnce = 8;  // so that many loads are on their way
#pragma unroll 1
  for (int number = at.begin; number < at.end; number += kAtOnce) {
    float4 sum[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (number + i < at.end) sum[i] = *at.of_share(number + i);
    }
    int from = at.part;
#pragma unroll 3
    for (int other = 1; other < parts; ++other) {
      from = from + 1 == parts ? 0 : from + 1;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (number + i >= at.end) continue;
        const float4 more = __ldcg(at.of_part(from, number + i));
        sum[i].x += more.x;
        sum[i].y += more.y;
        sum[i].z += more.z;
        sum[i].w += more.w;
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (number + i < at.end) *at.of_share(number + i) = sum[i];
    }
  }
}

// Calls store(number, sum) for the sums of the block's share: of all, where K has one part. Each
// part leaves what belongs to the shares of others in the workspace.
template <class Tile, class Store>
__device__ __forceinline__ void finish_sums(int parts, const tile_parts& partial, void* shared,
                                            const wgmma_sums<Tile>& sums, const Store& store) {
  constexpr int kBarrier = 1, kCount = places<Tile>::kCount;
  static_assert(Tile::kSums * sizeof(float) <= Tile::kOfA);
  const places<Tile> at(shared, partial, parts);
  kzoo::named_barrier<Tile::kConsumers>(kBarrier);  // all have read A
#pragma unroll
  for (int number = 0; number < kCount; ++number) {
    const auto& of = sums[number % Tile::kProducts][number / Tile::kProducts];
    const bool is_own = number >= at.begin && number < at.end;
    *(is_own ? at.of_share(number) : at.of_part(at.part, number)) =
        make_float4(of[0], of[1], of[2], of[3]);
  }
  if (parts > 1) {
    partial.meeting.template meet<Tile::kConsumers>(std::int64_t{blockIdx.x},
                                                    static_cast<unsigned>(parts), kBarrier);
    add_others(parts, at);
  }
#pragma unroll 1  // a cold kernel waits for its instructions, too
  for (int number = at.begin; number < at.end; ++number) store(number, *at.of_share(number));
}

template <class Tile, kzoo::block_scaled G>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    wgmma_kernel(G g, wgmma_division d, tile_parts partial, bool pairs) {
  using T = typename G::a_type;
  using weights = typename Tile::weights;
  auto* const stages = kzoo::dynamic_shared<T>();
  auto* const bytes = reinterpret_cast<unsigned char*>(stages);
  auto* const rings = reinterpret_cast<weights*>(bytes + Tile::kOfA);  // (kWarps, kStages)
  auto& sync = *reinterpret_cast<typename Tile::barriers*>(bytes + Tile::kOfA + Tile::kOfWeights);
  if (threadIdx.x == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      sync.full[i].init(kzoo::kWarpgroup / 32);  // each warp of the producer
      sync.empty[i].init(Tile::kWarps);
    }
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();

  const int row0 = static_cast<int>(blockIdx.x) % d.tile_rows * Tile::kRows;
  const int first = static_cast<int>(blockIdx.y) * d.blocks;  // of K
  const int blocks = min(d.blocks, kzoo::ceil_div(g.k, kBlock) - first);
  if (threadIdx.x >= Tile::kConsumers) {
    kzoo::release_registers<Tile::kProducerRegisters>();
    produce<Tile>(g, row0, first, blocks, stages, sync);
    return;
  }
  kzoo::request_registers<Tile::kConsumerRegisters>();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int col0 =
      static_cast<int>(blockIdx.x) / d.tile_rows * Tile::kCols + warp * weights::kColumns;
  wgmma_sums<Tile> sums = {};
  consume<Tile>(g, col0, first, blocks, stages, rings + warp * Tile::kStages, sync, sums);

  finish_sums<Tile>(d.parts, partial, stages, sums, [&](int number, const float4& sum) {
    const int row = row0 + number / Tile::kProducts * 8 + lane % 4 * 2;
    const int col = col0 + lane / 4 * weights::kOfLane + number % Tile::kProducts * 2;
    if (pairs) {
      common::store_pair<true>(g, row, col, sum.x, sum.z);
      common::store_pair<true>(g, row + 1, col, sum.y, sum.w);
    } else {
      common::store_pair<false>(g, row, col, sum.x, sum.z);
      common::store_pair<false>(g, row + 1, col, sum.y, sum.w);
    }
  });
}

}  // namespace w4a16

#pragma once
// Up to 16 rows of A: what takes the time is to read the weights once. Each warp has a ring of its
// own in shared memory for them. Its sums stay in registers until it has done all of its steps
// along K:
//
//                      a strip: 32 columns for each group of warps
//     256 steps of K   w0 w1 w2 w3
//     256 steps        w4 w5 w6 w7      a round of 4 groups and 2 slices
//     256 steps        w0 w1 w2 w3
//     256 steps        w4 w5 w6 w7      then sums of w0 and w4 are added up
//
// Blocks of a cluster divide K where A's rows are many: so each has its part of A alone, and more
// columns to use it for.

#include <kzoo/cluster.hpp>

#include <cstddef>
#include <cstdint>

#include "unit_ring.hpp"

namespace w4a16 {

// A piece of A in shared memory, in 16 bytes what a lane multiplies a word of 8 weights with. Each
// block of K has that of all rows for word 0, then for the others. The number of rows is odd, and
// lanes of words 2 and 3 change places: so neither those that copy neighbours in a row of A nor
// those that read eight rows meet in a bank.
template <class Tile>
struct piece_of_a {
  uint4* chunks;

  static __device__ __forceinline__ int place(int block, int word, int row, int t) {
    return ((block * kWordsOfLane + word) * Tile::kStride + row) * 4 + (t ^ (word & 2));
  }
  // By all threads of the block: so many blocks of K from step `first` on, with zeros outside A.
  // Calls then() when the first loads are on their way.
  template <class G, class Then>
  __device__ __forceinline__ void load(const G& g, int first, int blocks, const Then& then) const {
    constexpr int kAtOnce = Tile::kRows < 2 ? 2 : Tile::kRows < 8 ? Tile::kRows : 8;
    const int warps = static_cast<int>(blockDim.y * blockDim.z), warp = warp_of_block();
    const int pairs = (blocks + 1) / 2;
    const int chunk = static_cast<int>(threadIdx.x) % 16;
    int i0 = warp;
    do {
      uint4 values[kAtOnce];
      int places[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = i0 + j * warps, row = i % Tile::kRows;
        const int block = i / Tile::kRows * 2 + static_cast<int>(threadIdx.x) / 16;
        const int k = first + block * kBlock + chunk * 8;
        const bool is_of_piece = i < pairs * Tile::kRows && block < blocks;
        places[j] = is_of_piece ? place(block, chunk % 4, row, chunk / 4) : -1;
        values[j] = is_of_piece && row < g.m && k < g.k
                        ? *reinterpret_cast<const uint4*>(g.a + row * g.lda + k)
                        : uint4{};
      }
      if (i0 == warp) then();
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (places[j] >= 0) chunks[places[j]] = apart::in_order(values[j]);
      }
      i0 += kAtOnce * warps;
    } while (i0 < pairs * Tile::kRows);
  }
  // What lane 4 r + t multiplies with, of operand o.
  __device__ __forceinline__ const uint4& of(int block, int word, int o, int r, int t) const {
    return chunks[place(block, word, 8 * o + r % Tile::kRows, t)];
  }
};

__device__ __forceinline__ void wait_for_parts(int parts) {
  if (parts > 1) return kzoo::cluster_sync();
  __syncthreads();
}

// A warp's sums of 32 columns and all rows: in operand o of A, with lane 4 r + t,
//
//                       row 8 o + 2 t   the next row
//     columns 4 r          [0][o][0]      [0][o][1]
//             4 r + 1      [0][o][2]      [0][o][3]
//             4 r + 2      [1][o][0]      [1][o][1]
//             4 r + 3      [1][o][2]      [1][o][3]
template <class Tile>
using sums_of_warp = float[2][Tile::kOperands][4];

// The products of the unit in slot i, added to sums. then() is called when nothing in it is needed
// any more. The unit's first block is number `first` of the piece of A.
template <class T, class Ring, class Tile, class Then>
__device__ __forceinline__ void multiply_unit(const Ring& ring, int i, const piece_of_a<Tile>& a,
                                              int first, sums_of_warp<Tile>& sums,
                                              const Then& then) {
  const int lane = static_cast<int>(threadIdx.x), r = lane / 4, t = lane % 4;
#pragma unroll
  for (int block = 0; block < kUnitBlocks; ++block) {
    uint4 weights[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) weights[j] = ring.weights(i, 4 * r + j, 4 * block + t);
    const float4 scales = ring.scales(i, block, 4 * r);
    if (block + 1 == kUnitBlocks) then();
    sums_of_warp<Tile> products = {};
    multiply<T, apart, 2, Tile::kOperands>(
        weights, [&](int word, int o) { return a.of(first + block, word, o, r, t); }, products);
    add_scaled(scales, products, sums);
  }
}

// Into shared memory, or added to what is there, from the warp's first column on.
template <class Tile>
__device__ __forceinline__ void leave(const sums_of_warp<Tile>& sums, float* to, int stride,
                                      bool add) {
  const int lane = static_cast<int>(threadIdx.x), r = lane / 4, t = lane % 4;
#pragma unroll
  for (int o = 0; o < Tile::kOperands; ++o) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int row = 8 * o + 2 * t + e;
      if (row >= Tile::kRows) continue;
      auto& there = *reinterpret_cast<float4*>(to + row * stride + 4 * r);
      float4 sum = add ? there : float4{};
      sum.x += sums[0][o][e];
      sum.y += sums[0][o][e + 2];
      sum.z += sums[1][o][e];
      sum.w += sums[1][o][e + 2];
      there = sum;
    }
  }
}

template <class Tile, kzoo::block_scaled G>
__global__ void __launch_bounds__(32 * kMaxWarps, 1)
    few_rows_kernel(G g, const __grid_constant__ kzoo::tensor_map<unit_tile> map,
                    strips_and_parts d) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // the plugin's tiles are for sm_80 as well
  using T = typename G::a_type;
  constexpr float kScale = 1 / least_exponents<T>::kOne;
  const int lane = static_cast<int>(threadIdx.x), warp = warp_of_block();
  const int group = static_cast<int>(threadIdx.y), slice = static_cast<int>(threadIdx.z);
  const int part = static_cast<int>(blockIdx.y), before = part * d.units;  // units in other parts
  const int units = min(d.units, kzoo::ceil_div(g.k, kUnitSteps) - before);
  auto* const shared = kzoo::dynamic_shared<unsigned char>();
  unit_ring<G> ring(g, map, d, shared, before, units);
  const piece_of_a<Tile> a{reinterpret_cast<uint4*>(shared + d.ring_bytes())};
  float* const totals =
      reinterpret_cast<float*>(a.chunks + d.piece_units() * (Tile::kUnitBytes / 16));

  int done = 0;  // units
#pragma unroll 1
  for (int strip = static_cast<int>(blockIdx.x); strip < d.strips;
       strip += static_cast<int>(gridDim.x)) {
    const bool is_first = strip == static_cast<int>(blockIdx.x);
    sums_of_warp<Tile> sums = {};
#pragma unroll 1
    for (int from = 0; from < units; from += d.piece_units()) {
      const int end = min(from + d.piece_units(), units);
      if (is_first || d.pieces > 1) {
        const bool is_start = is_first && from == 0;
        if (!is_start) __syncthreads();  // nobody needs the piece before any more
        a.load(g, (before + from) * kUnitSteps, (end - from) * kUnitBlocks, [&] {
          if (!is_start) return;
          // The first weights, behind A in the queues of DRAM: without A nobody can use them.
          __syncthreads();
#pragma unroll
          for (int i = 0; i < kDepth; ++i) ring.copy(i);
        });
        __syncthreads();
      }
#pragma unroll 1
      for (int unit = from + slice; unit < end; unit += d.slices) {
        const int i = done % kDepth;
        ring.wait(i, done / kDepth);
        multiply_unit<T>(ring, i, a, (unit - from) * kUnitBlocks, sums, [&] {
          __syncwarp();  // all lanes have read theirs
          ring.copy(i);
        });
        ++done;
      }
    }
    if (!is_first) wait_for_parts(d.parts);  // nobody reads sums of the last strip any more
    for (int first = 0; first < d.slices; first += d.slots) {
      if (first > 0) __syncthreads();
      if (slice >= first && slice < first + d.slots) {
        leave<Tile>(sums,
                    totals + (slice - first) * Tile::kRows * d.stride() + group * kUnitColumns,
                    d.stride(), first > 0);
      }
    }
    __syncthreads();
    const auto for_each = [&](int first, int step, const auto& body) {
      for (int i = first; i < g.m * d.groups; i += step) {
        const int row = i / d.groups, col = i % d.groups * kUnitColumns + lane;
        body(row, col, totals + row * d.stride() + col);
      }
    };
    const auto sum_of_slots = [&](const float* of) {
      float sum = 0;
#pragma unroll 8
      for (int slot = 0; slot < d.slots; ++slot) sum += of[slot * Tile::kRows * d.stride()];
      return sum;
    };
    const auto store = [&](int row, int col, float sum) {
      g.store_inside(row, strip * d.columns() + col, kScale * sum);
    };
    if (d.parts == 1) {
      for_each(warp, d.warps(),
               [&](int row, int col, float* of) { store(row, col, sum_of_slots(of)); });
    } else {
      for_each(warp, d.warps(), [&](int, int, float* of) { *of = sum_of_slots(of); });
      wait_for_parts(d.parts);
      for_each(part * d.warps() + warp, d.parts * d.warps(), [&](int row, int col, float* of) {
        float sum = 0;
#pragma unroll 4
        for (int other = 0; other < d.parts; ++other)
          sum += kzoo::load_of_block(of, static_cast<unsigned>(other));
        store(row, col, sum);
      });
    }
  }
  kzoo::wait_group<0>();
  if (d.parts > 1) wait_for_parts(d.parts);  // nobody reads from here any more
#endif
}

class few_rows : public for_weights {
 public:
  static constexpr unsigned compute_capability = 90;  // clusters

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > 16) return "it takes up to 16 rows of A";
    return objection(p, d, kMaxSharedKb * 1024);
  }
  few_rows(const kzoo_problem& p, const kzoo_device& d) {
    with_tile(p.m, [&]<class Tile>(Tile) {
      division_ = strips_and_parts::of<Tile>(p.n, p.k, d);
      for_type(p, [&]<class T>(T) {
        kzoo::allow_dynamic_shared(few_rows_kernel<Tile, gemm<T>>, kMaxSharedKb * 1024);
      });
    });
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    with_tile(g.m, [&]<class Tile>(Tile) {
      const auto parts = static_cast<unsigned>(division_.parts);
      kzoo::launch(
          {.grid = dim3(static_cast<unsigned>(division_.clusters), parts),
           .block = dim3(32, static_cast<unsigned>(division_.groups),
                         static_cast<unsigned>(division_.slices)),
           .dynamic_shared = static_cast<std::size_t>(division_.template shared_bytes<Tile>()),
           .max_threads = 32 * kMaxWarps,
           .stream = static_cast<kzoo::stream_t>(arguments.stream),
           .cluster = dim3(1, parts)},
          few_rows_kernel<Tile, G>, g, weights_of(g), division_);
    });
  }

 private:
  template <class G>
  static kzoo::tensor_map<unit_tile> weights_of(const G& g) {
    return kzoo::make_tensor_map<unit_tile>(g.b, g.n, g.k / 2, g.ldb / 2);
  }
  // Calls body(the tile for so many rows).
  template <class Body>
  static auto with_tile(std::int64_t rows, const Body& body) -> decltype(body(few_rows_tile<1>{})) {
    if (rows <= 1) return body(few_rows_tile<1>{});
    if (rows <= 2) return body(few_rows_tile<2>{});
    if (rows <= 4) return body(few_rows_tile<4>{});
    if (rows <= 8) return body(few_rows_tile<8>{});
    return body(few_rows_tile<16>{});
  }

  strips_and_parts division_{};
};

}  // namespace w4a16

#pragma once
// Up to 16 rows of A: what takes the time is to read the weights once. A block of threads has a
// strip of columns, and each of its warps copies its own weights and multiplies them. Sums stay in
// registers until all steps of K are done:
//
//                      a strip: 32 columns for each group of warps
//     128 steps of K   w0 w1 w2 w3
//     128 steps        w4 w5 w6 w7      a round of 4 groups and 2 slices
//     128 steps        w0 w1 w2 w3
//     128 steps        w4 w5 w6 w7      then sums of w0 and w4 are added up
//
// Where A's rows are many, two blocks of a cluster divide K, so that each has its part of A alone.
//
// A launch takes a few microseconds, and before it has begun, instructions are no more in a cache
// than weights are. So what comes before the first copies and after the last product is short.

#include <kzoo/cluster.hpp>
#include <kzoo/tma.hpp>

#include <cstddef>
#include <cstdint>

#include "division.hpp"

namespace w4a16 {

// A piece of A in shared memory, in chunks of 16 bytes, each what a lane multiplies a word of 8
// weights with. Rows are an odd number of chunks apart.
struct piece_of_a {
  uint4* chunks;
  int row_chunks;

  // Starts to copy so many steps of K, from `step` on; a warp has each row. With zeros in the rest
  // of the last block of K.
  template <class G>
  __device__ __forceinline__ void copy(const G& g, int step, int steps, int warp, int warps,
                                       kzoo::mbarrier& arrived) const {
    const auto bytes = static_cast<unsigned>(steps) * 2;
    const int lane = static_cast<int>(threadIdx.x), chunk = steps / 8 + lane;
#pragma unroll 1
    for (int row = warp; row < g.m; row += warps) {
      uint4* const to = chunks + row * row_chunks;
      if (lane == 0) {
        arrived.arrive_and_expect(bytes);
        kzoo::bulk_load(g.a + row * g.lda + step, to, bytes, arrived);
      }
      if (chunk < kzoo::ceil_div(steps, kBlock) * kChunks) to[chunk] = uint4{};
    }
  }
};

// A warp's sums of 32 columns and all rows: in operand o of A, with lane 4 r + t,
//
//                       row 8 o + 2 t   the next row
//     columns 4 r          [0][o][0]      [0][o][1]
//             4 r + 1      [0][o][2]      [0][o][3]
//             4 r + 2      [1][o][0]      [1][o][1]
//             4 r + 3      [1][o][2]      [1][o][3]
template <int Operands>
using sums_of_warp = accumulators<few_rows_stage, Operands>;

// Operands: of A, of up to 8 rows.
template <int Operands, int Depth, kzoo::block_scaled G>
__global__ void __launch_bounds__(32 * kMaxWarps, 1) few_rows_kernel(G g, strips_and_parts d) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900  // the plugin's tiles are for sm_80 as well
  using T = typename G::a_type;
  const int lane = static_cast<int>(threadIdx.x), r = lane / 4, t = lane % 4;
  const int group = static_cast<int>(threadIdx.y), slice = static_cast<int>(threadIdx.z);
  const int warp = slice * d.groups + group;
  const int part = static_cast<int>(blockIdx.y), before = part * d.blocks;  // of K
  const int blocks = min(d.blocks, kzoo::ceil_div(g.k, kBlock) - before);
  auto* const shared = kzoo::dynamic_shared<unsigned char>();
  auto* const stages = reinterpret_cast<few_rows_stage*>(shared) + warp * Depth;
  auto* const rows = reinterpret_cast<uint4*>(shared + d.stage_bytes());
  __shared__ kzoo::mbarrier arrived[kPlaces];  // a piece of A
  __shared__ kzoo::mbarrier sums_arrived;      // those of the other part
  const int other_parts = d.parts - 1, own_rows = (g.m - part + other_parts) >> other_parts;
  if (warp == 0 && lane == 0) {
    for (auto& barrier : arrived) barrier.init(static_cast<unsigned>(g.m));
    sums_arrived.init(1);
    kzoo::fence_mbarrier_init();
    sums_arrived.arrive_and_expect(
        static_cast<unsigned>(other_parts * d.slices * own_rows * d.columns() * 4));
  }
  if (d.parts > 1) {
    kzoo::cluster_sync();
  } else {
    __syncthreads();
  }

  const auto place = [&](int number) {
    return piece_of_a{rows + number % kPlaces * g.m * d.row_chunks, d.row_chunks};
  };
  const auto copy_piece = [&](int number) {
    const int from = number * d.piece_size, step = (before + from) * kBlock;
    if (from >= blocks) return;
    const int steps = min(min(d.piece_size, blocks - from) * kBlock, g.k - step);
    place(number).copy(g, step, steps, warp, d.warps(), arrived[number % kPlaces]);
  };
  const int column = group * few_rows_stage::kColumns;
  const int col0 = static_cast<int>(blockIdx.x) * d.columns() + column;
  const weight_copies<G, few_rows_stage> columns(g, col0, lane);
  int next = slice;
  const auto copy = [&](few_rows_stage& to) {
    if (next < blocks) columns.copy(before + next, to);
    kzoo::commit_group();
    next += d.slices;
  };
  // What is multiplied first comes first.
#pragma unroll 1
  for (int i = 0; i < kPlaces; ++i) {
    copy_piece(i);
    if (i < Depth) copy(stages[i]);
  }
  __syncthreads();  // zeros behind A's last steps are there

  sums_of_warp<Operands> sums = {};
  int reading = 0, number = 0;
#pragma unroll 1
  for (int from = 0; from < blocks; from += d.piece_size, ++number) {
    if (number > 0 && d.pieces > kPlaces) {
      __syncthreads();  // nobody needs the last piece any more
      copy_piece(number + kPlaces - 1);
    }
    arrived[number % kPlaces].wait(number / kPlaces % 2);
    // What lanes of a row read at a time has to be in other banks: of lanes 2 and 3, words 2 and 3
    // are first.
    const uint4 *low[Operands], *high[Operands];
#pragma unroll
    for (int o = 0; o < Operands; ++o) {
      const uint4* const row = place(number).chunks + min(8 * o + r, g.m - 1) * d.row_chunks +
                               slice * kChunks + kWordsOfLane * t;
      low[o] = row + (t & 2);
      high[o] = row + (2 ^ (t & 2));
    }
    const int end = min(from + d.piece_size, blocks);
#pragma unroll 1
    for (int block = from + slice; block < end; block += d.slices) {
      kzoo::wait_group<Depth - 1>();
      __syncwarp();
      few_rows_stage& stage = stages[reading];
      uint4 weights[few_rows_stage::kOfLane];
#pragma unroll
      for (int i = 0; i < few_rows_stage::kOfLane; ++i) {
        const auto* const halves = reinterpret_cast<const uint2*>(&stage.weights[i][lane]);
        const uint2 first = halves[t / 2], second = halves[1 - t / 2];
        weights[i] = {first.x, first.y, second.x, second.y};
      }
      const float4 scales = *reinterpret_cast<const float4*>(&stage.scales[4 * r]);
      sums_of_warp<Operands> products = {};
      multiply<T, apart, 2, Operands>(
          weights,
          [&](int word, int o) {
            return apart::in_order(word < 2 ? low[o][word] : high[o][word - 2]);
          },
          products);
      __syncwarp();  // all lanes have read their scales
      copy(stage);
      add_scaled(scales, products, sums);
#pragma unroll
      for (int o = 0; o < Operands; ++o) {
        low[o] += d.slices * kChunks;
        high[o] += d.slices * kChunks;
      }
      reading = reading + 1 == Depth ? 0 : reading + 1;
    }
  }

  // Sums of row i are added up in the block of part i % parts. With one or two parts, the number of
  // others is a shift and a mask for a division by that of parts.
  __syncthreads();  // nobody needs the stages any more
  auto* const own = reinterpret_cast<float*>(shared);
  auto* const others = reinterpret_cast<float*>(shared + d.others_at(g.m));
  const int stride = d.row_floats(), of_slice = ((g.m + other_parts) >> other_parts) * stride;
#pragma unroll
  for (int o = 0; o < Operands; ++o) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int row = 8 * o + 2 * t + e, to = row & other_parts;
      if (row >= g.m) continue;
      const float4 sum = {sums[0][o][e], sums[0][o][e + 2], sums[1][o][e], sums[1][o][e + 2]};
      const int at = slice * of_slice + (row >> other_parts) * stride + column + 4 * r;
      if (to == part) {
        *reinterpret_cast<float4*>(own + at) = sum;
      } else {
        kzoo::store_to_block(sum, others + at, sums_arrived, static_cast<unsigned>(to));
      }
    }
  }
  __syncthreads();
  if (d.parts > 1) sums_arrived.wait(0);
#pragma unroll 1
  for (int row = slice; row < own_rows; row += d.slices) {
    const int at = row * stride + column + lane;
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < d.slices; ++i) {
      sum += own[at + i * of_slice];
      if (d.parts > 1) sum += others[at + i * of_slice];
    }
    g.store_inside(row * d.parts + part, col0 + lane, sum / least_exponents<T>::kOne);
  }
#endif
}

class few_rows : public for_weights {
 public:
  static constexpr unsigned compute_capability = 90;  // clusters

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    if (p.m > 16) return "it takes up to 16 rows of A";
    return objection(p, d, kMaxSharedKb * 1024);
  }
  few_rows(const kzoo_problem& p, const kzoo_device& d)
      : division_(strips_and_parts::of(p.m, p.n, p.k, d)) {
    for_type(p, [&]<class T>(T) {
      kzoo::allow_dynamic_shared(kernel_for<gemm<T>>(p.m), kMaxSharedKb * 1024);
    });
  }

  template <kzoo::block_scaled G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    const auto parts = static_cast<unsigned>(division_.parts);
    kzoo::launch({.grid = dim3(static_cast<unsigned>(division_.strips), parts),
                  .block = dim3(32, static_cast<unsigned>(division_.groups),
                                static_cast<unsigned>(division_.slices)),
                  .dynamic_shared = static_cast<std::size_t>(division_.shared_bytes(g.m)),
                  .max_threads = 32 * kMaxWarps,
                  .stream = static_cast<kzoo::stream_t>(arguments.stream),
                  .cluster = dim3(1, parts)},
                 kernel_for<G>(g.m), g, division_);
  }

 private:
  template <class G>
  auto kernel_for(std::int64_t rows) const {
    if (division_.depth == 2)
      return rows <= 8 ? few_rows_kernel<1, 2, G> : few_rows_kernel<2, 2, G>;
    return rows <= 8 ? few_rows_kernel<1, 3, G> : few_rows_kernel<2, 3, G>;
  }

  strips_and_parts division_;
};

}  // namespace w4a16

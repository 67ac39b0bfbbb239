#pragma once
// A kernel whose code is short. A block fetches each instruction for the first time from L2 or
// DRAM, and a product of some microseconds waits for that. The unrolled main loops of the larger
// kernels are 260 to 2000 FMAs, gone through two or three times where K is short. Here all loops
// are rolled, and each thing is done at one place in the code:
//
//   for k tiles -3, -2, ...   wait for the k tile | start copying the one 3 later | multiply
//   shared memory, then C     one way for all edges, alignments and slices
//
// Copies are of 4 bytes, with zeros past all edges, so any layout and any row length will do.

#include <fast_fp32/common/arrivals.hpp>
#include <fp32/common/vec4.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/plugin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rolled {

// Slices: of threads, with their own steps of each k tile. Unrolled: steps along K in a row.
template <int BM, int BN, int BK, int TM, int TN, int Slices, int Stages, int BlocksPerSm,
          int Unrolled = 4>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kSlices = Slices, kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kSliceThreads = BM / TM * (BN / TN), kThreads = kSliceThreads * Slices;
  static constexpr int kSliceK = BK / Slices, kUnrolled = Unrolled;  // steps along K
  // Steps past K, where they are many. Otherwise a constant number of steps is faster.
  static constexpr bool kLeavesOut = Slices == 1 && kSliceK > kUnrolled;
  static constexpr int kThreadsX = BN / TN, kThreadsY = BM / TM;  // of a slice
  // Padded so that neither writing k by k nor reading 16 bytes meets in a bank.
  static constexpr int kStrideA = BM + 4, kStrideB = BN + 4;
  static constexpr int kStage = BK * (kStrideA + kStrideB);  // floats
  static constexpr std::size_t kSharedBytes =
      sizeof(float) * std::max(Stages * kStage, Slices* BM* kStrideB);
  static_assert(kSliceK % kUnrolled == 0 && TM % 4 == 0 && TN % 4 == 0 && kThreadsX % 8 == 0 &&
                kThreadsY % 4 == 0 && kThreads % BN == 0 && BM * BN / 4 % kThreads == 0);
};

// C has rows x cols tiles: blockIdx.y and blockIdx.x. blockIdx.z counts parts of K.
struct division {
  int rows, cols, parts;
  int steps;  // along K, of a part: a multiple of BK

  template <class Tile>
  static division of(const kzoo_problem& p, int parts) {
    const auto up = [](std::int64_t size, std::int64_t by) { return (size + by - 1) / by; };
    const std::int64_t steps = up(up(p.k, parts), Tile::kBK) * Tile::kBK;
    return {static_cast<int>(up(p.m, Tile::kBM)), static_cast<int>(up(p.n, Tile::kBN)),
            static_cast<int>(up(p.k, steps)), static_cast<int>(steps)};
  }
  std::int64_t tiles() const { return std::int64_t{rows} * cols; }
};

struct partial_sums {
  common::arrivals arrivals;
  float4* parts;

  template <class Tile>
  static std::size_t bytes(const division& d) {
    if (d.parts == 1) return 0;
    return common::arrivals::bytes(d.tiles()) +
           sizeof(float) * Tile::kBM * Tile::kBN * d.parts * static_cast<std::size_t>(d.tiles());
  }
  static partial_sums in(void* workspace, const division& d, unsigned long long run) {
    if (d.parts == 1) return {};
    auto* const bytes = static_cast<unsigned char*>(workspace);
    return {{static_cast<unsigned long long*>(workspace), run},
            reinterpret_cast<float4*>(bytes + common::arrivals::bytes(d.tiles()))};
  }
};

// An operand's copies: BK steps along K of kSide lines (rows of A, columns of B), step by step in
// shared memory. kAlongK: its rows in memory go along K.
template <class Tile, int kSide, bool kAlongK>
class operand {
  static constexpr int kStride = kSide + 4;
  // One copy by all threads covers kSteps of kLines lines. Along K eight neighbours read 32 bytes.
  static constexpr int kSteps = kAlongK ? 8 : Tile::kThreads / kSide;
  static constexpr int kLines = kAlongK ? Tile::kThreads / kSteps : kSide;
  static_assert(Tile::kBK % kSteps == 0 && kSide % kLines == 0);

 public:
  // Of the lines from `first` of `size` on, and from step k0 to step `end`.
  __device__ operand(const float* from, std::ptrdiff_t ld, int first, int size, int k0, int end,
                     int thread)
      : ld_(ld) {
    const int step = kAlongK ? thread % kSteps : thread / kSide;
    const int line = kAlongK ? thread / kSteps : thread % kSide;
    from_ = kAlongK ? from + (first + line) * ld + (k0 + step)
                    : from + (k0 + step) * ld + (first + line);
    to_ = step * kStride + line;
    lines_ = size - (first + line);
    steps_ = end - (k0 + step);
  }
  // Starts to copy the next k tile.
  __device__ __forceinline__ void copy(float* stage) {
#pragma unroll
    for (int step = 0; step < Tile::kBK; step += kSteps) {
#pragma unroll
      for (int line = 0; line < kSide; line += kLines) {
        kzoo::copy_async<4>(stage + to_ + step * kStride + line,
                            kAlongK ? from_ + line * ld_ + step : from_ + step * ld_ + line,
                            step < steps_ && line < lines_);
      }
    }
    from_ += kAlongK ? Tile::kBK : Tile::kBK * ld_;
    steps_ -= Tile::kBK;
  }

 private:
  const float* from_;
  std::ptrdiff_t ld_;
  int to_, lines_, steps_;
};

__device__ __forceinline__ float4 add(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

template <class Tile, kzoo::layout kLayout>
using operand_a = operand<Tile, Tile::kBM, !kzoo::is_a_transposed(kLayout)>;
template <class Tile, kzoo::layout kLayout>
using operand_b = operand<Tile, Tile::kBN, kzoo::is_b_transposed(kLayout)>;

template <class Tile, kzoo::layout kLayout>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerSm)
    rolled_kernel(kzoo::gemm<float, kLayout> g, division d, partial_sums sums) {
  constexpr int kThreadsX = Tile::kThreadsX, kThreadsY = Tile::kThreadsY;
  const int thread = static_cast<int>(threadIdx.x), slice = thread / Tile::kSliceThreads;
  // A warp is 4 threads high and 8 wide, in the order of common::warp_thread_coords, with which
  // reads of shared memory take half the time.
  const int lane = thread % 32, warp = thread % Tile::kSliceThreads / 32;
  const int tx = warp % (kThreadsX / 8) * 8 + (lane >> 1 & 7);
  const int ty = warp / (kThreadsX / 8) * 4 + ((lane & 1) | (lane >> 3 & 2));
  const int row0 = static_cast<int>(blockIdx.y) * Tile::kBM;
  const int col0 = static_cast<int>(blockIdx.x) * Tile::kBN;
  const int part = static_cast<int>(blockIdx.z), k0 = part * d.steps, end = min(k0 + d.steps, g.k);
  float* const shared = kzoo::dynamic_shared<float>();  // kStages of (BK, BM) and (BK, BN)

  operand_a<Tile, kLayout> a(g.a, g.lda, row0, g.m, k0, end, thread);
  operand_b<Tile, kLayout> b(g.b, g.ldb, col0, g.n, k0, end, thread);
  // A thread's rows are groups of four, kThreadsY * 4 apart; so are its columns.
  const float* const a_tile = shared + slice * Tile::kSliceK * Tile::kStrideA + 4 * ty;
  const float* const b_tile =
      shared + Tile::kBK * Tile::kStrideA + slice * Tile::kSliceK * Tile::kStrideB + 4 * tx;
  float acc[Tile::kTM][Tile::kTN] = {};
  constexpr int kAhead = Tile::kStages - 1;
  const int k_tiles = kzoo::ceil_div(end - k0, Tile::kBK);
  int reading = 0, filling = 0;  // of the stages
#pragma unroll 1
  for (int k_tile = -kAhead; k_tile < k_tiles; ++k_tile) {
    if (k_tile >= 0) {
      kzoo::wait_group<kAhead - 1>();
      __syncthreads();  // the k tile is complete, and all threads have read the one before it
    }
    if (k_tile + kAhead < k_tiles) {
      float* const stage = shared + filling * Tile::kStage;
      a.copy(stage);
      b.copy(stage + Tile::kBK * Tile::kStrideA);
      filling = filling == kAhead ? 0 : filling + 1;
    }
    kzoo::commit_group();
    if (k_tile < 0) continue;
    const float* a_at = a_tile + reading * Tile::kStage;
    const float* b_at = b_tile + reading * Tile::kStage;
    reading = reading == kAhead ? 0 : reading + 1;
    const int steps =
        Tile::kLeavesOut ? min(Tile::kBK, end - k0 - k_tile * Tile::kBK) : Tile::kSliceK;
#pragma unroll 1
    for (int k = 0; k < steps; k += Tile::kUnrolled) {
#pragma unroll
      for (int j = 0; j < Tile::kUnrolled; ++j) {
        float of_a[Tile::kTM], of_b[Tile::kTN];
#pragma unroll
        for (int i = 0; i < Tile::kTM; i += 4)
          common::read_vec4(a_at + j * Tile::kStrideA + i * kThreadsY, &of_a[i]);
#pragma unroll
        for (int i = 0; i < Tile::kTN; i += 4)
          common::read_vec4(b_at + j * Tile::kStrideB + i * kThreadsX, &of_b[i]);
#pragma unroll
        for (int row = 0; row < Tile::kTM; ++row) {
#pragma unroll
          for (int col = 0; col < Tile::kTN; ++col) acc[row][col] += of_a[row] * of_b[col];
        }
      }
      a_at += Tile::kUnrolled * Tile::kStrideA;
      b_at += Tile::kUnrolled * Tile::kStrideB;
    }
  }
  kzoo::wait_group<0>();
  __syncthreads();  // the stages are free
#pragma unroll
  for (int i = 0; i < Tile::kTM; ++i) {
    const int row = slice * Tile::kBM + i / 4 * (4 * kThreadsY) + 4 * ty + i % 4;
#pragma unroll
    for (int j = 0; j < Tile::kTN; j += 4)
      common::store_vec4(shared + row * Tile::kStrideB + j * kThreadsX + 4 * tx,
                         make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]));
  }
  __syncthreads();

  if (Tile::kSlices > 1 || d.parts > 1) {
    // Sums of all slices, then of all parts, by float4s, which go back to the first slice's place.
    constexpr int kPerRow = Tile::kBN / 4, kAll = Tile::kBM * kPerRow;
    constexpr int kOwn = kAll / Tile::kThreads;
    const auto place = [&](int v) -> float4& {
      const int row = (v * Tile::kThreads + thread) / kPerRow, col = thread % kPerRow * 4;
      return *reinterpret_cast<float4*>(shared + row * Tile::kStrideB + col);
    };
    float4 own[kOwn];
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
      own[v] = place(v);
#pragma unroll
      for (int of = 1; of < Tile::kSlices; ++of)
        own[v] = add(own[v], (&place(v))[of * Tile::kBM * Tile::kStrideB / 4]);
    }
    if (d.parts > 1) {
      const int tile = static_cast<int>(blockIdx.y) * d.cols + static_cast<int>(blockIdx.x);
      float4* const parts = sums.parts + std::int64_t{tile} * d.parts * kAll + thread;
#pragma unroll
      for (int v = 0; v < kOwn; ++v) __stcg(parts + part * kAll + v * Tile::kThreads, own[v]);
      if (!sums.arrivals.is_last(tile, d.parts)) return;
#pragma unroll
      for (int v = 0; v < kOwn; ++v) own[v] = float4{};
#pragma unroll 4
      for (int of = 0; of < d.parts; ++of) {
#pragma unroll
        for (int v = 0; v < kOwn; ++v)
          own[v] = add(own[v], __ldcg(parts + of * kAll + v * Tile::kThreads));
      }
    }
    // A thread reads and writes the same places of the first slice.
#pragma unroll
    for (int v = 0; v < kOwn; ++v) place(v) = own[v];
    __syncthreads();
  }
  // Neighbouring threads store neighbours of a row, kRows rows at a time.
  constexpr int kRows = Tile::kThreads / Tile::kBN;
  const int row = thread / Tile::kBN, col = thread % Tile::kBN;
  const int rows = col0 + col < g.n ? min(Tile::kBM, g.m - row0) - row : 0;
  float* out = g.c + (row0 + row) * g.ldc + (col0 + col);
  const float* sum = shared + row * Tile::kStrideB + col;
#pragma unroll 4
  for (int i = 0; i < rows; i += kRows) {
    *out = g.beta == 0 ? g.alpha * *sum : g.alpha * *sum + g.beta * *out;
    out += kRows * g.ldc, sum += kRows * Tile::kStrideB;
  }
}

// The kernel, with K in a number of parts that is decided elsewhere.
template <class Tile>
class product {
 public:
  static constexpr int kMostParts = 64;
  static const char* supports(const kzoo_problem& p) {
    return (p.m + Tile::kBM - 1) / Tile::kBM > 65535
               ? "C has more rows of tiles than gridDim.y can count"
               : nullptr;
  }
  static std::size_t workspace_bytes(const division& d) { return partial_sums::bytes<Tile>(d); }
  product(kzoo::layout layout, const division& d) : division_(d) {
    const auto prepare = [&]<kzoo::layout kLayout>() {
      if (layout == kLayout)
        kzoo::allow_dynamic_shared(rolled_kernel<Tile, kLayout>, Tile::kSharedBytes);
    };
    [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      (prepare.template operator()<kzoo::kLayouts[kIndex]>(), ...);
    }
    (std::make_index_sequence<kzoo::kLayouts.size()>{});
  }
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, const kzoo_arguments& args) const {
    kzoo::launch({.grid = dim3(division_.cols, division_.rows, division_.parts),
                  .block = dim3(Tile::kThreads),
                  .dynamic_shared = Tile::kSharedBytes,
                  .max_threads = Tile::kThreads,
                  .stream = static_cast<kzoo::stream_t>(args.stream)},
                 rolled_kernel<Tile, kLayout>, g, division_,
                 partial_sums::in(args.workspace, division_, numbers_.next()));
  }

 private:
  division division_;
  persistent::run_numbers numbers_;
};

using tile_64x64x16 = tiling<64, 64, 16, 8, 4, 1, 4, 4>;
using tile_64x32x32 = tiling<64, 32, 32, 8, 4, 4, 4, 2>;
using tile_32x32x32 = tiling<32, 32, 32, 4, 4, 4, 4, 4>;
// Two warps, and eight blocks on an SM.
using tile_64x32x16 = tiling<64, 32, 16, 8, 4, 1, 3, 8>;
using tile_32x64x8 = tiling<32, 64, 8, 4, 8, 1, 3, 8, 8>;

// K in as many parts as fill the SMs, if each then has eight k tiles at least.
template <class Tile>
class variant : public product<Tile> {
 public:
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;  // one product after the other
  static constexpr unsigned compute_capability = 80;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return product<Tile>::workspace_bytes(divided(p, d));
  }
  variant(const kzoo_problem& p, const kzoo_device& d)
      : product<Tile>(kzoo::layout_of(p), divided(p, d)) {}

 private:
  static division divided(const kzoo_problem& p, const kzoo_device& d) {
    constexpr std::int64_t kLeast = 8;
    const std::int64_t sms = std::max(d.kind == KZOO_CPU ? d.threads : d.multiprocessors, 1u);
    const std::int64_t parts =
        std::min(sms / division::of<Tile>(p, 1).tiles(), p.k / (kLeast * Tile::kBK));
    return division::of<Tile>(
        p, static_cast<int>(std::clamp<std::int64_t>(parts, 1, product<Tile>::kMostParts)));
  }
};

}  // namespace rolled

#pragma once
// How a warp copies its columns of B, and what it multiplies them with.
//
// Weights are the operand with 16 rows of mma.sync, and rows of A the one with 8 columns, so that
// eight rows of A are enough: what comes out is C transposed. Lane 4 r + t has, of each 128 steps
// along K, 32 steps from 32 t on of kOfLane neighbouring columns from kOfLane r on. It copies them
// itself, 16 bytes of each. Columns 2 i and 2 i + 1 of these are rows r and r + 8 of operand i.

#include <kzoo/async_copy.hpp>
#include <kzoo/int4.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/plugin.hpp>

#include <cstddef>
#include <cstdint>

#include "unpack.hpp"

namespace w4a16 {

inline constexpr int kBlock = 128;        // steps along K with one scale
inline constexpr int kStepsOfLane = 32;   // of these
inline constexpr int kWordsOfLane = 4;    // of 8 weights
inline constexpr int kChunks = 16;        // of 16 bytes, in a row's block of A
inline constexpr int kMaxSharedKb = 226;  // that a block may use beside what is static

// A stage of a warp: what its lanes have copied of a block of K, and the scales of its columns.
template <int OfLane>
struct weight_stage {
  static constexpr int kOfLane = OfLane, kColumns = 8 * OfLane;

  uint4 weights[OfLane][32];
  float scales[kColumns];
};

template <class G, class Stage>
class weight_copies {
 public:
  // Of the columns from col0 on.
  __device__ weight_copies(const G& g, int col0, int lane)
      : column_bytes_(g.ldb / 2),
        k_(g.k),
        scale_row_(g.scales_b.ld),
        first_(lane / 4 * Stage::kOfLane),
        lane_(lane),
        columns_(g.n - col0) {
    weights_ = reinterpret_cast<const unsigned char*>(g.b) + (col0 + first_) * column_bytes_ +
               lane % 4 * (kStepsOfLane / 2);
    scales_ = g.scales_b.scales + col0 + lane;
  }

  // Starts to copy block `block` of K, with zeros outside B.
  __device__ __forceinline__ void copy(int block, Stage& to) const {
    const bool has_steps = block * kBlock + lane_ % 4 * kStepsOfLane < k_;
    const unsigned char* from = weights_ + std::ptrdiff_t{block} * (kBlock / 2);
#pragma unroll
    for (int i = 0; i < Stage::kOfLane; ++i) {
      kzoo::copy_async<16>(&to.weights[i][lane_], from + i * column_bytes_,
                           has_steps && first_ + i < columns_);
    }
    const float* of_block = scales_ + block * scale_row_;
#pragma unroll
    for (int i = 0; i < Stage::kColumns; i += 32) {
      kzoo::copy_async<4>(&to.scales[lane_ + i], of_block + i, lane_ + i < columns_);
    }
  }

 private:
  const unsigned char* weights_;  // the lane's first
  std::ptrdiff_t column_bytes_;
  int k_;
  const float* scales_;
  std::ptrdiff_t scale_row_;
  int first_, lane_;
  int columns_;  // from the warp's first one to the last of B
};

// A warp's sums, Operands times 8 rows of A. In operand i of weights and o of A, with r = lane / 4
// and t = lane % 4:
//
//                                  row 8 o + 2 t    the next row
//     column kOfLane r + 2 i            [0]              [1]
//     the next column                   [2]              [3]
template <class Stage, int Operands>
using accumulators = float[Stage::kOfLane / 2][Operands][4];

// acc += the products of a block of K. rows_of(word, o) is what the lane multiplies its word number
// `word` of weights with, of operand o of A. Instructions whose sums are the same come apart:
// AtOnce operands of weights, OfA of A.
template <class T, class Order, int AtOnce, int OfA, int OfLane, int Operands, class Rows>
__device__ __forceinline__ void multiply(const uint4 (&weights)[OfLane], const Rows& rows_of,
                                         float (&acc)[OfLane / 2][Operands][4]) {
  constexpr int kOperands = OfLane / 2;
  static_assert(kOperands % AtOnce == 0 && Operands % OfA == 0);
#pragma unroll
  for (int word = 0; word < kWordsOfLane; ++word) {
#pragma unroll
    for (int i0 = 0; i0 < kOperands; i0 += AtOnce) {
      operands of[AtOnce];
#pragma unroll
      for (int i = 0; i < AtOnce; ++i) {
        of[i] = unpack<T, Order>(word_of(weights[2 * (i0 + i)], word),
                                 word_of(weights[2 * (i0 + i) + 1], word));
      }
#pragma unroll
      for (int o0 = 0; o0 < Operands; o0 += OfA) {
        uint4 rows[OfA];
#pragma unroll
        for (int o = 0; o < OfA; ++o) rows[o] = rows_of(word, o0 + o);
#pragma unroll
        for (int o = 0; o < OfA; ++o) {
          const unsigned first[2] = {rows[o].x, rows[o].y};
#pragma unroll
          for (int i = 0; i < AtOnce; ++i) kzoo::mma<T>(acc[i0 + i][o0 + o], of[i].first, first);
        }
#pragma unroll
        for (int o = 0; o < OfA; ++o) {
          const unsigned second[2] = {rows[o].z, rows[o].w};
#pragma unroll
          for (int i = 0; i < AtOnce; ++i) kzoo::mma<T>(acc[i0 + i][o0 + o], of[i].second, second);
        }
      }
    }
  }
}

// sums += scales times acc, for the lane's four columns.
template <int Operands>
__device__ __forceinline__ void add_scaled(const float4& scales, const float (&acc)[2][Operands][4],
                                           float (&sums)[2][Operands][4]) {
#pragma unroll
  for (int o = 0; o < Operands; ++o) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      sums[0][o][e] += scales.x * acc[0][o][e];
      sums[0][o][e + 2] += scales.y * acc[0][o][e + 2];
      sums[1][o][e] += scales.z * acc[1][o][e];
      sums[1][o][e + 2] += scales.w * acc[1][o][e + 2];
    }
  }
}

// What all variants have in common.
struct for_weights {
  static constexpr bool block_scales = true;
  using types = kzoo::types<kzoo::mixed<__nv_bfloat16, kzoo::int4x2, __nv_bfloat16>,
                            kzoo::mixed<__half, kzoo::int4x2, __half>>;
  using layouts = kzoo::layouts<kzoo::layout::nt>;
  static constexpr unsigned compute_capability = 80;
  static constexpr kzoo::granularity granularity{.k = kStepsOfLane, .row_bytes = 16};

  static const char* objection(const kzoo_problem& p, const kzoo_device& d, int shared_bytes) {
    if (!kzoo::has_scale_blocks(p, {0, 0}, {1, kBlock}))
      return "it takes scales of B alone, for blocks of 1x128";
    if (p.alignment % 16 != 0) return "its matrices have to start at multiples of 16 bytes";
    return d.kind == KZOO_CPU ||
                   static_cast<std::uint64_t>(shared_bytes) + 1024 <= d.shared_bytes_per_block
               ? nullptr
               : "its stages need more shared memory than a block of this device can have";
  }
  // The kernels' argument, for activations of T.
  template <class T>
  using gemm = kzoo::scaled_gemm<kzoo::mixed<T, kzoo::int4x2, T>, kzoo::layout::nt>;

  // Calls body(T{}) for A's type.
  template <class Body>
  static void for_type(const kzoo_problem& p, const Body& body) {
    if (p.type_a == KZOO_F16) {
      body(__half{});
    } else {
      body(__nv_bfloat16{});
    }
  }
};

}  // namespace w4a16

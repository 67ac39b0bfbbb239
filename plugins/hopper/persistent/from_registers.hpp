#pragma once
// A product whose first operand comes from registers. wgmma takes 32-bit operands from shared
// memory only with K along their rows; a fragment of registers can be loaded from rows of any
// direction.

#include <kzoo/wgmma.hpp>

#include "kernel.hpp"

namespace persistent {

// A is k x m in memory and B n x k. C may lie there as its transpose: a product of row-major
// matrices is (B^T A^T)^T, with B^T from registers.
struct gemm_from_registers : kzoo::gemm<float, kzoo::layout::tt> {
  bool c_transposed;

  // Of a warpgroup's 64 rows, the first of the two that a thread has; the other is the next one. In
  // a tile with rows along K, a load of both by all lanes is then without bank conflicts: lane
  // 4 r + t reads from row t, whose chunks of 16 bytes are in the order c ^ t, and the rows of
  // every second r are four chunks apart.
  static __device__ __forceinline__ int first_row() {
    const int thread = static_cast<int>(threadIdx.x) % kzoo::kWarpgroup;
    const int warp = thread / 32, r = thread % 32 / 4;
    return warp / 2 * 32 + r / 2 % 2 * 16 + warp % 2 * 8 + r / 4 * 4 + r % 2 * 2;
  }

  bool pairs_aligned() const {
    return (c_transposed ? m : n) % 2 == 0 && ldc % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(c) % sizeof(float2) == 0;
  }

  template <int kCount>
  __device__ __forceinline__ void store(bool pairs, int row, int col,
                                        const float (&acc)[kCount]) const {
    if (pairs) {
      store<true>(row, col, acc);
    } else {
      store<false>(row, col, acc);
    }
  }

 private:
  // Four sums are those of two rows and two columns, and two pairs of neighbours in memory.
  template <bool kPairs, int kCount>
  __device__ __forceinline__ void store(int row, int col, const float (&acc)[kCount]) const {
    row += first_row();
    col += static_cast<int>(threadIdx.x) % 4 * 2;
    const bool t = c_transposed;
    float* to = c + (t ? col * ldc + row : row * ldc + col);
    const std::ptrdiff_t step = t ? 8 * ldc : 8;
    const int rows = m - row;  // to the end of C
#pragma unroll
    for (int i = 0; i < kCount; i += 4, to += step) {
      const int cols = n - col - 2 * i;
      const bool inside[2][2] = {{rows > 0 && cols > 0, rows > 0 && cols > 1},
                                 {rows > 1 && cols > 0, rows > 1 && cols > 1}};
      store_neighbours<kPairs>(to, inside[0][0], t ? inside[1][0] : inside[0][1], acc[i],
                               t ? acc[i + 2] : acc[i + 1]);
      store_neighbours<kPairs>(to + ldc, t ? inside[0][1] : inside[1][0], inside[1][1],
                               t ? acc[i + 1] : acc[i + 2], acc[i + 3]);
    }
  }
  // As a pair both are inside C, or neither.
  template <bool kPair>
  __device__ __forceinline__ void store_neighbours(float* to, bool has_x, bool has_y, float x,
                                                   float y) const {
    const bool adds = beta != 0.0f;
    x *= alpha;
    y *= alpha;
    if constexpr (kPair) {
      if (!has_x) return;
      auto* const both = reinterpret_cast<float2*>(to);
      if (adds) {
        const float2 old = *both;
        x += beta * old.x;
        y += beta * old.y;
      }
      *both = float2{x, y};
    } else {
      if (has_x) to[0] = adds ? x + beta * to[0] : x;
      if (has_y) to[1] = adds ? y + beta * to[1] : y;
    }
  }
};

// A warpgroup's part of a k tile of A.
template <class G, class Tile>
struct fragments {
  using Smem = smem_layout<G, Tile>;
  static constexpr int kStep = 8, kSteps = Tile::kBK / kStep;  // along K, of an instruction
  kzoo::wgmma_fragment<float> of_step[kSteps];

  __device__ __forceinline__ void load(const float* stage, int warpgroup) {
    using tile = typename Smem::a_tile;
    const int row = warpgroup * 64 + G::first_row(), t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* const from = stage + tile::offset(row, t + 4 * half);
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        const auto two = *reinterpret_cast<const uint2*>(from + tile::offset(0, i * kStep));
        of_step[i].words[2 * half] = two.x;
        of_step[i].words[2 * half + 1] = two.y;
      }
    }
  }

  // Starts acc += them times B; `first`: acc = that instead.
  __device__ __forceinline__ void multiply(const float* stage, bool first,
                                           float (&acc)[Tile::kAccumulators]) const {
    kzoo::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      kzoo::wgmma<Tile::kBN>(acc, of_step[i], Smem::b_tile::at(Smem::b_of(stage), 0, i * kStep),
                             i > 0 || !first);
    }
    kzoo::wgmma_commit();
  }

  // The registers are in use up to here.
  __device__ __forceinline__ void keep() const {
#if defined(__CUDACC__)
#pragma unroll
    for (const auto& f : of_step) {
      asm volatile("" ::"r"(f.words[0]), "r"(f.words[1]), "r"(f.words[2]), "r"(f.words[3])
                   : "memory");
    }
#endif
  }
};

// The same tile with A from registers.
template <class Tile>
struct from_registers : Tile {
  // As hopper::consume(). Of two sets of fragments one is loaded while the other is multiplied.
  template <class G, class Release, class Meanwhile>
  static __device__ __forceinline__ void consume(const float* stages, barriers<Tile::kStages>& sync,
                                                 pipeline_state<Tile::kStages>& state, int k_tiles,
                                                 int warpgroup, Release release, Meanwhile,
                                                 float (&acc)[Tile::kAccumulators]) {
    fragments<G, Tile> a[2];
    int last = 0;  // the stage that is released next
    const auto multiply = [&](auto& of, bool first) {
      const float* const stage = stages + state.stage * smem_layout<G, Tile>::kStage;
      sync.full[state.stage].wait(state.parity);
      of.load(stage, warpgroup);
      of.multiply(stage, first, acc);
    };
    const auto advance = [&] {
      last = state.stage;
      state.advance();
    };
    const auto end_older = [&](const auto& of) {
      kzoo::wgmma_wait<1>();
      of.keep();
      release(last);
    };
    multiply(a[0], true);
    advance();
    int left = k_tiles - 1;
    for (; left > 1; left -= 2) {
      multiply(a[1], false);
      end_older(a[0]);
      advance();
      multiply(a[0], false);
      end_older(a[1]);
      advance();
    }
    if (left == 1) {
      multiply(a[1], false);
      end_older(a[0]);
      advance();
    }
    kzoo::wgmma_wait<0>(acc);
    a[0].keep();
    a[1].keep();
    release(last);
  }
};

}  // namespace persistent

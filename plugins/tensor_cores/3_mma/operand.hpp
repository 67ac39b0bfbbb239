#pragma once
// How the tile of an operand becomes fragments. To mma.sync, A and B are the same but for their
// size: MN indices (rows of A, columns of B), each with its elements along K. 16 of them and one
// step along K are four registers, of which a lane holds 4 bytes of MN index lane / 4 each:
//
//     A       k: 16 bytes   16 bytes       B, 8 at a time    16 bytes   16 bytes
//       0-7      |   r[0]    |   r[2]   |           0-7      |  r[0]  |   r[1]  |
//       8-15     |   r[1]    |   r[3]   |           8-15     |  r[2]  |   r[3]  |

#include <kzoo/mma.hpp>
#include <tensor_cores/common/operand_tile.hpp>

namespace mma {

enum class side { a, b };

// Which eight MN indices, and which half of the step along K, register i holds; and the reverse.
template <side kSide>
struct registers {
  static constexpr __host__ __device__ int eight(int i) { return kSide == side::a ? i % 2 : i / 2; }
  static constexpr __host__ __device__ int half(int i) { return kSide == side::a ? i / 2 : i % 2; }
  static constexpr __host__ __device__ int of(int eight, int half) {
    return kSide == side::a ? eight + 2 * half : 2 * eight + half;
  }
};

// An operand loads fragments of 16 MN indices from its tile: those from `first` on, which counts
// from the warp's first one and is a multiple of 16. mn(i) is the MN index in place i: the order
// does not matter to the tensor cores, only to the epilogue, and one operand in
// mn_major_operands.hpp permutes it.
//
// A lane's address is lane(warp_mn), computed once, and an offset known when the kernel is
// compiled. The swizzle of a tile is an exclusive or of the address with bits of its row, so the
// offset of a column is added by an exclusive or, that of a row by a sum. This holds because a warp
// begins at a multiple of 32 or 64.
//
// K-major tiles (rows along K): ldmatrix brings 16 bytes of a row, whatever is in them. MN-major
// tiles (rows along MN): for 16-bit elements, ldmatrix transposes.
template <side kSide, class E, int MN, int BK, bool kKMajor>
struct operand : common::operand_tile<E, MN, BK, kKMajor> {
  static_assert(kKMajor || sizeof(E) == 2);
  using base = common::operand_tile<E, MN, BK, kKMajor>;
  using in = registers<kSide>;
  static constexpr __host__ __device__ int mn(int i) { return i; }

  static __device__ __forceinline__ int lane(int warp_mn) {
    const int lane = threadIdx.x % 32, matrix = lane / 8;
    const int mn = warp_mn + in::eight(matrix) * 8, half = in::half(matrix);
    if constexpr (kKMajor) return base::offset(mn + lane % 8, half * base::tile::kChunk);
    return base::offset(mn, half * 8 + lane % 8);
  }
  static __device__ __forceinline__ void load(unsigned (&r)[4], const E* from, int lane, int first,
                                              int k) {
    constexpr int kRow = base::tile::kPanelCols;
    if constexpr (kKMajor) {
      kzoo::ldmatrix(r, from + (lane ^ k) + first * kRow);
    } else {
      kzoo::ldmatrix_transposed(r, from + (lane ^ first) + k * kRow);
    }
  }
};

}  // namespace mma

#pragma once
// How the tile of an operand becomes fragments. To mma.sync, A and B are the same but for their
// size: MN indices (rows of A, columns of B), each with its elements along K. 16 of them and one
// k step are four registers, of which a lane holds 4 bytes of MN index lane / 4 each:
//
//     A       k: 16 bytes   16 bytes       B, 8 at a time    16 bytes   16 bytes
//       0-7      |   r[0]    |   r[2]   |           0-7      |  r[0]  |   r[1]  |
//       8-15     |   r[1]    |   r[3]   |           8-15     |  r[2]  |   r[3]  |

#include <kzoo/mma.hpp>
#include <tensor_cores/common/operand_tile.hpp>

namespace mma {

enum class side { a, b };

// Which eight of the 16 MN indices, and which half of the k step, register i holds; and the
// register that holds them.
template <side kSide>
struct registers {
  static constexpr __host__ __device__ int mn_half(int i) {
    return kSide == side::a ? i % 2 : i / 2;
  }
  static constexpr __host__ __device__ int k_half(int i) {
    return kSide == side::a ? i / 2 : i % 2;
  }
  static constexpr __host__ __device__ int index(int mn_half, int k_half) {
    return kSide == side::a ? mn_half + 2 * k_half : 2 * mn_half + k_half;
  }
};

// An operand loads fragments of 16 MN indices from its tile: those from `first` on, which counts
// from the warp's first one and is a multiple of 16. mn(i) is the MN index in place i: the order
// does not matter to the tensor cores, only to the epilogue, and one operand in
// mn_major_operands.hpp permutes it.
//
// A lane's address is lane(warp_mn), computed once, and an offset known when the kernel is
// compiled. The swizzle of a tile is an exclusive or of the address with bits of its row, so the
// offset of a row is added by a sum, that of a column by an exclusive or. The latter holds as long
// as the lane's own column has none of its bits: K-major, k stays in one panel of 128 bytes, and a
// lane begins in its first 32; MN-major, `first` is less than the 32 or 64 at whose
// multiples a warp begins.
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
    const int mn = warp_mn + in::mn_half(matrix) * 8, half = in::k_half(matrix);
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

#pragma once
// How the tile of an operand becomes fragments. mma.sync sees A and B alike: MN indices (rows of A,
// columns of B), each with its elements along K. A fragment here is 16 MN indices by one k step, 32
// bytes along K, in four registers of each lane. A register is 8 MN indices by 16 bytes, of which a
// lane has 4 bytes: MN index lane / 4, from byte 4 (lane % 4) on. mma.sync takes the 16 of A at
// once, and B 8 at a time:
//
//     A      k: 16 bytes   16 bytes          B      k: 16 bytes   16 bytes
//     0-7       |  r[0]   |  r[2]   |        0-7       |  r[0]   |  r[1]   |
//     8-15      |  r[1]   |  r[3]   |        8-15      |  r[2]   |  r[3]   |

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
// from the warp's first one and is a multiple of 16. mn(i) is the MN index in place i of these: the
// order does not matter to the tensor cores, only to the epilogue, and one operand in
// mn_major_operands.hpp permutes it.
//
// K-major tiles (rows along K): ldmatrix brings 16 bytes of a row, whatever is in them. MN-major
// tiles (rows along MN): for 16-bit elements, ldmatrix transposes.
//
// A lane's address is lane(warp_mn), computed once, and an offset known when the kernel is
// compiled. In a panel of a swizzled tile, an element is at
//
//     row * kPanelCols + (column ^ row % 8 * kChunk)
//
// A multiple of 8 rows further, row % 8 is the same: that many kPanelCols are added. x columns
// further, x is one more term of the exclusive or, if column + x is column ^ x, that is, if the two
// have no bit in common. They have none. K-major: a lane's column is in the first 32 bytes of 128,
// and k is a multiple of that, in the same panel. MN-major: a lane's column is the warp's first
// one, a multiple of the 32 or 64 that it has, or 8 more; and `first` is a multiple of 16 below
// that.
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

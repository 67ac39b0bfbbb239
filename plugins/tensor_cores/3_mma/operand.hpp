#pragma once
// How the tile of an operand becomes fragments. To mma.sync, A and B are the same but for their
// size: lines (rows of A, columns of B), each with its elements along K. 16 lines and one step
// along K are four registers, of which a lane holds 4 bytes of line lane / 4 each:
//
//     16 lines of A     k: 16 bytes   16 bytes       of B, 8 at a time    16 bytes   16 bytes
//              0-7      |   r[0]    |   r[2]   |                 0-7      |  r[0]  |   r[1]  |
//              8-15     |   r[1]    |   r[3]   |                 8-15     |  r[2]  |   r[3]  |

#include <kzoo/mma.hpp>
#include <tensor_cores/common/operand_tile.hpp>

namespace mma {

enum class side { a, b };

// Which lines, and which half of the step, register i holds; and the reverse.
template <side kSide>
struct registers {
  static constexpr __host__ __device__ int lines(int i) { return kSide == side::a ? i % 2 : i / 2; }
  static constexpr __host__ __device__ int half(int i) { return kSide == side::a ? i / 2 : i % 2; }
  static constexpr __host__ __device__ int of(int lines, int half) {
    return kSide == side::a ? lines + 2 * half : 2 * lines + half;
  }
};

// An operand loads 16 lines from its tile: those with numbers from `number` on, counted from the
// warp's first one. Which line of C is whose does not matter to the tensor cores, so where it helps
// to load them, the 16 change places: line(number) says which one it is.
//
// Addresses are sums of what a lane computes once, lane(line), and of what is known when the kernel
// is compiled, number and k; in a swizzled tile an exclusive or in place of one of the sums. A warp
// begins at a multiple of its width, which is 32 or 64.
//
// Where lines lie along K, ldmatrix brings rows of 16 bytes, whatever is in them.
template <side kSide, class E, int Lines, int BK, bool kLinesAlongK>
struct operand : common::operand_tile<E, Lines, BK, kLinesAlongK> {
  static_assert(kLinesAlongK || sizeof(E) == 2);
  using base = common::operand_tile<E, Lines, BK, kLinesAlongK>;
  using in = registers<kSide>;
  static constexpr __host__ __device__ int line(int number) { return number; }

  static __device__ __forceinline__ int lane(int first) {
    const int lane = threadIdx.x % 32, matrix = lane / 8;
    const int line = first + in::lines(matrix) * 8, half = in::half(matrix);
    if constexpr (kLinesAlongK) return base::offset(line + lane % 8, half * base::tile::kChunk);
    return base::offset(line, half * 8 + lane % 8);
  }
  static __device__ __forceinline__ void load(unsigned (&r)[4], const E* from, int lane, int number,
                                              int k) {
    constexpr int kRow = base::tile::kPanelCols;
    if constexpr (kLinesAlongK) {
      kzoo::ldmatrix(r, from + (lane ^ k) + number * kRow);
    } else {  // steps along K lie in rows, and ldmatrix transposes
      kzoo::ldmatrix_transposed(r, from + (lane ^ number) + k * kRow);
    }
  }
};

// Steps along K in rows, in 8 bits. ldmatrix transposes pairs: a lane gets two lines, of two steps
// in a register, and sorts them. Even lines become the first eight, odd ones the others. Lane t of
// four is to have steps 4 t to 4 t + 3, so that the rows of a matrix are not neighbours; those of
// lanes 2 and 3 come in another order, which puts all eight into different banks.
template <side kSide, int Lines, int BK>
struct operand<kSide, signed char, Lines, BK, false>
    : common::operand_tile<signed char, Lines, BK, false> {
  using base = common::operand_tile<signed char, Lines, BK, false>;
  using in = registers<kSide>;
  static constexpr __host__ __device__ int line(int number) {
    return number / 16 * 16 + number % 8 * 2 + number / 8 % 2;
  }

  static __device__ __forceinline__ int lane(int first) {
    const int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8, t = row / 2;
    return base::offset(first, matrix / 2 * 16 + 4 * t + (matrix % 2 ^ t / 2) * 2 + row % 2);
  }
  static __device__ __forceinline__ void load(unsigned (&r)[4], const signed char* from, int lane,
                                              int number, int k) {
    unsigned pairs[4];
    kzoo::ldmatrix_transposed(pairs, from + (lane ^ number) + k * base::tile::kPanelCols);
    const bool swapped = threadIdx.x % 4 >= 2;
    const unsigned even = swapped ? 0x2064 : 0x6420, odd = swapped ? 0x3175 : 0x7531;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      r[in::of(0, half)] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], even);
      r[in::of(1, half)] = __byte_perm(pairs[2 * half], pairs[2 * half + 1], odd);
    }
  }
};

// The same in 32 bits, which ldmatrix cannot transpose: lanes load element by element. A swizzle
// would make each address another exclusive or; with eight unused words after each row, four rows
// of eight elements are in 32 different banks, and addresses differ by constants.
template <side kSide, int Lines, int BK>
struct operand<kSide, float, Lines, BK, false> {
  struct tile {
    static constexpr int kRows = BK, kCols = Lines, kStride = Lines + 8;
    static constexpr __host__ __device__ int offset(int row, int col) {
      return row * kStride + col;
    }
  };
  using in = registers<kSide>;
  static constexpr int kElements = BK * tile::kStride;
  static constexpr __host__ __device__ int row(int, int k) { return k; }
  static constexpr __host__ __device__ int col(int line, int) { return line; }
  static constexpr __host__ __device__ int line(int number) { return number; }

  static __device__ __forceinline__ int lane(int first) {
    const int lane = threadIdx.x % 32;
    return tile::offset(lane % 4, first + lane / 4);
  }
  static __device__ __forceinline__ void load(unsigned (&r)[4], const float* from, int lane,
                                              int number, int k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int to = tile::offset(k + in::half(i) * 4, number + in::lines(i) * 8);
      r[i] = *reinterpret_cast<const unsigned*>(from + lane + to);
    }
  }
};

}  // namespace mma

#pragma once
// The operands of kernels that take all layouts: k tiles lie in shared memory as they do in memory.

#include <kzoo/swizzled_tile.hpp>
#include <tensor_cores/common/tile_copy.hpp>

#include <type_traits>

namespace common {

// A k tile of an operand: MN indices (rows of A or columns of B) and BK steps along K. It lies in
// shared memory as in the matrix: K-major, each MN index a row along K, or MN-major, each step
// along K a row (A transposed, or B not).
template <class E, int MN, int BK, bool KMajor>
struct operand_tile {
  using element = E;
  using tile =
      std::conditional_t<KMajor, kzoo::swizzled_tile<E, MN, BK>, kzoo::swizzled_tile<E, BK, MN>>;
  static constexpr bool kKMajor = KMajor;
  static constexpr int kMN = MN, kElements = tile::kElements;

  // Row and column, in the matrix as it is in memory.
  static constexpr __host__ __device__ int row(int mn, int k) { return kKMajor ? mn : k; }
  static constexpr __host__ __device__ int col(int mn, int k) { return kKMajor ? k : mn; }
  static constexpr __host__ __device__ int offset(int mn, int k) {
    return tile::offset(row(mn, k), col(mn, k));
  }
};

// Starts to copy a k tile, kWidth elements at a time. All kThreads threads call it.
template <class KTile, int kThreads, int kWidth, class E>
__device__ __forceinline__ void copy_k_tile(const matrix_view<E>& from, E* to, int mn, int k) {
  copy_tile<typename KTile::tile, kThreads, kWidth>(from, to, KTile::row(mn, k), KTile::col(mn, k));
}

}  // namespace common

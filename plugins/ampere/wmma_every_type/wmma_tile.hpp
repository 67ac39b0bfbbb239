#pragma once
// What a block of wmma has in shared memory, and a warp in registers: stages of k tiles (BK steps
// along K of A and B), the copies that fill them, fragments, and the epilogue.
//
// Here and in the steps after it: G is the kernel's kzoo::gemm, Tile its tiling, KTile a k tile of
// one operand, E the type of its elements, Smem the layout of shared memory (smem_layout). An MN
// index is a row of A or a column of B.
//
//   shared memory   | stage 0 | stage 1 | ...     a stage, in nn:   A  BM rows of BK | padding
//                                                                   B  BK rows of BN | padding

#include <ampere/common/aligned_variant.hpp>
#include <ampere/wmma_every_type/wmma_fragments.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/plugin.hpp>
#include <tensor_cores/common/store_pairs.hpp>
#include <tensor_cores/common/thread_map.hpp>

#include <cstddef>

namespace wmma_tiles {

// A block computes BM x BN of C in steps of BK along K, each of its warps WM x WN of that.
template <int BM, int BN, int BK, int WM, int WN, int Stages, int BlocksPerSm>
struct tiling {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kWM = WM, kWN = WN;
  static constexpr int kStages = Stages, kBlocksPerSm = BlocksPerSm;
  static constexpr int kWarpsM = BM / WM, kWarpsN = BN / WN, kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kRows = WM / kFragment, kCols = WN / kFragment;  // fragments of a warp
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the tile of C exactly");
  static_assert(WM % kFragment == 0 && WN % kFragment == 0, "fragments must cover the warp's tile");
  static_assert(Stages >= 2, "one stage is multiplied while another arrives");
};

// A k tile of an operand, MN indices by BK steps along K, as they lie in the matrix: K-major where
// its rows lie along K, MN-major where they lie along M or N. Rows are padded, by 16 bytes (by 32
// where MN-major and fp32), so that the rows of a fragment, 8 of 16 bytes or 4 of 32, fall into
// different banks.
template <class E, int MN, int BK, bool KMajor>
struct padded_tile {
  using element = E;
  static constexpr bool kKMajor = KMajor;
  static constexpr int kBK = BK;
  static constexpr int kRows = kKMajor ? MN : BK, kCols = kKMajor ? BK : MN;
  static constexpr int kVector = 16 / int(sizeof(E));  // elements of a 16-byte copy
  // kRow: elements from row to row.
  static constexpr int kRow = kCols + (kKMajor ? kVector : 8), kElements = kRows * kRow;
  static constexpr __host__ __device__ int offset(int mn, int k) {
    return kKMajor ? mn * kRow + k : k * kRow + mn;
  }
};

template <class G, class Tile>
struct smem_layout {
  using E = typename G::a_type;
  using a_tile = padded_tile<E, Tile::kBM, Tile::kBK, !G::kATransposed>;
  using b_tile = padded_tile<E, Tile::kBN, Tile::kBK, G::kBTransposed>;
  static constexpr int kFragmentK = tensor_input<E>::kFragmentK;
  static constexpr int kSteps = Tile::kBK / kFragmentK;  // fragments along K in a stage
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;
  // The epilogue uses the same memory: 16 rows of C for each warp, floats.
  static constexpr int kCRow = Tile::kWN + 8;
  static constexpr int kCRows = kFragment * kCRow;
  static constexpr int kStagesBytes = Tile::kStages * kStage * int(sizeof(E));
  static constexpr int kCBytes = Tile::kThreads / 32 * kCRows * int(sizeof(float));
  static constexpr std::size_t kBytes = kStagesBytes > kCBytes ? kStagesBytes : kCBytes;
  static_assert(kSteps >= 2 && kSteps % 2 == 0, "two sets of fragments take turns");
  static_assert(a_tile::kElements * sizeof(E) % 32 == 0 && kStage * sizeof(E) % 32 == 0,
                "fragments start at multiples of 32 bytes");
};

// Loads one k tile of an operand after the other, from MN index `mn` on: asynchronously, 16 bytes
// at a time, with zeros past the edges.
template <class KTile, int kThreads>
class tile_loader {
  using E = typename KTile::element;
  using map = common::thread_map<KTile::kRows, KTile::kCols, kThreads, KTile::kVector>;
  static_assert(map::kColIterations == 1, "threads must cover whole rows");

 public:
  __device__ __forceinline__ tile_loader(const common::matrix_view<E>& from, int mn)
      : tile_row_(map::row(threadIdx.x)),
        tile_col_(map::col(threadIdx.x)),
        rows_left_(from.rows - tile_row_ - (KTile::kKMajor ? mn : 0)),
        cols_left_(from.cols - tile_col_ - (KTile::kKMajor ? 0 : mn)),
        row_length_(from.row_length),
        from_(from.data + (from.rows - rows_left_) * from.row_length + from.cols - cols_left_) {}

  // Starts the copies of the next k tile.
  __device__ __forceinline__ void load(E* tile) {
    E* to = tile + tile_row_ * KTile::kRow + tile_col_;
#pragma unroll
    for (int i = 0; i < KTile::kRows; i += map::kDown) {
      kzoo::copy_async<16>(to + i * KTile::kRow, from_ + i * row_length_,
                           i < rows_left_ && cols_left_ > 0);
    }
    (KTile::kKMajor ? cols_left_ : rows_left_) -= KTile::kBK;
    from_ += KTile::kKMajor ? KTile::kBK : KTile::kBK * row_length_;
  }

 private:
  int tile_row_, tile_col_;    // of this thread's first element
  int rows_left_, cols_left_;  // from it to the end of the matrix
  std::ptrdiff_t row_length_;
  const E* from_;  // where it is in the next k tile
};

// The loads of both operands, for the tile of C that begins at (row0, col0).
template <class G, class Tile>
class stage_loader {
  using Smem = smem_layout<G, Tile>;
  using E = typename G::a_type;

 public:
  __device__ __forceinline__ stage_loader(const common::a_view<G>& a, const common::b_view<G>& b,
                                          int row0, int col0)
      : a_(a, row0), b_(b, col0) {}

  __device__ __forceinline__ void load(E* stage) {
    a_.load(stage);
    b_.load(stage + Smem::a_tile::kElements);
  }

 private:
  tile_loader<typename Smem::a_tile, Tile::kThreads> a_;
  tile_loader<typename Smem::b_tile, Tile::kThreads> b_;
};

// A warp's part of C.
template <class G, class Tile>
using accumulators = fragment_c<typename G::a_type>[Tile::kRows][Tile::kCols];

template <class G, class Tile>
__device__ __forceinline__ void fill_zero(accumulators<G, Tile>& acc) {
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  }
}

// What a warp multiplies in one k step: (WM, kFragmentK) of A and (kFragmentK, WN) of B.
template <class G, class Tile>
struct fragments {
  using Smem = smem_layout<G, Tile>;
  using E = typename Smem::E;
  using a_tile = typename Smem::a_tile;
  using b_tile = typename Smem::b_tile;
  fragment_a<E, a_tile::kKMajor> a[Tile::kRows];
  fragment_b<E, b_tile::kKMajor> b[Tile::kCols];

  __device__ __forceinline__ void load(const E* stage, int warp_row, int warp_col, int k) {
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
      kzoo::load_from_shared(a[i], stage + a_tile::offset(warp_row + i * kFragment, k),
                             a_tile::kRow);
    }
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j) {
      kzoo::load_from_shared(
          b[j], stage + a_tile::kElements + b_tile::offset(warp_col + j * kFragment, k),
          b_tile::kRow);
    }
  }

  __device__ __forceinline__ void multiply(accumulators<G, Tile>& acc) {
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j) round_inputs(b[j]);
#pragma unroll
    for (int i = 0; i < Tile::kRows; ++i) {
      round_inputs(a[i]);
#pragma unroll
      for (int j = 0; j < Tile::kCols; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
  }
};

// The epilogue: a warp's fragments go into C a row of fragments at a time, through shared memory of
// the warp's own, because WMMA does not say which elements of a fragment a thread holds.

// All threads call this when they have read the last stage. The warp's tile begins at (row0, col0)
// of C.
template <bool kPairs, class G, class Tile>
__device__ __forceinline__ void store(const G& g, const accumulators<G, Tile>& acc, float* c_rows,
                                      int row0, int col0) {
  using Smem = smem_layout<G, Tile>;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Tile::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kCols; ++j) {
      wmma::store_matrix_sync(c_rows + j * kFragment, acc[i][j], Smem::kCRow, wmma::mem_row_major);
    }
    __syncwarp();  // c_rows is complete
#pragma unroll 4
    for (int at = 2 * lane; at < kFragment * Tile::kWN; at += 2 * 32) {
      const float* from = c_rows + at / Tile::kWN * Smem::kCRow + at % Tile::kWN;
      common::store_pair<kPairs>(g, row0 + i * kFragment + at / Tile::kWN, col0 + at % Tile::kWN,
                                 from[0], from[1]);
    }
    __syncwarp();  // all lanes have read it
  }
}

template <class G, class Tile>
__device__ __forceinline__ void store(bool pairs, const G& g, const accumulators<G, Tile>& acc,
                                      typename G::a_type* stages, int row0, int col0) {
  using Smem = smem_layout<G, Tile>;
  float* c_rows = reinterpret_cast<float*>(stages) + threadIdx.x / 32 * Smem::kCRows;
  if (pairs) {
    store<true, G, Tile>(g, acc, c_rows, row0, col0);
  } else {
    store<false, G, Tile>(g, acc, c_rows, row0, col0);
  }
}

}  // namespace wmma_tiles

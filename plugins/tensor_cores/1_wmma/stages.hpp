#pragma once
// Tiles of A and B in shared memory: several stages, each a k tile (BK steps along K) of both.
//
//   shared memory   | stage 0 | stage 1 | ...     a stage, in nn:   A  BM rows of BK | padding
//                                                                   B  BK rows of BN | padding

#include <tensor_cores/common/thread_map.hpp>
#include <kzoo/async_copy.hpp>
#include <kzoo/plugin.hpp>
#include <tensor_cores/common/operand_tile.hpp>

#include "fragments.hpp"

namespace tensor {

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

// A k tile of an operand: `Lines` rows of A or columns of B, and BK steps along K, as they lie in
// the matrix (common/operand_tile.hpp). Rows are padded, which spreads those of a fragment over the
// banks: 8 rows of 16 bytes each, or 4 of 32, fall into different ones.
template <class E, int Lines, int BK, bool LinesAlongK>
struct padded_tile {
  using element = E;
  static constexpr bool kLinesAlongK = LinesAlongK;
  static constexpr int kBK = BK;
  static constexpr int kRows = kLinesAlongK ? Lines : BK, kCols = kLinesAlongK ? BK : Lines;
  static constexpr int kVector = 16 / int(sizeof(E));  // elements of a 16-byte copy
  static constexpr int kRow = kCols + (kLinesAlongK ? kVector : 8), kElements = kRows * kRow;
  static constexpr __host__ __device__ int offset(int line, int k) {
    return kLinesAlongK ? line * kRow + k : k * kRow + line;
  }
};

template <class G, class S>
struct layout {
  using E = typename G::a_type;
  using a_tile = padded_tile<E, S::kBM, S::kBK, !G::kATransposed>;
  using b_tile = padded_tile<E, S::kBN, S::kBK, G::kBTransposed>;
  static constexpr int kFragmentK = tensor_input<E>::kFragmentK;
  static constexpr int kSteps = S::kBK / kFragmentK;  // fragments along K in a stage
  static constexpr int kStage = a_tile::kElements + b_tile::kElements;
  // The epilogue uses the same memory: 16 rows of C for each warp, floats.
  static constexpr int kCRow = S::kWN + 8;
  static constexpr int kCStrip = kFragment * kCRow;
  static constexpr int kStagesBytes = S::kStages * kStage * int(sizeof(E));
  static constexpr int kCBytes = S::kThreads / 32 * kCStrip * int(sizeof(float));
  static constexpr std::size_t kBytes = kStagesBytes > kCBytes ? kStagesBytes : kCBytes;
  static_assert(kSteps >= 2 && kSteps % 2 == 0, "two sets of fragments take turns");
  static_assert(a_tile::kElements * sizeof(E) % 32 == 0 && kStage * sizeof(E) % 32 == 0,
                "fragments start at multiples of 32 bytes");
};

// Loads one k tile of an operand after the other, from line `line` on, with zeros past the edges:
// 16 bytes at a time, asynchronously.
template <class Tile, int kThreads>
class tile_loader {
  using E = typename Tile::element;
  using map = common::thread_map<Tile::kRows, Tile::kCols, kThreads, Tile::kVector>;
  static_assert(map::kColSteps == 1, "threads must cover whole rows");

 public:
  __device__ __forceinline__ tile_loader(const common::matrix<E>& from, int line)
      : tile_row_(map::row(threadIdx.x)),
        tile_col_(map::col(threadIdx.x)),
        rows_left_(from.rows - tile_row_ - (Tile::kLinesAlongK ? line : 0)),
        cols_left_(from.cols - tile_col_ - (Tile::kLinesAlongK ? 0 : line)),
        row_length_(from.row_length),
        from_(from.data + (from.rows - rows_left_) * from.row_length + from.cols - cols_left_) {}

  // Starts the copies of the next k tile.
  __device__ __forceinline__ void load(E* tile) {
    E* to = tile + tile_row_ * Tile::kRow + tile_col_;
#pragma unroll
    for (int i = 0; i < Tile::kRows; i += map::kDown) {
      kzoo::copy_async<16>(to + i * Tile::kRow, from_ + i * row_length_,
                           i < rows_left_ && cols_left_ > 0);
    }
    (Tile::kLinesAlongK ? cols_left_ : rows_left_) -= Tile::kBK;
    from_ += Tile::kLinesAlongK ? Tile::kBK : Tile::kBK * row_length_;
  }

 private:
  int tile_row_, tile_col_;    // of this thread's first element
  int rows_left_, cols_left_;  // from it to the end of the matrix
  std::ptrdiff_t row_length_;
  const E* from_;  // where it is in the next k tile
};

}  // namespace tensor

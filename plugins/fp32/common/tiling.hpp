#pragma once
// Two levels of tiles, one for each level of memory: a block computes BM x BN of C in steps of BK
// along K, from tiles in shared memory; each of its threads computes TM x TN of that, in registers.
//
//                   BN
//                +-------+
//                |   B   | BK           kThreadsX = BN / TN threads side by side,
//         BK     +-------+              kThreadsY = BM / TM rows of them
//       +----+   +-------+
//    BM | A  |   |   C   | BM
//       +----+   +-------+
//                   BN

#include <kzoo/plugin.hpp>

namespace common {

// BlocksPerSm is for __launch_bounds__: two blocks on an SM, so that one computes while the other
// waits at a barrier, unless a thread has more than 64 accumulators; 0 leaves it to the compiler.
template <int BM, int BN, int BK, int TM, int TN, int BlocksPerSm = (TM * TN <= 64) ? 2 : 1>
struct tiling : kzoo::tile_grid<BM, BN, BN / TN, BM / TM> {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kThreadsX = BN / TN, kThreadsY = BM / TM, kThreads = kThreadsX * kThreadsY;
  static constexpr int kBlocksPerSm = BlocksPerSm;
  static_assert(BM % TM == 0 && BN % TN == 0, "threads must cover the tile of C exactly");
  static_assert(BM * BK % kThreads == 0 && BK * BN % kThreads == 0,
                "each thread must load the same number of elements");

  // Whether the aligned kernel may run, from float4 on: no tile hangs over an edge, and
  // four neighbours from a multiple of four on are 16 aligned bytes in A, B and C.
  static bool aligned(const kzoo::gemm<float>& g) {
    return g.m % BM == 0 && g.n % BN == 0 && g.k % BK == 0 && g.rows_aligned(16);
  }
};

}  // namespace common

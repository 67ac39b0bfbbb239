#pragma once
// A level between the block's tile and the thread's: each warp has WM x WN of the block's outputs,
// and its 32 lanes divide those among themselves. What a warp reads of shared memory in one step
// along K is then WM + WN values, however large the block's tile is.

#include <common/tiling.hpp>

namespace common {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN>
struct warp_tiling : tiling<BM, BN, BK, TM, TN> {
  static constexpr int kWM = WM, kWN = WN, kWarpsN = BN / WN;
  static constexpr int kLanesM = WM / TM, kLanesN = WN / TN;
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the block's tile exactly");
  static_assert(WM % TM == 0 && WN % TN == 0 && kLanesM * kLanesN == 32,
                "32 lanes must cover the warp's part");
  static_assert(kLanesM == 4 || kLanesM == 8, "the order of lanes knows 4 x 8 and 8 x 4 of them");
};

// The running thread's place, spread out over its warp's part (see spread.hpp).
template <class S>
struct warp_place : place<S> {
  int lane = this->thread % 32, warp = this->thread / 32;
  // Lanes 0 and 1 are one above the other, 2 and 3 to the right of them, and so on: of the eight
  // lanes whose 16-byte reads the hardware serves together, two or four read the same quad, of A as
  // well as of B.
  int lane_row = S::kLanesM == 4 ? (lane & 1) | (lane >> 3 & 2) : (lane & 1) | (lane >> 1 & 6);
  int lane_col = S::kLanesM == 4 ? lane >> 1 & 7 : (lane >> 1 & 1) | (lane >> 3 & 2);
  int first_row = warp / S::kWarpsN * S::kWM + lane_row * 4;
  int first_col = warp % S::kWarpsN * S::kWN + lane_col * 4;
};

template <class S>
__device__ int spread_row(const warp_place<S>& p, int i) {
  return p.first_row + i / 4 * 4 * S::kLanesM + i % 4;
}
template <class S>
__device__ int spread_col(const warp_place<S>& p, int j) {
  return p.first_col + j / 4 * 4 * S::kLanesN + j % 4;
}

}  // namespace common

#pragma once
// A level of tiles between the block's and the thread's: each warp computes WM x WN of the block's
// tile of C, and its 32 lanes share that. In one step along K a warp then reads WM + WN values from
// shared memory, however large the block's tile is.

#include <fp32/common/thread_coords.hpp>

namespace common {

template <int BM, int BN, int BK, int WM, int WN, int TM, int TN>
struct warp_tiling : tiling<BM, BN, BK, TM, TN> {
  static constexpr int kWM = WM, kWN = WN, kWarpsN = BN / WN;
  static constexpr int kLanesM = WM / TM, kLanesN = WN / TN;
  static_assert(BM % WM == 0 && BN % WN == 0, "warps must cover the block's tile exactly");
  static_assert(WM % TM == 0 && WN % TN == 0 && kLanesM * kLanesN == 32,
                "32 lanes must cover the warp's tile");
  static_assert(kLanesM == 4 || kLanesM == 8, "lanes are arranged as 4 x 8 or 8 x 4");
};

// As thread_coords, but a thread's float4s are interleaved over its warp's tile and not over the
// block's.
template <class S>
struct warp_thread_coords : thread_coords<S> {
  int lane = this->thread % 32, warp = this->thread / 32;
  // The lanes zigzag: 0 and 1 are one above the other, 2 and 3 to the right of them, and so on. Of
  // the eight lanes whose 16-byte reads are served together, two or four then read the same float4,
  // of A as well as of B.
  int lane_row = S::kLanesM == 4 ? (lane & 1) | (lane >> 3 & 2) : (lane & 1) | (lane >> 1 & 6);
  int lane_col = S::kLanesM == 4 ? lane >> 1 & 7 : (lane >> 1 & 1) | (lane >> 3 & 2);
  int first_row = warp / S::kWarpsN * S::kWM + lane_row * 4;
  int first_col = warp % S::kWarpsN * S::kWN + lane_col * 4;

  __device__ int row(int i) const { return first_row + i / 4 * 4 * S::kLanesM + i % 4; }
  __device__ int col(int j) const { return first_col + j / 4 * 4 * S::kLanesN + j % 4; }
};

}  // namespace common

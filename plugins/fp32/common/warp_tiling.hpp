#pragma once
// A level of tiles between the block's and the thread's: each warp computes WM x WN of the block's
// tile of C, and its 32 lanes share that. In one k step a warp then reads WM + WN values from
// shared memory, however large the block's tile is.

#include <fp32/common/fragments.hpp>

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

// As thread_coords, but a thread's float4s lie between those of its warp, and not of the block.
// Lanes zigzag over their warp's tile. Where that is 4 lanes high and 8 wide (32 x 64 with 8 x 8,
// 64 x 64 with 16 x 8), and where it is 8 high and 4 wide (64 x 32 with 8 x 8):
//
//    0  2  4  6  8 10 12 14                           0  2 16 18
//    1  3  5  7  9 11 13 15                           1  3 17 19
//   16 18 20 22 24 26 28 30                           4  6 20 22
//   17 19 21 23 25 27 29 31                           5  7 21 23
//                                                     8 10 24 26
//   lane_row = bits 4 and 0 of the lane               9 11 25 27
//   lane_col = bits 1 to 3                           12 14 28 30
//                                                    13 15 29 31
//
//                                                    lane_row = bits 3, 2 and 0
//                                                    lane_col = bits 4 and 1
//
// Lanes that differ in bit 0 alone want the same float4 of B, those that differ in bit 1 the same
// of A. Where all lanes of a load agree in such pairs, the hardware serves 16 lanes at a time
// instead of 8: each read of fragments takes 2 wavefronts instead of 4 (docs/xray.md).
template <class Tile>
struct warp_thread_coords : thread_coords<Tile> {
  int lane = this->thread % 32, warp = this->thread / 32;
  int lane_row = Tile::kLanesM == 4 ? (lane & 1) | (lane >> 3 & 2) : (lane & 1) | (lane >> 1 & 6);
  int lane_col = Tile::kLanesM == 4 ? lane >> 1 & 7 : (lane >> 1 & 1) | (lane >> 3 & 2);
  int first_row = warp / Tile::kWarpsN * Tile::kWM + lane_row * 4;
  int first_col = warp % Tile::kWarpsN * Tile::kWN + lane_col * 4;

  __device__ int row(int i) const { return first_row + i / 4 * (4 * Tile::kLanesM) + i % 4; }
  __device__ int col(int j) const { return first_col + j / 4 * (4 * Tile::kLanesN) + j % 4; }
};

}  // namespace common

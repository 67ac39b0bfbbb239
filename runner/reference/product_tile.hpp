#pragma once
// The GEMM microkernel: a few rows of A times a few columns of B, both packed by k step.
//
//                     B: depth steps of kTileCols
//                     | b00 b01 .. b0f |
//                     | b10 b11 .. b1f |  ...
//   A, by step:
//   | a00 a10 a20 a30 |     4 x 16 sums and 4 x 16 magnitudes, all in registers with AVX-512
//   | a01 a11 a21 a31 |  ...

#include <cstdint>
#include <vector>

namespace kzoo::reference {

inline constexpr int kTileRows = 4, kTileCols = 16;

struct alignas(32) a_step {
  double values[kTileRows];
};
struct alignas(64) b_step {
  double values[kTileCols];
};
struct alignas(64) tile_sums {
  double values[kTileRows][kTileCols];
  double magnitudes[kTileRows][kTileCols];
};

using tile_function = void (*)(const a_step*, const b_step*, std::int64_t depth, tile_sums&);

// The functions that this CPU can run, fastest first; never empty.
std::vector<tile_function> usable_tiles();

}  // namespace kzoo::reference

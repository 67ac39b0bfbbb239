#pragma once
// How the kernel for few rows divides a product.

#include <kzoo/mbarrier.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <algorithm>
#include <cstdint>

#include "weights.hpp"

namespace w4a16 {

inline constexpr int kMaxWarps = 16;
inline constexpr int kMaxParts = 2;  // of K: blocks of a cluster
inline constexpr int kDepth = 2;     // units that are on their way to a warp
inline constexpr int kUnitBlocks = 2, kUnitSteps = kUnitBlocks * kBlock;  // along K
inline constexpr int kUnitColumns = 32;

// Weights that a warp copies at a time: of a column 128 bytes that follow each other.
using unit_tile = kzoo::swizzled_tile<kzoo::int4x2, kUnitColumns, kUnitSteps / 2>;

// What belongs to them, beside the weights.
struct unit_scales {
  float of[kUnitBlocks][kUnitColumns];
};

// Rows: of A, 1, 2, 4, 8 or 16.
template <int Rows>
struct few_rows_tile {
  static constexpr int kRows = Rows;
  static constexpr int kOperands = (Rows + 7) / 8;             // of up to 8 rows of A
  static constexpr int kStride = Rows | 1;                     // rows in shared memory
  static constexpr int kUnitBytes = kUnitSteps * 2 * kStride;  // of A
};

// How a product is divided: blockIdx.x counts clusters, which go through strips of columns,
// blockIdx.y parts of K.
struct strips_and_parts {
  int parts, units;    // along K in a part
  int groups, slices;  // of warps, with other columns and other steps
  int strips, clusters;
  int slots;           // for sums of slices; the others add to these
  int rounds, pieces;  // of A, of so many rounds: what of a part is in shared memory at a time

  __host__ __device__ int columns() const { return groups * kUnitColumns; }
  __host__ __device__ int warps() const { return groups * slices; }
  __host__ __device__ int piece_units() const { return rounds * slices; }
  // The floats of a row of sums, and some more to keep lanes in different banks.
  __host__ __device__ int stride() const { return columns() + 4; }

  __host__ __device__ int ring_bytes() const {
    constexpr int kUnit = unit_tile::kBytes + int{sizeof(unit_scales) + sizeof(kzoo::mbarrier)};
    return (warps() * kDepth * kUnit + 15) / 16 * 16;
  }
  template <class Tile>
  int shared_bytes() const {
    return ring_bytes() + piece_units() * Tile::kUnitBytes +
           slots * Tile::kRows * stride() * static_cast<int>(sizeof(float));
  }

  template <class Tile>
  static strips_and_parts of(std::int64_t n, std::int64_t k, const kzoo_device& d) {
    const auto sms = static_cast<int>(d.kind == KZOO_CPU ? d.threads : d.multiprocessors);
    const auto up = [](int size, int by) { return (size + by - 1) / by; };
    const int all_units = up(static_cast<int>(k), kUnitSteps);
    strips_and_parts best{};
    std::int64_t least = 0;
    for (int parts = 1; parts <= kMaxParts; parts *= 2) {
      for (int groups = 1; groups <= kMaxWarps; ++groups) {
        strips_and_parts of{};
        of.parts = parts, of.units = up(all_units, parts);
        of.groups = groups, of.slices = kMaxWarps / groups;
        if (of.warps() < 12) continue;  // too few for their instructions to overlap
        of.strips = up(static_cast<int>(n), of.columns());
        of.clusters = std::clamp(sms / parts, 1, of.strips);
        of.slots = Tile::kRows > 8 ? up(of.slices, 2) : of.slices;
        const int rounds = up(of.units, of.slices);
        const int fit =
            (kMaxSharedKb * 1024 - of.shared_bytes<Tile>()) / (of.slices * Tile::kUnitBytes);
        of.pieces = fit < 1 ? 0 : up(rounds, fit);
        if (of.pieces == 0) continue;
        of.rounds = up(rounds, of.pieces);
        // Bytes that a block reads; what a strip and a cluster cost more is like so many bytes.
        const std::int64_t times = up(of.strips, of.clusters);
        const std::int64_t bytes =
            times * (rounds * of.warps() * std::int64_t{unit_tile::kBytes + sizeof(unit_scales)} +
                     16384) +
            (of.pieces > 1 ? times : 1) * of.units * Tile::kUnitBytes + (parts > 1 ? 49152 : 0);
        if (least == 0 || bytes < least) {
          least = bytes;
          best = of;
        }
      }
    }
    return best;
  }
};

}  // namespace w4a16

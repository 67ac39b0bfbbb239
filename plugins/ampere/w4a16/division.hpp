#pragma once
// How the kernel for few rows divides a product.

#include <algorithm>
#include <cstdint>

#include "weights.hpp"

namespace w4a16 {

inline constexpr int kMaxWarps = 16;
inline constexpr int kMinWarps = 11;  // with fewer, instructions overlap too little
inline constexpr int kMaxParts = 2;   // of K: blocks of a cluster
inline constexpr int kMaxDepth = 3;   // blocks of K that are on their way to a warp
inline constexpr int kPlaces = 4;     // of pieces of A in shared memory

// A block of K, for a warp.
using few_rows_stage = weight_stage<4>;

// blockIdx.x counts strips of columns, blockIdx.y parts of K.
struct strips_and_parts {
  int parts, blocks;       // of K; blocks of K in a part
  int strips;              // of columns
  int groups, slices;      // of a block's warps: with other columns, and other blocks of K
  int depth;               // stages of a warp
  int pieces, piece_size;  // of A; blocks of K in one
  int row_chunks;          // of 16 bytes, from one row of A to the next in shared memory

  __host__ __device__ int columns() const { return groups * few_rows_stage::kColumns; }
  __host__ __device__ int warps() const { return groups * slices; }
  __host__ __device__ int stage_bytes() const {
    return warps() * depth * static_cast<int>(sizeof(few_rows_stage));
  }
  // Behind the stages and A: sums of the other part.
  __host__ __device__ int others_at(int rows) const {
    const int places = pieces < kPlaces ? pieces : kPlaces;
    return stage_bytes() + places * rows * row_chunks * static_cast<int>(sizeof(uint4));
  }
  // What a block adds up: a row's floats, with some more so that rows are in different banks.
  __host__ __device__ int row_floats() const { return columns() + 4; }
  __host__ __device__ int rows_of_part(int rows) const { return (rows + parts - 1) / parts; }
  int shared_bytes(int rows) const {
    const int sums = slices * rows_of_part(rows) * row_floats() * static_cast<int>(sizeof(float));
    return others_at(rows) + (parts - 1) * sums;
  }

  static strips_and_parts of(std::int64_t m, std::int64_t n, std::int64_t k, const kzoo_device& d) {
    const auto rows = static_cast<int>(m), columns = static_cast<int>(n);
    const auto sms = static_cast<int>(d.kind == KZOO_CPU ? d.threads : d.multiprocessors);
    strips_and_parts best{};
    std::int64_t least = 0;
    for (int parts = 1; parts <= kMaxParts; parts *= 2) {
      for (int groups = 1; groups <= kMaxWarps; ++groups) {
        for (int slices = up(kMinWarps, groups); slices <= kMaxWarps / groups; ++slices) {
          for (int depth = 2; depth <= kMaxDepth; ++depth) {
            strips_and_parts of{};
            of.parts = parts, of.blocks = up(up(static_cast<int>(k), kBlock), parts);
            of.groups = groups, of.slices = slices, of.depth = depth;
            of.strips = up(columns, of.columns());
            if (!of.divide_a(rows)) continue;
            const std::int64_t cost = of.cost(rows, std::max(sms / parts, 1));
            if (least == 0 || cost < least) least = cost, best = of;
          }
        }
      }
    }
    return best;
  }

 private:
  static int up(int size, int by) { return (size + by - 1) / by; }

  // Into pieces of whole rounds of all slices: one for each place, or where these do not fit, such
  // as do. False: none fits.
  bool divide_a(int rows) {
    const int rounds = up(blocks, slices);
    const auto fits = [&](int of_piece) {
      piece_size = of_piece * slices;
      pieces = up(rounds, of_piece);
      row_chunks = piece_size * kChunks + 1;
      return shared_bytes(rows) <= kMaxSharedKb * 1024;
    };
    for (int of_piece = up(rounds, kPlaces); of_piece >= 1; --of_piece) {
      if (fits(of_piece)) return true;
    }
    return false;
  }
  // The bytes that the busiest SM reads. What else takes time counts as the bytes that could come
  // meanwhile.
  std::int64_t cost(int rows, int clusters) const {
    const int rounds = up(blocks, slices);
    const std::int64_t weights = std::int64_t{rounds} * warps() * int{sizeof(few_rows_stage)};
    const std::int64_t a = std::int64_t{rows} * blocks * kBlock * 2;
    return up(strips, clusters) *
           (weights + a + 16384 + (parts - 1) * 32768 + std::max(pieces - kPlaces, 0) * 4096 +
            (kMaxDepth - depth) * 4096 + (kMaxWarps - warps()) * 2048);
  }
};

}  // namespace w4a16

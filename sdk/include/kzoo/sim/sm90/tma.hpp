// TMA (sm_90) in the simulator. Behind tma.hpp. A load arrives as late as possible: when no thread
// can continue without it. Until then its destination contains NaN. A store reads its tile when the
// thread waits for it.
#pragma once

#include <cstdint>
#include <source_location>

namespace kzoo::sim::sm90 {

using here = std::source_location;

// The content of a CUtensorMap for a row-major matrix, or `count` of them.
struct matrix_map {
  std::uint64_t magic;
  unsigned char* base;
  std::uint64_t rows, cols, count;
  std::int64_t row_bytes, matrix_bytes;  // from one to the next
  unsigned element_bytes, box_rows, box_cols;
  unsigned swizzle;  // bytes: 32, 64 or 128; 0: none
};

// Checks and completes a map, as cuTensorMapEncodeTiled does. Throws kzoo::error for a map that it
// would refuse.
matrix_map encode(matrix_map map);

// Where a box of a map begins.
struct box_place {
  int col, row, number;
};

// A value for `blocks` of tma_load(): only the caller's block.
inline constexpr unsigned kOwnBlock = 1u << 16;

// Loads into the blocks of the cluster whose bit in `blocks`, 16 bits, is set.
void tma_load(const void* map, void* to, box_place at, std::uint64_t& barrier, unsigned blocks,
              here where);
void bulk_load(const void* from, void* to, unsigned bytes, std::uint64_t& barrier, here where);
void tma_store(const void* map, const void* from, box_place at, here where);
void tma_store_commit();
void tma_store_wait_read(unsigned pending, here where);

}  // namespace kzoo::sim::sm90

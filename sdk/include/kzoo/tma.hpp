#pragma once
// The Tensor Memory Accelerator (TMA, sm_90) copies tiles between matrices and shared memory,
// swizzled as in swizzled_tile.hpp. One thread starts a copy, and no register holds the data.
// Elements outside the matrix are read as zeros and not written. The host describes a matrix by a
// tensor_map, which the kernel receives by value:
//
//   const auto map = kzoo::make_tensor_map<a_tile>(g.a, g.m, g.k, g.lda);      // in run()
//   __global__ void kernel(const __grid_constant__ kzoo::tensor_map<a_tile> map)
//
// A map holds the matrix's address: make it for each call. Source: PTX ISA, "cp.async.bulk.tensor";
// CUDA driver API, "Tensor Map Object Management".

#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>
#include <kzoo/error.hpp>
#include <kzoo/mbarrier.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <cstddef>
#include <cstdint>

#if defined(KZOO_REAL_CUDA)
#include <kzoo/detail/tensor_map_cuda.hpp>
#else
#include <cstring>

#include <kzoo/sim/sm90/tma.hpp>
#endif

namespace kzoo {

// A matrix, read or written in tiles of type Tile, so that kernel and host agree on the tile.
template <class Tile>
struct alignas(64) tensor_map {
  std::uint64_t opaque[16];  // a CUtensorMap
};

// Matrices of one shape at a constant distance. Elements outside a matrix are read as zeros, even
// where the next matrix is.
template <class Tile>
struct alignas(64) batch_tensor_map {
  std::uint64_t opaque[16];  // a CUtensorMap
};

#if !defined(KZOO_REAL_CUDA)
namespace detail {
inline const bool kTmaIsFollowed = sim::sm90::follow_async_proxy();

// Starts loading a tile's panels.
template <class Tile>
void simulate_load(const void* map, typename Tile::element* tile, sim::sm90::box_place at,
                   mbarrier& arrived, unsigned blocks, std::source_location where) {
  for (int panel = 0; panel < Tile::kPanels; ++panel, at.col += Tile::kPanelCols) {
    sim::sm90::tma_load(map, tile + panel * Tile::kPanelElements, at, arrived.simulated(), blocks,
                        where);
  }
}

template <class Tile>
void simulate_map(void* map, const typename Tile::element* matrix, int rows, int cols,
                  std::ptrdiff_t row_length, int count, std::ptrdiff_t stride) {
  constexpr auto kSize = std::ptrdiff_t{sizeof(typename Tile::element)};
  const sim::sm90::matrix_map made = sim::sm90::encode(
      {.magic = 0,
       .base = reinterpret_cast<unsigned char*>(const_cast<typename Tile::element*>(matrix)),
       .rows = static_cast<std::uint64_t>(rows),
       .cols = static_cast<std::uint64_t>(cols),
       .count = static_cast<std::uint64_t>(count),
       .row_bytes = row_length * kSize,
       .matrix_bytes = stride * kSize,
       .element_bytes = kSize,
       .box_rows = Tile::kRows,
       .box_cols = Tile::kPanelCols,
       .swizzle = Tile::kRowBytes});
  static_assert(sizeof made <= sizeof(tensor_map<Tile>));
  std::memcpy(map, &made, sizeof made);
}
}  // namespace detail
#endif

// Whether TMA can address the matrix: its rows must start at multiples of 16 bytes.
template <class T>
bool tma_addressable(const T* matrix, std::ptrdiff_t row_length) {
  return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0 &&
         row_length * std::ptrdiff_t{sizeof(T)} % 16 == 0;
}

// Whether TMA stores stay within the matrix: it writes 16 bytes at a time, even if a row ends
// within them.
template <class T>
bool tma_storable(const T* matrix, int cols, std::ptrdiff_t row_length) {
  return tma_addressable(matrix, row_length) && std::ptrdiff_t{cols} * sizeof(T) % 16 == 0;
}

// `row_length`: elements from one row to the next. Throws kzoo::error: KZOO_UNAVAILABLE if the
// driver has no tensor maps, KZOO_ERROR if it refuses this map.
template <class Tile>
tensor_map<Tile> make_tensor_map([[maybe_unused]] const typename Tile::element* matrix,
                                 [[maybe_unused]] int rows, [[maybe_unused]] int cols,
                                 [[maybe_unused]] std::ptrdiff_t row_length) {
  static_assert(Tile::kRows <= 256, "TMA copies at most 256 rows at a time");
#if defined(KZOO_REAL_CUDA)
  tensor_map<Tile> map;
  detail::encode_tensor_map<typename Tile::element>(&map, matrix, rows, cols, row_length,
                                                    Tile::kRows, Tile::kPanelCols);
  return map;
#else
  tensor_map<Tile> map;
  detail::simulate_map<Tile>(&map, matrix, rows, cols, row_length, 1, 0);
  return map;
#endif
}

// The map of `count` matrices, `stride` elements apart; the stride must be a multiple of 16 bytes.
template <class Tile>
batch_tensor_map<Tile> make_batch_tensor_map(
    [[maybe_unused]] const typename Tile::element* matrices, [[maybe_unused]] int rows,
    [[maybe_unused]] int cols, [[maybe_unused]] std::ptrdiff_t row_length,
    [[maybe_unused]] int count, [[maybe_unused]] std::ptrdiff_t stride) {
  static_assert(Tile::kRows <= 256, "TMA copies at most 256 rows at a time");
#if defined(KZOO_REAL_CUDA)
  batch_tensor_map<Tile> map;
  detail::encode_tensor_map<typename Tile::element>(&map, matrices, rows, cols, row_length,
                                                    Tile::kRows, Tile::kPanelCols, count, stride);
  return map;
#else
  batch_tensor_map<Tile> map;
  detail::simulate_map<Tile>(&map, matrices, rows, cols, row_length, count, stride);
  return map;
#endif
}

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

// Starts copying the tile that begins at (row, col). All Tile::kBytes, even at an edge, count
// towards the current phase of `arrived`.
template <class Tile>
__device__ __forceinline__ void tma_load(const tensor_map<Tile>& map, typename Tile::element* tile,
                                         int row, int col, mbarrier& arrived KZOO_AND_HERE) {
#if defined(__CUDACC__)
#pragma unroll
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(tile + panel * Tile::kPanelElements)),
        "l"(&map), "r"(shared_address(&arrived)), "r"(col + panel * Tile::kPanelCols), "r"(row)
        : "memory");
  }
#else
  detail::simulate_load<Tile>(&map, tile, {col, row, 0}, arrived, sim::sm90::kOwnBlock, where);
#endif
}

// Like tma_load, into the same place of shared memory in each block of the cluster whose bit in
// `blocks` is set. The bytes count at each block's own barrier.
template <class Tile>
__device__ __forceinline__ void tma_load_multicast(const tensor_map<Tile>& map,
                                                   typename Tile::element* tile, int row, int col,
                                                   mbarrier& arrived,
                                                   unsigned blocks KZOO_AND_HERE) {
#if defined(__CUDACC__)
#pragma unroll
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(
            shared_address(tile + panel * Tile::kPanelElements)),
        "l"(&map), "r"(shared_address(&arrived)), "r"(col + panel * Tile::kPanelCols), "r"(row),
        "h"(static_cast<unsigned short>(blocks))
        : "memory");
  }
#else
  detail::simulate_load<Tile>(&map, tile, {col, row, 0}, arrived, blocks, where);
#endif
}

// Like tma_load() of one matrix, from matrix `number` of a batch.
template <class Tile>
__device__ __forceinline__ void tma_load(const batch_tensor_map<Tile>& map,
                                         typename Tile::element* tile, int number, int row, int col,
                                         mbarrier& arrived KZOO_AND_HERE) {
#if defined(__CUDACC__)
#pragma unroll
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(
            shared_address(tile + panel * Tile::kPanelElements)),
        "l"(&map), "r"(shared_address(&arrived)), "r"(col + panel * Tile::kPanelCols), "r"(row),
        "r"(number)
        : "memory");
  }
#else
  detail::simulate_load<Tile>(&map, tile, {col, row, number}, arrived, sim::sm90::kOwnBlock, where);
#endif
}
// Like the multicast tma_load(), from matrix `number` of a batch.
template <class Tile>
__device__ __forceinline__ void tma_load_multicast(const batch_tensor_map<Tile>& map,
                                                   typename Tile::element* tile, int number,
                                                   int row, int col, mbarrier& arrived,
                                                   unsigned blocks KZOO_AND_HERE) {
#if defined(__CUDACC__)
#pragma unroll
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(
            shared_address(tile + panel * Tile::kPanelElements)),
        "l"(&map), "r"(shared_address(&arrived)), "r"(col + panel * Tile::kPanelCols), "r"(row),
        "r"(number), "h"(static_cast<unsigned short>(blocks))
        : "memory");
  }
#else
  detail::simulate_load<Tile>(&map, tile, {col, row, number}, arrived, blocks, where);
#endif
}

// Starts copying `bytes` of contiguous global memory, without a tensor map. Both addresses and
// `bytes` must be multiples of 16. The bytes count towards the current phase of `arrived`.
__device__ __forceinline__ void bulk_load(const void* from, void* to, unsigned bytes,
                                          mbarrier& arrived KZOO_AND_HERE) {
#if defined(__CUDACC__)
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&arrived))
      : "memory");
#else
  sim::sm90::bulk_load(from, to, bytes, arrived.simulated(), where);
#endif
}

// Starts copying a tile into the matrix, which must be tma_storable; skips elements outside.
// Before, the tile's writers must have called fence_async_proxy() and met this thread at a barrier.
template <class Tile>
__device__ __forceinline__ void tma_store(const tensor_map<Tile>& map,
                                          const typename Tile::element* tile, int row,
                                          int col KZOO_AND_HERE) {
#if defined(__CUDACC__)
#pragma unroll
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
        "r"(shared_address(tile + panel * Tile::kPanelElements)),
        "r"(col + panel * Tile::kPanelCols), "r"(row)
        : "memory");
  }
#else
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    sim::sm90::tma_store(&map, tile + panel * Tile::kPanelElements,
                         {col + panel * Tile::kPanelCols, row, 0}, where);
  }
#endif
}

// Groups this thread's stores since its last group.
__device__ __forceinline__ void tma_store_commit() {
#if defined(__CUDACC__)
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  sim::sm90::tma_store_commit();
#endif
}

// Waits until all of this thread's groups, except for the youngest kPending, have read their tiles,
// which may then be overwritten. With 0, a block may end.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read(KZOO_HERE) {
#if defined(__CUDACC__)
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#else
  sim::sm90::tma_store_wait_read(kPending, where);
#endif
}

// Prefetches a map, a parameter of the kernel, before its first use.
template <class Tile>
__device__ __forceinline__ void prefetch(const tensor_map<Tile>& map) {
#if defined(__CUDACC__)
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#else
  static_cast<void>(map);
#endif
}
// Prefetches a batch's map, a parameter of the kernel.
template <class Tile>
__device__ __forceinline__ void prefetch(const batch_tensor_map<Tile>& map) {
#if defined(__CUDACC__)
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#else
  static_cast<void>(map);
#endif
}

#endif

}  // namespace kzoo

#pragma once
// The Tensor Memory Accelerator (TMA, sm_90) moves whole tiles between matrices and shared memory,
// swizzled as swizzled_tile.hpp has it; one thread starts it and no register holds the data. What
// is outside of the matrix is read as zeros, and not written. The host describes a matrix with a
// tensor_map, which is passed to the kernel by value:
//
//   const auto map = kzoo::make_tensor_map<a_tile>(g.a, g.m, g.k, g.lda);      // in run()
//   __global__ void kernel(const __grid_constant__ kzoo::tensor_map<a_tile> map)
//
// A map holds the matrix's address: make it for each call. Not simulated: on the cpu, all of these
// report an error. Source: PTX ISA, "cp.async.bulk.tensor"; CUDA driver API, "Tensor Map Object
// Management".

#include <kzoo/cuda.hpp>
#include <kzoo/detail/not_simulated.hpp>
#include <kzoo/error.hpp>
#include <kzoo/mbarrier.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <cstddef>
#include <cstdint>

#if defined(KZOO_REAL_CUDA)
#include <kzoo/detail/tensor_map_cuda.hpp>
#endif

namespace kzoo {

// A matrix, and the tiles that it is read or written in. The type of the tile belongs to the map,
// so that kernel and host cannot disagree about it.
template <class Tile>
struct alignas(64) tensor_map {
  std::uint64_t opaque[16];
};

// Matrices of one shape, the same number of elements apart. What is outside of one of them is read
// as zeros, also where the next one is.
template <class Tile>
struct alignas(64) batch_tensor_map {
  std::uint64_t opaque[16];
};

// Can TMA address the matrix? It needs rows that start at multiples of 16 bytes.
template <class T>
bool tma_addressable(const T* matrix, std::ptrdiff_t row_length) {
  return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0 &&
         row_length * std::ptrdiff_t{sizeof(T)} % 16 == 0;
}

// Can TMA write it, and nothing else? It writes 16 bytes at a time, also where a row ends within
// them.
template <class T>
bool tma_storable(const T* matrix, int cols, std::ptrdiff_t row_length) {
  return tma_addressable(matrix, row_length) && std::ptrdiff_t{cols} * sizeof(T) % 16 == 0;
}

// `row_length` counts elements from one row to the next. Throws kzoo::error: KZOO_UNAVAILABLE where
// the driver has no tensor maps, KZOO_ERROR where it refuses this one.
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
  throw error(KZOO_UNAVAILABLE, "the simulator does not have TMA");
#endif
}

// `count` of them; `stride` elements, a multiple of 16 bytes, lead from one to the next.
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
  throw error(KZOO_UNAVAILABLE, "the simulator does not have TMA");
#endif
}

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

// Starts to copy the tile that begins at (row, col) of the matrix. The bytes, all Tile::kBytes of
// them also at an edge, count towards the running phase of `arrived`.
template <class Tile>
__device__ __forceinline__ void tma_load(const tensor_map<Tile>& map, typename Tile::element* tile,
                                         int row, int col, mbarrier& arrived) {
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
  detail::not_simulated("TMA", map, tile, row, col, arrived);
#endif
}

// The same into the shared memory of each block of the cluster whose bit in `blocks` is set, at the
// same place, with the bytes counted at each block's own barrier.
template <class Tile>
__device__ __forceinline__ void tma_load_multicast(const tensor_map<Tile>& map,
                                                   typename Tile::element* tile, int row, int col,
                                                   mbarrier& arrived, unsigned blocks) {
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
  detail::not_simulated("TMA", map, tile, row, col, arrived, blocks);
#endif
}

// Both for the matrix `number` of many.
template <class Tile>
__device__ __forceinline__ void tma_load(const batch_tensor_map<Tile>& map,
                                         typename Tile::element* tile, int number, int row, int col,
                                         mbarrier& arrived) {
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
  detail::not_simulated("TMA", map, tile, number, row, col, arrived);
#endif
}
template <class Tile>
__device__ __forceinline__ void tma_load_multicast(const batch_tensor_map<Tile>& map,
                                                   typename Tile::element* tile, int number,
                                                   int row, int col, mbarrier& arrived,
                                                   unsigned blocks) {
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
  detail::not_simulated("TMA", map, tile, number, row, col, arrived, blocks);
#endif
}

// Starts to copy `bytes` that lie one after the other in global memory, without a tensor map. Both
// addresses and `bytes` are multiples of 16. The bytes count towards the running phase of
// `arrived`.
__device__ __forceinline__ void bulk_load(const void* from, void* to, unsigned bytes,
                                          mbarrier& arrived) {
#if defined(__CUDACC__)
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&arrived))
      : "memory");
#else
  detail::not_simulated("cp.async.bulk", from, to, bytes, arrived);
#endif
}

// Starts to copy a tile into the matrix, which is tma_storable; what is outside is left out. Its
// writers have called fence_async_proxy() and met this thread at a barrier before.
template <class Tile>
__device__ __forceinline__ void tma_store(const tensor_map<Tile>& map,
                                          const typename Tile::element* tile, int row, int col) {
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
  detail::not_simulated("TMA", map, tile, row, col);
#endif
}

// Groups this thread's stores since its last group.
__device__ __forceinline__ void tma_store_commit() {
#if defined(__CUDACC__)
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  detail::not_simulated("TMA");
#endif
}

// Waits until all of this thread's groups have read their tiles, except for the youngest kPending:
// the tiles may be overwritten. With 0, a block may end.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
#if defined(__CUDACC__)
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#else
  detail::not_simulated("TMA");
#endif
}

// Brings a map, a parameter of the kernel, closer to TMA before its first use.
template <class Tile>
__device__ __forceinline__ void prefetch(const tensor_map<Tile>& map) {
#if defined(__CUDACC__)
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#else
  detail::not_simulated("TMA", map);
#endif
}
template <class Tile>
__device__ __forceinline__ void prefetch(const batch_tensor_map<Tile>& map) {
#if defined(__CUDACC__)
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#else
  detail::not_simulated("TMA", map);
#endif
}

#endif

}  // namespace kzoo

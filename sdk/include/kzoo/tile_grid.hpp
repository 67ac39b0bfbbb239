#pragma once
// The grid of most GEMM kernels: one block for each kTileM x kTileN tile of C.
//
//                          N
//           +--------+--------+--------+
//           | (0, 0) | (1, 0) | (2, 0) |      (blockIdx.x, blockIdx.y)
//        M  +--------+--------+--------+
//           | (0, 1) | (1, 1) | (2, 1) |      blockDim = (ThreadsX, ThreadsY)
//           +--------+--------+--------+
//
// A variant names it as its member `grid`; its member `kernel` is launched with it (plugin.hpp).
// The variant rejects a C with more tiles along M than gridDim.y allows. blockIdx.z counts GEMMs of
// a batch, or groups.

#include <kzoo/abi.h>
#include <kzoo/gemm.hpp>
#include <kzoo/launch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kzoo {

// One block of ThreadsX x ThreadsY threads for each tile of kTileM x kTileN elements of C.
template <int kTileM, int kTileN, int ThreadsX = kTileN, int ThreadsY = kTileM,
          bool kTransposed = false>
struct tile_grid {
  static_assert(ThreadsX * ThreadsY <= 1024, "CUDA allows 1024 threads per block");

  // nullptr, or why the problem has no such grid: CUDA allows gridDim.y up to 65535, gridDim.x up
  // to 2^31 - 1.
  static const char* objection(const kzoo_problem& p) {
    const std::int64_t tiles_y =
        kTransposed ? (p.n + kTileN - 1) / kTileN : (p.m + kTileM - 1) / kTileM;
    if (std::max(p.batch, p.groups) > launch_limits{}.grid_yz)
      return "needs more blocks along gridDim.z than the 65535 that CUDA allows";
    return tiles_y <= launch_limits{}.grid_yz
               ? nullptr
               : "needs more blocks along gridDim.y than the 65535 that CUDA allows";
  }

  // Enqueues kernel(g) for a gemm, gemm_batch or similar; dynamic_shared in bytes per block. Throws
  // kzoo::error(KZOO_LAUNCH_FAILED), as kzoo::launch does. Host code.
  template <class Gemm>
  static void launch(void (*kernel)(Gemm), const Gemm& g, stream_t stream,
                     std::size_t dynamic_shared = 0) {
    const int tiles_m = ceil_div(g.largest().m, kTileM), tiles_n = ceil_div(g.largest().n, kTileN);
    const auto products = static_cast<unsigned>(g.products());
    kzoo::launch(
        {.grid = kTransposed ? dim3(tiles_m, tiles_n, products) : dim3(tiles_n, tiles_m, products),
         .block = dim3(ThreadsX, ThreadsY),
         .dynamic_shared = dynamic_shared,
         .stream = stream},
        kernel, g);
  }
};

// tile_grid with exchanged axes: blockIdx.x counts tiles along M, blockIdx.y along N.
template <int kTileM, int kTileN, int ThreadsX = kTileM, int ThreadsY = kTileN>
using transposed_tile_grid = tile_grid<kTileM, kTileN, ThreadsX, ThreadsY, true>;

}  // namespace kzoo

#pragma once
// A launch with one block for each BM x BN tile of C, numbered as threadblock_swizzle() has it.

#include <kzoo/plugin.hpp>

#include <cstddef>

namespace common {

// The kernel's last two parameters: how many tiles C has in a column and in a row.
template <class Tile, class Gemm, class... Parameter, class... Argument>
void launch_tiles(void (*kernel)(Parameter...), const Gemm& g, unsigned threads,
                  std::size_t dynamic_shared, kzoo::stream_t stream, const Argument&... arguments) {
  const int tile_rows = kzoo::ceil_div(g.m, Tile::kBM), tile_cols = kzoo::ceil_div(g.n, Tile::kBN);
  kzoo::launch({.grid = dim3(static_cast<unsigned>(tile_rows) * tile_cols),
                .block = dim3(threads),
                .dynamic_shared = dynamic_shared,
                .max_threads = threads,
                .stream = stream},
               kernel, arguments..., tile_rows, tile_cols);
}

}  // namespace common

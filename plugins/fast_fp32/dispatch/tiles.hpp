#pragma once
// The tiles of split_k's kernel that are chosen from: six, the largest first; then six without
// slices, whose blocks end sooner: for a short K. The last four have 32 sums a thread: twice the
// warps of 64, where an SM has few blocks.

#include <fast_fp32/repacked/repacked.hpp>
#include <fast_fp32/rolled/rolled.hpp>
#include <fp32/14_pipelined/pipelined.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace dispatch {

using tile_types = std::tuple<split_k::tiling<128, 256, 16, 64, 64, 16, 8, 5, 1, 1>,
                              split_k::tiling<128, 128, 8, 64, 64, 16, 8, 3, 1, 2>,
                              split_k::tiling<128, 64, 32, 64, 64, 16, 8, 4, 4, 1>,
                              split_k::tiling<64, 64, 32, 64, 64, 16, 8, 4, 4, 2>,
                              split_k::tiling<64, 32, 32, 64, 32, 8, 8, 4, 4, 3>,
                              split_k::tiling<32, 32, 32, 32, 32, 8, 4, 4, 4, 4>,
                              split_k::tiling<128, 64, 16, 64, 32, 8, 8, 3, 1, 3>,
                              split_k::tiling<64, 128, 16, 32, 64, 8, 8, 3, 1, 3>,
                              split_k::tiling<64, 64, 16, 32, 32, 8, 4, 3, 1, 4>,
                              split_k::tiling<64, 32, 16, 32, 32, 8, 4, 3, 1, 8>,
                              split_k::tiling<128, 32, 16, 32, 32, 8, 4, 3, 1, 4>,
                              split_k::tiling<32, 128, 16, 32, 32, 8, 4, 3, 1, 4>>;
// pipelined's kernel with the first of these tiles: its main loop is 2 % faster than split_k's.
using pipelined_kernel = pipelined::variant<128, 256, 16, 5, 1>;
inline constexpr int kTiles = std::tuple_size_v<tile_types>;
// Those of rolled.
using rolled_types = std::tuple<rolled::tile_64x64x16, rolled::tile_64x32x32, rolled::tile_32x32x32,
                                rolled::tile_64x32x16, rolled::tile_32x64x8>;
inline constexpr int kRolled = std::tuple_size_v<rolled_types>;

// Calls body(std::type_identity<Tile>) for tile number i of Types.
template <class Types = tile_types, class Body>
decltype(auto) with_tile(int i, const Body& body) {
  using result = decltype(body(std::type_identity<std::tuple_element_t<0, Types>>{}));
  using call = result (*)(const Body&);
  constexpr std::size_t kCount = std::tuple_size_v<Types>;
  static constexpr auto kCalls = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return std::array<call, kCount>{[](const Body& b) -> result {
      return b(std::type_identity<std::tuple_element_t<kIndex, Types>>{});
    }...};
  }
  (std::make_index_sequence<kCount>{});
  return kCalls[static_cast<std::size_t>(i)](body);
}

}  // namespace dispatch

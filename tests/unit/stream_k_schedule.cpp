// Which block computes what with stream-K: every step of every tile once, and each part where the
// second kernel looks for it.
#include <fp32/common/stream_k.hpp>

#include <set>

#include "support/catch.hpp"

using common::make_stream_k;
using common::stream_k;

namespace {

struct part {
  int tile, block, slot;  // -1: the block has all of the tile
};

// The parts in the order of steps, or nothing where a step is left out or computed twice.
std::vector<part> parts_of(const stream_k& work) {
  std::vector<part> parts;
  std::int64_t done = 0;
  for (int block = 0; block < work.blocks(); ++block) {
    if (work.begin(block) != done || work.begin(block + 1) - done > work.k_tiles) return {};
    for (std::int64_t at = done; at < work.begin(block + 1);) {
      const auto [tile, first, count] = work.tile_work_at(at, block);
      if (at != std::int64_t{tile} * work.k_tiles + first || count < 1) return {};
      const bool all = count == work.k_tiles;
      parts.push_back({tile, block, all ? -1 : work.slot(block, at == work.begin(block))});
      at += count;
    }
    done = work.begin(block + 1);
  }
  return done == std::int64_t{work.tiles()} * work.k_tiles ? parts : std::vector<part>{};
}

void check(int rows, int cols, int k_tiles, int wave, int add_up) {
  const stream_k work = make_stream_k(rows, cols, k_tiles, wave, add_up, 2.0);
  INFO(rows << " x " << cols << " tiles of " << k_tiles << " k tiles, " << wave
            << " blocks per wave, adding up " << add_up);
  const std::vector<part> parts = parts_of(work);
  REQUIRE_FALSE(parts.empty());
  std::set<int> slots;
  for (const part& p : parts) {
    if (p.slot < 0) continue;
    REQUIRE(p.slot < work.slots());
    REQUIRE(slots.insert(p.slot).second);
    // What the second kernel works out for itself.
    const std::int64_t begin = std::int64_t{p.tile} * work.k_tiles;
    const int first = work.sk_block_of(begin);
    REQUIRE(first <= p.block);
    REQUIRE(p.block <= work.sk_block_of(begin + work.k_tiles - 1));
    REQUIRE(p.slot == work.slot(p.block, p.block > first || work.begin(first) >= begin));
  }
}

}  // namespace

TEST_CASE("a schedule computes every step once, and keeps the parts apart", "[stream_k]") {
  for (const int wave : {1, 2, 3, 5, 8, 16}) {
    for (int tiles = 1; tiles <= 20; ++tiles) {
      for (const int k_tiles : {1, 2, 3, 7, 32, 61}) {
        for (const int fix_up : {0, 3}) check(tiles, 1, k_tiles, wave, fix_up);
      }
    }
  }
  for (const int wave : {108, 132, 264}) {
    for (const int k_tiles : {4, 64, 1 << 20}) {
      for (const int cols : {1, 3, 32}) check(7, cols, k_tiles, wave, 5);
    }
  }
}

TEST_CASE("the last wave is stream-K when that pays", "[stream_k]") {
  const stream_k large = make_stream_k(32, 16, 256, 132, 7, 2.0);
  CHECK(large.dp_tiles == 3 * 132);
  CHECK(large.sk_blocks == 132);
  CHECK(make_stream_k(32, 16, 256, 132, 100, 2.0).sk_blocks == 0);  // the second kernel costs more
  CHECK(make_stream_k(12, 11, 256, 132, 0, 2.0).sk_blocks == 0);    // there is nothing left
}

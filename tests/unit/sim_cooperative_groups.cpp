#include <kzoo/sim/cooperative_groups.hpp>

#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

namespace cg = cooperative_groups;

namespace {

// The sum of a block's thread numbers, by tiles of 8 threads.
__global__ void sums(int* sum, unsigned* ranks) {
  __shared__ int of_tile[8];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  int value = static_cast<int>(block.thread_rank());
  for (unsigned step = tile.size() / 2; step > 0; step /= 2) value += tile.shfl_down(value, step);
  if (tile.thread_rank() == 0) of_tile[tile.meta_group_rank()] = value;
  block.sync();
  ranks[block.thread_rank()] = tile.ballot(tile.thread_rank() == tile.meta_group_rank());
  if (block.thread_rank() > 0) return;
  *sum = 0;
  for (unsigned i = 0; i < tile.meta_group_size(); ++i) *sum += of_tile[i];
}

}  // namespace

TEST_CASE("cooperative groups: a block and its tiles", "[sim]") {
  int sum = -1;
  std::vector<unsigned> ranks(64);
  kzoo::launch({.grid = dim3(1), .block = dim3(16, 4)}, sums, &sum, ranks.data());
  CHECK(sum == 63 * 64 / 2);
  for (unsigned i = 0; i < 64; ++i) CHECK(ranks[i] == 1u << (i / 8));
}

// grouped_persistent: which tiles its blocks compute.

#include <hopper/grouped_persistent/group_walk.hpp>

#include <kzoo/launch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

using grouped_persistent::group_tile;
using grouped_persistent::group_walk;

template <int BM, int BN, int ClusterM = 1, int ClusterN = 1>
struct shape {
  static constexpr int kBM = BM, kBN = BN, kClusterM = ClusterM, kClusterN = ClusterN;
};

// A block is a warp: the tiles that it finds, one after the other, in its own part of the list.
template <class S>
__global__ void list_tiles(const int* offsets, int groups, int n, group_tile* list, int* counts,
                           int room) {
  const int block = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  group_walk<S> walk(offsets, groups, n);
  group_tile tile;
  int count = 0;
  for (int number = block; walk.find(number, tile); number += static_cast<int>(gridDim.x)) {
    if (lane == 0 && count < room) list[block * room + count] = tile;
    ++count;
  }
  if (lane == 0) counts[block] = count;
}

// In the order of their numbers.
template <class S>
std::vector<group_tile> tiles_of(const std::vector<int>& offsets, int n, int blocks) {
  constexpr int kRoom = 3000;
  std::vector<group_tile> list(std::size_t(blocks) * kRoom), tiles;
  std::vector<int> counts(blocks);
  kzoo::launch({.grid = dim3(blocks), .block = dim3(32)}, list_tiles<S>, offsets.data(),
               static_cast<int>(offsets.size()) - 1, n, list.data(), counts.data(), kRoom);
  const int most = *std::max_element(counts.begin(), counts.end());
  REQUIRE(most <= kRoom);
  for (int turn = 0; turn < most; ++turn) {
    for (int block = 0; block < blocks && turn < counts[block]; ++block)
      tiles.push_back(list[std::size_t(block) * kRoom + turn]);
  }
  return tiles;
}

// "" or what is wrong: each element of C has to be in one tile, which is of its row's group.
template <class S>
std::string problem_of(const std::vector<int>& offsets, int n, int blocks) {
  using walk = group_walk<S>;
  const int m = offsets.back(), cols = kzoo::ceil_div(n, walk::kCols);
  std::vector<int> covered(std::size_t(m) * cols);
  for (const group_tile& t : tiles_of<S>(offsets, n, blocks)) {
    if (t.col % walk::kCols != 0 || t.col >= n) return "column " + std::to_string(t.col);
    if (t.row < offsets[t.group] || t.row >= t.end || t.end != offsets[t.group + 1])
      return "row " + std::to_string(t.row) + " in group " + std::to_string(t.group);
    for (int row = t.row; row < std::min(t.row + walk::kRows, t.end); ++row)
      ++covered[std::size_t(row) * cols + t.col / walk::kCols];
  }
  return std::count(covered.begin(), covered.end(), 1) == std::ptrdiff_t(covered.size())
             ? ""
             : "an element is not in one tile";
}

// Groups with 0 to 2 * mean rows, without pattern.
std::vector<int> some_offsets(int groups, int mean) {
  std::vector<int> offsets{0};
  for (int g = 0; g < groups; ++g) offsets.push_back(offsets.back() + g * 7919 % (2 * mean + 1));
  return offsets;
}

}  // namespace

TEST_CASE("every element of C is in one tile, which is of its group", "[sim]") {
  const std::vector<std::vector<int>> all{{0, 1},
                                          {0, 0, 0, 128},
                                          {0, 300, 300, 301, 301},
                                          {0, 128, 256, 384},
                                          {0, 4000, 4100},
                                          some_offsets(31, 100),
                                          some_offsets(32, 3),
                                          some_offsets(33, 150),
                                          some_offsets(200, 20)};
  for (const auto& offsets : all) {
    for (const int n : {1, 256, 1000}) {
      for (const int blocks : {1, 7, 132}) {
        INFO(offsets.size() - 1 << " groups, " << offsets.back() << " x " << n << " on " << blocks);
        CHECK(problem_of<shape<64, 256>>(offsets, n, blocks) == "");
        CHECK(problem_of<shape<128, 256, 2, 1>>(offsets, n, blocks) == "");
        CHECK(problem_of<shape<128, 256, 1, 2>>(offsets, n, blocks) == "");
      }
    }
  }
}

TEST_CASE("groups without rows have no tiles", "[sim]") {
  CHECK(tiles_of<shape<128, 256>>(std::vector<int>(101), 256, 3).empty());
  std::vector<int> offsets(101);
  offsets.back() = 1;  // the last group has a row
  CHECK(tiles_of<shape<128, 256>>(offsets, 256, 3).size() == 1);
}

TEST_CASE("tiles with the same columns of B run together", "[sim]") {
  const auto tiles = tiles_of<shape<128, 256>>({0, 300, 500}, 512, 4);
  const auto at = [&](int i) { return std::pair(tiles.at(i).row, tiles.at(i).col); };
  REQUIRE(tiles.size() == 10);
  CHECK(at(0) == std::pair(0, 0));
  CHECK(at(2) == std::pair(256, 0));
  CHECK(at(3) == std::pair(0, 256));
  CHECK(at(6) == std::pair(300, 0));
  CHECK(at(9) == std::pair(428, 256));
}

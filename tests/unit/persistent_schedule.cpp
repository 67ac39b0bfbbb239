// persistent, the whole of the tensor core ladder: which block computes what, and copies of
// operands.
#include <hopper/common/stream_k_schedule.hpp>
#include <hopper/persistent/clear_barriers.hpp>
#include <kzoo/tma.hpp>
#include <tensor_cores/common/padded_copy.hpp>

#include <map>
#include <tuple>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

namespace {

template <int ClusterM, int ClusterN, bool ManyTiles>
struct shape {
  static constexpr int kBM = 128, kBN = 256, kBK = 64;
  static constexpr int kClusterM = ClusterM, kClusterN = ClusterN, kCluster = ClusterM * ClusterN;
  static constexpr bool kManyTiles = ManyTiles;
};

// Each block's assignments, one after the other, in its own part of the list.
template <class S>
__global__ void list_assignments(persistent::schedule<S> work, persistent::assignment* list,
                                 int* counts, int* k_tiles, int room) {
  const int block = static_cast<int>(blockIdx.x);
  counts[block] = work.turns();
  k_tiles[block] = work.all_k_tiles();
  for (int turn = 0; turn < work.turns() && turn < room; ++turn) {
    list[block * room + turn] = work.at(turn);
  }
}

// "" or what is wrong: every k tile of every block's tile of C has to be there once, sums that a
// block leaves have to come before all else that it does, and another block has to collect them.
template <class S>
std::string problem_of(int m, int n, int k, int clusters, bool may_split) {
  const persistent::schedule<S> work(m, n, k, clusters, may_split);
  constexpr int kRoom = 600;
  const int blocks = work.blocks();
  std::vector<persistent::assignment> list(std::size_t(blocks) * kRoom);
  std::vector<int> counts(blocks), k_tiles(blocks);
  kzoo::launch({.grid = dim3(blocks), .block = dim3(1)}, list_assignments<S>, work, list.data(),
               counts.data(), k_tiles.data(), kRoom);
  std::map<std::tuple<int, int>, std::vector<int>> seen;  // by tile of C: how often each k tile is
  for (int block = 0; block < blocks; ++block) {
    int total = 0;
    if (counts[block] > kRoom) return "more assignments than the test has room for";
    for (int turn = 0; turn < counts[block]; ++turn) {
      const auto& a = list[block * kRoom + turn];
      if (a.count() <= 0) return "an assignment without k tiles";
      if (a.begin > 0 && turn > 0) return "sums are left after the first assignment";
      if ((a.shared_tile >= 0) != (a.count() < work.k_tiles)) return "a share of a whole tile";
      auto& tile = seen[{a.row, a.col}];
      tile.resize(work.k_tiles);
      for (int i = 0; i < a.count(); ++i) ++tile.at(a.k_tile(i));
      total += a.count();
    }
    if (total != k_tiles[block]) return "all_k_tiles() is not the sum";
  }
  for (int row = 0; row < m; row += S::kBM) {
    for (int col = 0; col < n; col += S::kBN) {
      if (seen[{row, col}] != std::vector<int>(work.k_tiles, 1)) {
        return "tile " + std::to_string(row) + ", " + std::to_string(col);
      }
    }
  }
  return "";
}

// Elements of a copy with other rows than `rows` x `cols` has, each `row_length` apart.
template <class E>
int wrong_in_copy(int rows, int cols, int row_length, bool transposed) {
  std::vector<E> matrix(std::size_t(rows) * row_length);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = E(float(i % (sizeof(E) == 1 ? 127 : 2039)));
  common::padded_copy<E> copy{{matrix.data(), row_length, rows, cols}, nullptr};
  const int to_rows = transposed ? cols : rows, to_cols = transposed ? rows : cols;
  const auto length = static_cast<std::size_t>(copy.padded(to_cols));
  std::vector<E> to(to_rows * length);
  copy.to = to.data();
  if (transposed) {
    common::launch_transposed_copy(copy, {});
  } else {
    common::launch_copies(copy, common::padded_copy<E>{}, 1, {});
  }
  int wrong = 0;
  for (int row = 0; row < to_rows; ++row) {
    for (int col = 0; col < to_cols; ++col) {
      const int from = transposed ? col * row_length + row : row * row_length + col;
      wrong += float(to[row * length + col]) != float(matrix[from]);
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("operands are copied to rows that TMA can address", "[sim]") {
  CHECK(wrong_in_copy<__half>(5, 1031, 1033, false) == 0);
  CHECK(wrong_in_copy<__half>(67, 1, 3, false) == 0);
  CHECK(wrong_in_copy<signed char>(5, 1031, 1033, false) == 0);
  CHECK(wrong_in_copy<float>(5, 515, 517, false) == 0);
  CHECK(wrong_in_copy<float>(67, 130, 131, true) == 0);
}

TEST_CASE("TMA writes matrices whose rows end at a multiple of 16 bytes", "[sim]") {
  alignas(16) static __half matrix[8];
  CHECK(kzoo::tma_storable(matrix, 184, 184));
  CHECK_FALSE(kzoo::tma_storable(matrix, 180, 184));  // would write columns 180 to 183
  CHECK_FALSE(kzoo::tma_storable(matrix, 184, 188));
  CHECK_FALSE(kzoo::tma_storable(matrix + 1, 184, 184));
}

TEST_CASE("every k tile of every tile of C is computed once", "[sim]") {
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{{1, 1, 1},
                                                                      {128, 256, 64},
                                                                      {512, 512, 65536},
                                                                      {1000, 3000, 2000},
                                                                      {2048, 2048, 2048},
                                                                      {4096, 4104, 4104},
                                                                      {4500, 300, 8192}}) {
    for (const int clusters : {1, 3, 10, 66}) {
      for (const bool may_split : {false, true}) {
        INFO(m << " x " << n << " x " << k << " on " << clusters << ", split: " << may_split);
        CHECK(problem_of<shape<1, 1, false>>(m, n, k, clusters, may_split) == "");
        CHECK(problem_of<shape<2, 1, true>>(m, n, k, clusters, may_split) == "");
        CHECK(problem_of<shape<1, 2, true>>(m, n, k, clusters, may_split) == "");
      }
    }
  }
}

TEST_CASE("the last wave is shared where that saves time", "[sim]") {
  const auto shared = [](int size) {
    return persistent::schedule<shape<2, 1, true>>(size, size, size, 66).shares();
  };
  CHECK(shared(8192));        // 34 tiles are left for 66 clusters
  CHECK_FALSE(shared(4096));  // 58 are left
  CHECK_FALSE(persistent::schedule<shape<2, 1, false>>(8192, 8192, 8192, 66).shares());
}

TEST_CASE("clusters wait for each other where K is longer than what the L2 holds", "[sim]") {
  using S = shape<2, 1, true>;
  const auto barriers = [](int m, int n, int k, int clusters) {
    return persistent::soft_barriers<S>::count_of(persistent::schedule<S>(m, n, k, clusters));
  };
  CHECK(barriers(4096, 4096, 4096, 66) == 0);
  CHECK(barriers(8192, 8192, 8192, 66) == 15 * 128 / 32);  // 15 whole tiles each
  CHECK(barriers(4096, 4096, 16384, 66) == 3 * 256 / 32);  // the last 58 tiles are not shared
  using single = shape<2, 1, false>;
  CHECK(persistent::soft_barriers<single>::count_of(
            persistent::schedule<single>(8192, 8192, 8192, 66)) == 0);
}

// One cluster after the other: a soft barrier counts each of them once, and the last one does not
// wait.
template <class S>
__global__ void pass_barriers(persistent::schedule<S> work, persistent::soft_barriers<S> soft,
                              int* passed) {
  const int k_tiles = work.each * work.k_tiles;
  for (int done = 0; done < k_tiles; ++done) {
    if (done % persistent::soft_barriers<S>::kInterval == 0 && blockIdx.x % S::kCluster == 0)
      ++*passed;
    soft.wait(done, 1);
  }
}

TEST_CASE("every cluster arrives at every soft barrier once", "[sim]") {
  using S = shape<2, 1, true>;
  const persistent::schedule<S> work(2048, 2048, 8192, 3);
  std::vector<unsigned> arrived(persistent::soft_barriers<S>::count_of(work), 7u);
  const persistent::soft_barriers<S> soft{arrived.data(), static_cast<int>(arrived.size())};
  persistent::launch_clear_barriers(soft, {});
  int passed = 0;
  kzoo::launch({.grid = dim3(work.blocks()), .block = dim3(1)}, pass_barriers<S>, work, soft,
               &passed);
  CHECK(arrived == std::vector<unsigned>(work.each * work.k_tiles / 32, 3u));
  CHECK(passed == 3 * work.each * work.k_tiles / 32);
}

TEST_CASE("K is split where there is no tile for every second cluster", "[sim]") {
  using schedule = persistent::schedule<shape<1, 1, false>>;
  CHECK(schedule(512, 512, 65536, 132, true).splits == 16);  // 8 tiles
  CHECK(schedule(512, 512, 65536, 132, true).clusters == 128);
  CHECK(schedule(512, 512, 65536, 132).splits == 1);
  CHECK(schedule(2048, 2048, 2048, 132, true).splits == 1);   // 128 tiles
  CHECK(schedule(512, 512, 512, 132, true).splits == 1);      // 8 k tiles: not worth it
  CHECK(schedule(128, 256, 64 * 30, 132, true).splits == 3);  // parts of at least 8 k tiles
}

// Copies by TMA in the simulator.
#include <kzoo/cluster.hpp>
#include <kzoo/mma.hpp>
#include <kzoo/tma.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

using wide_tile = kzoo::swizzled_tile<float, 16, 64>;  // two panels
using small_tile = kzoo::swizzled_tile<float, 8, 32>;
constexpr std::size_t kShared = wide_tile::kBytes + 64;

__device__ kzoo::mbarrier& barrier_behind(float* to) {
  return *reinterpret_cast<kzoo::mbarrier*>(to + wide_tile::kElements);
}

__device__ kzoo::mbarrier& initialised(float* to) {
  kzoo::mbarrier& barrier = barrier_behind(to);
  if (threadIdx.x == 0) {
    barrier.init(1);
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();
  return barrier;
}

__device__ void read_tile(const float* from, float* out) {
  for (int i = static_cast<int>(threadIdx.x); i < wide_tile::kElements;
       i += static_cast<int>(blockDim.x)) {
    out[i] = from[wide_tile::offset(i / wide_tile::kCols, i % wide_tile::kCols)];
  }
}

__global__ void load(const __grid_constant__ kzoo::tensor_map<wide_tile> map, int row, int col,
                     float* out) {
  auto* to = kzoo::dynamic_shared<float>();
  kzoo::mbarrier& arrived = initialised(to);
  if (threadIdx.x == 0) {
    arrived.arrive_and_expect(wide_tile::kBytes);
    kzoo::tma_load(map, to, row, col, arrived);
    out[wide_tile::kElements] = to[5];  // too early
  }
  arrived.wait(0);
  read_tile(to, out);
}

__global__ void load_of_batch(const __grid_constant__ kzoo::batch_tensor_map<wide_tile> map,
                              int number, float* out) {
  auto* to = kzoo::dynamic_shared<float>();
  kzoo::mbarrier& arrived = initialised(to);
  if (threadIdx.x == 0) {
    arrived.arrive_and_expect(wide_tile::kBytes);
    kzoo::tma_load(map, to, number, 0, 0, arrived);
  }
  arrived.wait(0);
  read_tile(to, out);
}

// Each of two blocks loads a half of the tile for both.
__global__ void load_for_cluster(
    const __grid_constant__ kzoo::tensor_map<kzoo::swizzled_tile<float, 16, 32>> map, float* out) {
  auto* to = kzoo::dynamic_shared<float>();
  kzoo::mbarrier& arrived = initialised(to);
  kzoo::cluster_sync();
  const int rank = static_cast<int>(kzoo::cluster_rank());
  if (threadIdx.x == 0) {
    arrived.arrive_and_expect(wide_tile::kBytes);
    kzoo::tma_load_multicast(map, to + rank * wide_tile::kPanelElements, 0, 32 * rank, arrived, 3);
  }
  arrived.wait(0);
  read_tile(to, out + rank * wide_tile::kElements);
  kzoo::cluster_sync();
}

__global__ void load_bytes(const float* from, float* out) {
  auto* to = kzoo::dynamic_shared<float>();
  kzoo::mbarrier& arrived = initialised(to);
  if (threadIdx.x == 0) {
    arrived.arrive_and_expect(128);
    kzoo::bulk_load(from, to, 128, arrived);
  }
  arrived.wait(0);
  out[threadIdx.x] = to[threadIdx.x];
}

enum class copy_fault {
  none,
  no_wait,
  too_few_bytes,
  two_copies,
  for_nobody,
  misaligned,
  outside,
  no_fence,
  no_commit,
  no_read_wait,
  overwritten
};

template <copy_fault kFault>
__global__ void faulty_load(const __grid_constant__ kzoo::tensor_map<small_tile> map) {
  auto* to = kzoo::dynamic_shared<float>();
  kzoo::mbarrier& arrived = initialised(to);
  if (threadIdx.x != 0) return;
  const unsigned bytes =
      kFault == copy_fault::too_few_bytes ? small_tile::kBytes - 16 : small_tile::kBytes;
  arrived.arrive_and_expect(bytes);
  const int offset = kFault == copy_fault::misaligned ? 4
                     : kFault == copy_fault::outside  ? 2048
                                                      : 0;
  kzoo::tma_load(map, to + offset, 0, 0, arrived);
  if (kFault == copy_fault::two_copies) kzoo::tma_load(map, to, 0, 0, arrived);
  if (kFault == copy_fault::for_nobody) kzoo::tma_load_multicast(map, to, 0, 0, arrived, 0);
  if (kFault != copy_fault::no_wait) arrived.wait(0);
}

// A warp writes a tile with stmatrix; its first thread stores it.
template <copy_fault kFault>
__global__ void store(const __grid_constant__ kzoo::tensor_map<small_tile> map, int row, int col) {
  auto* panel = kzoo::dynamic_shared<float>();
  const int lane = static_cast<int>(threadIdx.x);
  for (int half = 0; half < 2; ++half) {
    unsigned words[4];
    for (int i = 0; i < 4; ++i)
      words[i] = std::bit_cast<unsigned>(
          static_cast<float>(100 * (lane / 4) + 16 * half + 4 * i + lane % 4));
    // A row of each 8 x 8 matrix of 16-bit elements is four floats.
    kzoo::stmatrix(panel + small_tile::offset(lane % 8, 16 * half + 4 * (lane / 8)), words);
  }
  if (kFault != copy_fault::no_fence) kzoo::fence_async_proxy();
  __syncwarp();
  if (lane != 0) return;
  kzoo::tma_store(map, panel, row, col);
  if (kFault != copy_fault::no_commit) kzoo::tma_store_commit();
  if (kFault == copy_fault::overwritten) panel[3] = 0;
  if (kFault != copy_fault::no_read_wait) kzoo::tma_store_wait_read<0>();
}

// rows x cols, with `row_length` elements per row.
std::vector<float> matrix_of(int rows, int row_length) {
  std::vector<float> m(static_cast<std::size_t>(rows * row_length));
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = static_cast<float>(i + 1);
  return m;
}

// std::vector's memory is aligned to 16 bytes.
constexpr int kRows = 40, kCols = 70, kLength = 72;

}  // namespace

TEST_CASE("TMA loads a tile, with zeros for what is outside", "[sim]") {
  const auto matrix = matrix_of(kRows, kLength);
  const auto map = kzoo::make_tensor_map<wide_tile>(matrix.data(), kRows, kCols, kLength);
  for (const auto& [row, col] : {std::pair{0, 0}, {8, 4}, {32, 64}, {-8, -4}, {100, 0}}) {
    std::vector<float> out(wide_tile::kElements + 1);
    kzoo::launch({.grid = dim3(1), .block = dim3(32), .dynamic_shared = kShared}, load, map, row,
                 col, out.data());
    int wrong = 0;
    for (int i = 0; i < wide_tile::kElements; ++i) {
      const int r = row + i / wide_tile::kCols, c = col + i % wide_tile::kCols;
      const bool inside = r >= 0 && r < kRows && c >= 0 && c < kCols;
      const auto at = static_cast<std::size_t>(r * kLength + c);
      wrong += out[static_cast<std::size_t>(i)] != (inside ? matrix[at] : 0.0f);
    }
    INFO("from " << row << ", " << col);
    CHECK(wrong == 0);
    CHECK(std::isnan(out.back()));
  }
}

TEST_CASE("TMA keeps the matrices of a batch apart", "[sim]") {
  constexpr int kEach = 8;  // rows, half of the tile's
  const auto matrices = matrix_of(3 * kEach, kLength);
  const auto map = kzoo::make_batch_tensor_map<wide_tile>(matrices.data(), kEach, kCols, kLength, 3,
                                                          kEach * kLength);
  for (const int number : {0, 1, 2, 3}) {
    std::vector<float> out(wide_tile::kElements);
    kzoo::launch({.grid = dim3(1), .block = dim3(32), .dynamic_shared = kShared}, load_of_batch,
                 map, number, out.data());
    CHECK(
        out[65] ==
        (number < 3 ? matrices[static_cast<std::size_t>((number * kEach + 1) * kLength + 1)] : 0));
    CHECK(out[kEach * 64] == 0);
  }
}

TEST_CASE("TMA delivers to several blocks of a cluster", "[sim]") {
  const auto matrix = matrix_of(16, 64);
  const auto map =
      kzoo::make_tensor_map<kzoo::swizzled_tile<float, 16, 32>>(matrix.data(), 16, 64, 64);
  std::vector<float> out(2 * wide_tile::kElements);
  kzoo::launch({.grid = dim3(2), .block = dim3(32), .dynamic_shared = kShared, .cluster = dim3(2)},
               load_for_cluster, map, out.data());
  CHECK(std::equal(matrix.begin(), matrix.end(), out.begin()));
  CHECK(std::equal(matrix.begin(), matrix.end(), out.begin() + wide_tile::kElements));
}

TEST_CASE("a bulk copy needs no tensor map", "[sim]") {
  const auto from = matrix_of(1, 32);
  std::vector<float> out(32);
  kzoo::launch({.grid = dim3(1), .block = dim3(32), .dynamic_shared = kShared}, load_bytes,
               from.data(), out.data());
  CHECK(out == from);
}

TEST_CASE("TMA stores the part of a tile that is inside", "[sim]") {
  for (const auto& [row, col] : {std::pair{0, 0}, {4, 32}}) {
    std::vector<float> matrix(10 * 64, -1.0f);
    const auto map = kzoo::make_tensor_map<small_tile>(matrix.data(), 10, 48, 64);
    kzoo::launch({.grid = dim3(1), .block = dim3(32), .dynamic_shared = kShared},
                 store<copy_fault::none>, map, row, col);
    int wrong = 0;
    for (int i = 0; i < 10 * 64; ++i) {
      const int r = i / 64 - row, c = i % 64 - col;
      const bool inside = r >= 0 && r < 8 && c >= 0 && c < 32 && i % 64 < 48;
      wrong +=
          matrix[static_cast<std::size_t>(i)] != (inside ? static_cast<float>(100 * r + c) : -1.0f);
    }
    INFO("to " << row << ", " << col);
    CHECK(wrong == 0);
  }
}

TEST_CASE("misuse of loads by TMA has a name", "[sim]") {
  const auto matrix = matrix_of(8, 32);
  const auto map = kzoo::make_tensor_map<small_tile>(matrix.data(), 8, 32, 32);
  const auto said = [&](void (*kernel)(kzoo::tensor_map<small_tile>)) {
    return error_text(KZOO_ERROR, [&] {
      kzoo::launch({.grid = dim3(1), .block = dim3(32), .dynamic_shared = kShared}, kernel, map);
    });
  };
  CHECK(said(faulty_load<copy_fault::none>) == "no error");
  CHECK_THAT(said(faulty_load<copy_fault::no_wait>),
             ContainsSubstring("a block has ended before its copy (sim_tma.cpp:") &&
                 ContainsSubstring(") has arrived"));
  CHECK_THAT(said(faulty_load<copy_fault::too_few_bytes>),
             ContainsSubstring("wait at mbarrier.wait(0) of the mbarrier at byte 4096 of dynamic "
                               "shared memory, which has received 16 bytes more than expected"));
  CHECK_THAT(
      said(faulty_load<copy_fault::two_copies>),
      ContainsSubstring("overwrites byte 0 of dynamic shared memory, where a copy (sim_tma.cpp:") &&
          ContainsSubstring(") has not arrived"));
  CHECK_THAT(said(faulty_load<copy_fault::for_nobody>),
             ContainsSubstring("a load by TMA (sim_tma.cpp:") &&
                 ContainsSubstring("is for no block of the cluster"));
  CHECK_THAT(said(faulty_load<copy_fault::misaligned>),
             ContainsSubstring("begins at byte 16 of dynamic shared memory, not at a multiple of"));
  CHECK_THAT(said(faulty_load<copy_fault::outside>),
             ContainsSubstring("a load by TMA (sim_tma.cpp:") &&
                 ContainsSubstring("1024 bytes that are not in the block's shared memory"));
}

TEST_CASE("misuse of stores by TMA has a name", "[sim]") {
  std::vector<float> matrix(8 * 32);
  const auto map = kzoo::make_tensor_map<small_tile>(matrix.data(), 8, 32, 32);
  const auto said = [&](void (*kernel)(kzoo::tensor_map<small_tile>, int, int)) {
    return error_text(KZOO_ERROR, [&] {
      kzoo::launch({.grid = dim3(1), .block = dim3(32), .dynamic_shared = kShared}, kernel, map, 0,
                   0);
    });
  };
  CHECK_THAT(said(store<copy_fault::no_fence>),
             ContainsSubstring("a store by TMA (sim_tma.cpp:") &&
                 ContainsSubstring("reads byte 0 of dynamic shared memory, which a thread has "
                                   "written (sim_tma.cpp:") &&
                 ContainsSubstring(") without fence_async_proxy() since"));
  CHECK_THAT(said(store<copy_fault::no_commit>),
             ContainsSubstring("a block has ended before a store by TMA (sim_tma.cpp:") &&
                 ContainsSubstring("was committed"));
  CHECK_THAT(said(store<copy_fault::no_read_wait>), ContainsSubstring("has read its tile"));
  CHECK_THAT(
      said(store<copy_fault::overwritten>),
      ContainsSubstring("what a store by TMA (sim_tma.cpp:") &&
          ContainsSubstring("reads was overwritten before tma_store_wait_read() (sim_tma.cpp:"));
}

TEST_CASE("a matrix that TMA cannot address is refused", "[sim]") {
  const auto matrix = matrix_of(8, 33);
  CHECK_THAT(
      error_text(KZOO_ERROR, [&] { kzoo::make_tensor_map<small_tile>(matrix.data(), 8, 32, 33); }),
      ContainsSubstring("cuTensorMapEncodeTiled: error 1 for 8 x 32 elements with 132"));
  CHECK_THAT(error_text(KZOO_ERROR,
                        [&] { kzoo::make_tensor_map<small_tile>(matrix.data() + 1, 8, 32, 32); }),
             ContainsSubstring("cuTensorMapEncodeTiled: error 1"));
}

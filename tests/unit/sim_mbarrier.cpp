// mbarriers, named barriers and clusters in the simulator.
#include <kzoo/cluster.hpp>
#include <kzoo/mbarrier.hpp>
#include <kzoo/warpgroup.hpp>

#include <string>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

template <class... P, class... A>
std::string failure(dim3 block, void (*kernel)(P...), A... args) {
  return error_text(KZOO_ERROR,
                    [&] { kzoo::launch({.grid = dim3(1), .block = block}, kernel, args...); });
}

__device__ void init(kzoo::mbarrier& barrier, unsigned arrivals) {
  if (threadIdx.x == 0) {
    barrier.init(arrivals);
    kzoo::fence_mbarrier_init();
  }
  __syncthreads();
}

// One warp writes numbers, the other reads them, by turns.
__global__ void ping_pong(int* sum, int rounds) {
  __shared__ kzoo::mbarrier full, empty;
  __shared__ int value[32];
  init(full, 32);
  init(empty, 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = 0; i < rounds; ++i) {
    const auto parity = static_cast<unsigned>(i % 2);
    if (threadIdx.x < 32) {
      empty.wait(parity ^ 1);  // at once, in the first round
      value[lane] = i;
      full.arrive();
    } else {
      full.wait(parity);
      sum[lane] += value[31 - lane];
      empty.arrive();
    }
  }
}

__global__ void wait_for_missing() {
  __shared__ kzoo::mbarrier barrier;
  init(barrier, 3);
  if (threadIdx.x == 0) barrier.arrive_and_expect(64);
  barrier.wait(0);
}

__global__ void not_initialised() {
  __shared__ kzoo::mbarrier barrier;
  barrier.arrive();
}

__global__ void not_fenced() {
  __shared__ kzoo::mbarrier barrier;
  if (threadIdx.x == 0) barrier.init(1);
  __syncthreads();
  if (threadIdx.x == 1) barrier.arrive();
}

__global__ void overwritten() {
  auto* barrier = kzoo::dynamic_shared<kzoo::mbarrier>();
  init(*barrier, 1);
  if (threadIdx.x == 0) *reinterpret_cast<double*>(barrier) = 2;
  barrier->wait(0);
}

// Its memory gets another use after its last phase.
__global__ void reused() {
  auto* barrier = kzoo::dynamic_shared<kzoo::mbarrier>();
  init(*barrier, 1);
  barrier->arrive();
  barrier->wait(0);
  *reinterpret_cast<double*>(barrier) = 2.5;
}

__global__ void one_arrival_more() {
  __shared__ kzoo::mbarrier barrier;
  init(barrier, 1);
  if (threadIdx.x == 0) {
    barrier.arrive_and_expect(16);
    barrier.arrive();
  }
}

__global__ void number_of_a_phase() {
  __shared__ kzoo::mbarrier barrier;
  init(barrier, 1);
  barrier.wait(2);
}

__global__ void expects_for_nobody() {
  __shared__ kzoo::mbarrier barrier;
  init(barrier, 1);
  if (threadIdx.x == 0) barrier.arrive_and_expect(16);
}

// The last thread at __syncthreads() continues first: it waits when the other ends two phases.
__global__ void ends_twice() {
  __shared__ kzoo::mbarrier barrier;
  init(barrier, 1);
  if (threadIdx.x == 1) {
    barrier.wait(0);
  } else {
    barrier.arrive();
    barrier.arrive();
  }
}

// Of three warpgroups, as with 168 registers each.
enum class exchange_of { all, too_few, one_warp };
template <exchange_of kWhat>
__global__ void exchange_registers() {
  if (threadIdx.x >= 2 * kzoo::kWarpgroup) {
    constexpr int kLeft = kWhat == exchange_of::too_few ? 32 : 24;
    if (kWhat != exchange_of::one_warp || threadIdx.x % kzoo::kWarpgroup < 32)
      kzoo::release_registers<kLeft>();
  } else if (kWhat != exchange_of::one_warp) {
    kzoo::request_registers<240>();
  }
}

// Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; a warp alone would overtake them.
__global__ void in_pairs(int* order) {
  __shared__ int count[2];
  const unsigned warp = threadIdx.x / 32, pair = warp / 2;
  if (threadIdx.x % 64 == 0) count[pair] = 0;
  kzoo::named_barrier<64>(static_cast<int>(pair) + 1);
  for (int i = 0; i < 3; ++i) {
    if (warp % 2 == 0) {
      atomicAdd(&count[pair], 1);
      kzoo::named_barrier_arrive<64>(static_cast<int>(pair) + 3);
    } else {
      kzoo::named_barrier<64>(static_cast<int>(pair) + 3);
      if (threadIdx.x % 32 == 0) order[pair * 3 + static_cast<unsigned>(i)] = count[pair];
    }
    kzoo::named_barrier<64>(static_cast<int>(pair) + 1);
  }
}

__global__ void any_of(int* out, int which) {
  out[threadIdx.x] = kzoo::named_barrier_or<64>(5, static_cast<int>(threadIdx.x) == which);
}

// Each block ends with arrivals that nobody waits for.
__global__ void arrive_at_the_end(int* out) {
  __shared__ int value[64];
  value[threadIdx.x] = static_cast<int>(threadIdx.x);
  kzoo::named_barrier<64>(1);
  out[64 * blockIdx.x + threadIdx.x] = value[63 - threadIdx.x];
  if (threadIdx.x < 32) kzoo::named_barrier_arrive<64>(1);
}

__global__ void barrier_without_others() {
  if (threadIdx.x < 32) kzoo::named_barrier<64>(4);
}

__global__ void barrier_of_two_sizes() {
  if (threadIdx.x < 32) {
    kzoo::named_barrier<64>(4);
  } else {
    kzoo::named_barrier<32>(4);
  }
}

__global__ void barrier_zero() { kzoo::named_barrier<32>(0); }

// Each block of a cluster writes its static and its dynamic shared memory; all read all.
__global__ void exchange(float* out) {
  __shared__ float fixed[32];
  auto* dynamic = kzoo::dynamic_shared<float>();
  const unsigned rank = kzoo::cluster_rank(), t = threadIdx.x;
  fixed[t] = static_cast<float>(100 * blockIdx.x + t);
  dynamic[t] = -fixed[t];
  kzoo::cluster_sync();
  const unsigned other = rank ^ 1;
  out[2 * (32 * blockIdx.x + t)] = kzoo::load_of_block(&fixed[31 - t], other);
  out[2 * (32 * blockIdx.x + t) + 1] = kzoo::load_of_block(&dynamic[31 - t], other) + fixed[t];
  kzoo::cluster_sync();
}

__global__ void arrive_elsewhere(int* out) {
  __shared__ kzoo::mbarrier barrier;
  init(barrier, 64);
  kzoo::cluster_sync();
  barrier.arrive_in(0);
  barrier.arrive_in(1);
  barrier.wait(0);
  out[blockIdx.x * 32 + threadIdx.x] = 1;
  kzoo::cluster_sync();
}

// Each thread stores four floats in the other block, which waits for `bytes`.
__global__ void store_elsewhere(float* out, unsigned bytes) {
  __shared__ kzoo::mbarrier barrier;
  auto* dynamic = kzoo::dynamic_shared<float>();
  init(barrier, 1);
  kzoo::cluster_sync();
  const unsigned rank = kzoo::cluster_rank(), t = threadIdx.x;
  if (t == 0) barrier.arrive_and_expect(bytes);
  const auto value = static_cast<float>(8 * rank + t);
  if (t < 8)
    kzoo::store_to_block({value, value, value, -value}, dynamic + 4 * t, barrier, rank ^ 1);
  barrier.wait(0);
  out[32 * rank + t] = dynamic[t];
}

__global__ void store_past_a_boundary() {
  __shared__ kzoo::mbarrier barrier;
  auto* dynamic = kzoo::dynamic_shared<float>();
  init(barrier, 1);
  kzoo::cluster_sync();
  kzoo::store_to_block({1, 2, 3, 4}, dynamic + 1, barrier, 0);
}

__global__ void count_at_barrier(int* count) {
  kzoo::cluster_sync();
  atomicAdd(count, 1);
}

__global__ void reach_ended_block() {
  auto* dynamic = kzoo::dynamic_shared<float>();
  dynamic[threadIdx.x] = 1;
  kzoo::cluster_sync();
  if (kzoo::cluster_rank() == 0) return;
  __syncthreads();
  kzoo::load_of_block(dynamic, 0);
}

template <class... P, class... A>
std::string cluster_failure(void (*kernel)(P...), A... args) {
  return error_text(KZOO_ERROR, [&] {
    kzoo::launch({.grid = dim3(2), .block = dim3(32), .dynamic_shared = 128, .cluster = dim3(2)},
                 kernel, args...);
  });
}

}  // namespace

TEST_CASE("phases of mbarriers order a writer and a reader", "[sim]") {
  std::vector<int> sum(32, 0);
  kzoo::launch({.grid = dim3(1), .block = dim3(64)}, ping_pong, sum.data(), 7);
  CHECK(sum == std::vector<int>(32, 21));
}

TEST_CASE("a wait that never ends says what its mbarrier lacks", "[sim]") {
  CHECK_THAT(failure(dim3(2), wait_for_missing),
             ContainsSubstring("deadlock: kernel wait_for_missing, block (0,0,0): 2 of 2 threads "
                               "wait at mbarrier.wait(0) of the mbarrier at byte ") &&
                 ContainsSubstring(" of static shared memory, which lacks 2 of 3 arrivals and 64 "
                                   "bytes (sim_mbarrier.cpp:"));
}

TEST_CASE("misuse of mbarriers has a name", "[sim]") {
  CHECK_THAT(failure(dim3(1), not_initialised), ContainsSubstring("has not been initialised"));
  CHECK_THAT(failure(dim3(2), not_fenced),
             ContainsSubstring("is used before the thread that called init() (sim_mbarrier.cpp:") &&
                 ContainsSubstring("has called fence_mbarrier_init()"));
  CHECK_THAT(failure(dim3(1), one_arrival_more),
             ContainsSubstring("gets more than the 1 arrivals of its phase, which lacks 16 bytes"));
  CHECK_THAT(failure(dim3(1), number_of_a_phase),
             ContainsSubstring("mbarrier.wait(2) (sim_mbarrier.cpp:") &&
                 ContainsSubstring("): a parity is 0 or 1"));
  CHECK_THAT(failure(dim3(1), expects_for_nobody),
             ContainsSubstring("a block has ended while the mbarrier at byte ") &&
                 ContainsSubstring("lacks 16 bytes"));
  const auto failure_with_memory = [](void (*kernel)()) {
    return error_text(KZOO_ERROR, [&] {
      kzoo::launch({.grid = dim3(1), .block = dim3(1), .dynamic_shared = 8}, kernel);
    });
  };
  CHECK(failure_with_memory(reused) == "no error");
  CHECK_THAT(failure_with_memory(overwritten),
             ContainsSubstring("the mbarrier at byte 0 of dynamic shared memory (sim_mbarrier") &&
                 ContainsSubstring("has been overwritten since its init() (sim_mbarrier.cpp:"));
}

TEST_CASE("a phase ends only when those who wait for the last one have seen its end", "[sim]") {
  CHECK_THAT(failure(dim3(2), ends_twice),
             ContainsSubstring("ends two phases while thread (1,0,0) is at mbarrier.wait(0) "
                               "(sim_mbarrier.cpp:") &&
                 ContainsSubstring(") for the first, whose end it may miss"));
}

TEST_CASE("a block has a limited number of registers", "[sim]") {
  const dim3 block(3 * kzoo::kWarpgroup);
  CHECK(failure(block, exchange_registers<exchange_of::all>) == "no error");
  CHECK_THAT(failure(block, exchange_registers<exchange_of::too_few>),
             ContainsSubstring("deadlock: ") &&
                 ContainsSubstring("wait at request_registers<240>() for 72 more registers each, "
                                   "of which its block has 56, (sim_mbarrier.cpp:"));
  CHECK_THAT(
      failure(block, exchange_registers<exchange_of::one_warp>),
      ContainsSubstring("setmaxnreg (sim_mbarrier.cpp:") &&
          ContainsSubstring("for all threads of a warpgroup, and some have not executed it"));
}

TEST_CASE("a failed kernel leaves no barrier behind", "[sim]") {
  for (int i = 0; i < 2; ++i) {
    CHECK_THAT(failure(dim3(64), barrier_without_others), ContainsSubstring("deadlock"));
    std::vector<int> sum(32, 0);
    kzoo::launch({.grid = dim3(1), .block = dim3(64)}, ping_pong, sum.data(), 2);
    CHECK(sum == std::vector<int>(32, 1));
  }
}

TEST_CASE("named barriers are for some warps", "[sim]") {
  std::vector<int> order(6);
  kzoo::launch({.grid = dim3(1), .block = dim3(128)}, in_pairs, order.data());
  CHECK(order == std::vector<int>{32, 64, 96, 32, 64, 96});
  for (const int which : {3, 63, 64}) {
    std::vector<int> out(64, -1);
    kzoo::launch({.grid = dim3(1), .block = dim3(64)}, any_of, out.data(), which);
    CHECK(out == std::vector<int>(64, which < 64));
  }
}

TEST_CASE("arrivals at named barriers end with their block", "[sim]") {
  constexpr unsigned kBlocks = 300;  // more than there are OS threads
  std::vector<int> out(64 * kBlocks, -1);
  kzoo::launch({.grid = dim3(kBlocks), .block = dim3(64)}, arrive_at_the_end, out.data());
  int wrong = 0;
  for (unsigned i = 0; i < out.size(); ++i) wrong += out[i] != static_cast<int>(63 - i % 64);
  CHECK(wrong == 0);
}

TEST_CASE("misuse of named barriers has a name", "[sim]") {
  CHECK_THAT(failure(dim3(64), barrier_without_others),
             ContainsSubstring("32 of 64 threads wait at named barrier 4, where 32 of 64 threads "
                               "have arrived, (sim_mbarrier.cpp:"));
  CHECK_THAT(failure(dim3(64), barrier_of_two_sizes),
             ContainsSubstring("named barrier 4 (sim_mbarrier.cpp:") &&
                 ContainsSubstring("is for 32 threads, and others have arrived at it for 64"));
  CHECK_THAT(failure(dim3(32), barrier_zero),
             ContainsSubstring("named barrier 0 (sim_mbarrier.cpp:") &&
                 ContainsSubstring("does not exist: there are 1 to 15"));
  CHECK_THAT(failure(dim3(32), barrier_without_others),
             ContainsSubstring("is for 64 threads of a block that has 32"));
}

TEST_CASE("blocks of a cluster have shared memory of their own, and read that of others", "[sim]") {
  constexpr unsigned kBlocks = 6;
  std::vector<float> out(2 * 32 * kBlocks, 0);
  kzoo::launch(
      {.grid = dim3(kBlocks), .block = dim3(32), .dynamic_shared = 128, .cluster = dim3(2)},
      exchange, out.data());
  int wrong = 0;
  for (unsigned block = 0; block < kBlocks; ++block) {
    for (unsigned t = 0; t < 32; ++t) {
      const auto others = static_cast<float>(100 * (block ^ 1) + 31 - t);
      const auto own = static_cast<float>(100 * block + t);
      wrong += out[2 * (32 * block + t)] != others;
      wrong += out[2 * (32 * block + t) + 1] != own - others;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("threads arrive at mbarriers of other blocks of their cluster", "[sim]") {
  std::vector<int> out(64, 0);
  CHECK(cluster_failure(arrive_elsewhere, out.data()) == "no error");
  CHECK(out == std::vector<int>(64, 1));
}

TEST_CASE("threads store into other blocks of their cluster", "[sim]") {
  std::vector<float> out(64, 0);
  CHECK(cluster_failure(store_elsewhere, out.data(), 128u) == "no error");
  for (int i = 0; i < 64; ++i) {
    const float of_thread = static_cast<float>(8 * (1 - i / 32) + i % 32 / 4);
    CHECK(out[i] == (i % 4 == 3 ? -of_thread : of_thread));
  }
  CHECK_THAT(cluster_failure(store_elsewhere, out.data(), 144u),
             ContainsSubstring("mbarrier.wait(0)") && ContainsSubstring("lacks 16 bytes"));
  CHECK_THAT(cluster_failure(store_past_a_boundary),
             ContainsSubstring("store_to_block() (sim_mbarrier.cpp:") &&
                 ContainsSubstring("stores 16 bytes at an address that is no multiple of it"));
}

TEST_CASE("clusters of many threads have enough stacks", "[sim]") {
  int count = 0;
  kzoo::launch({.grid = dim3(64), .block = dim3(512), .cluster = dim3(8)}, count_at_barrier,
               &count);
  CHECK(count == 64 * 512);
}

TEST_CASE("the shared memory of a block ends with it", "[sim]") {
  CHECK_THAT(cluster_failure(reach_ended_block),
             ContainsSubstring("load_of_block() (sim_mbarrier.cpp:") &&
                 ContainsSubstring("reaches block 0 of the cluster, which has ended"));
}

TEST_CASE("clusters that no device has are refused", "[sim]") {
  const auto refused = [](const dim3& grid, const dim3& cluster) {
    return error_text(KZOO_LAUNCH_FAILED, [&] {
      kzoo::launch({.grid = grid, .block = dim3(128), .cluster = cluster}, barrier_zero);
    });
  };
  CHECK_THAT(refused(dim3(3), dim3(2)),
             ContainsSubstring("cluster (2,1,1) does not divide the grid (3,1,1)"));
  CHECK_THAT(refused(dim3(16), dim3(16)), ContainsSubstring("has more than 8 blocks"));
  CHECK_THAT(refused(dim3(2), dim3(0)), ContainsSubstring("cluster (0,1,1) is empty"));
}

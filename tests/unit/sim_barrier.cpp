#include <algorithm>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

// Each thread reads what its neighbour wrote in the step before: wrong without both barriers.
__global__ void rotate(int* out, int steps) {
  __shared__ int values[1024];
  const unsigned t = threadIdx.x;
  values[t] = static_cast<int>(t + 1000 * blockIdx.x);
  for (int i = 0; i < steps; ++i) {
    __syncthreads();
    const int next = values[(t + 1) % blockDim.x];
    __syncthreads();
    values[t] = next;
  }
  out[blockIdx.x * blockDim.x + t] = values[t];
}

__global__ void votes(int* out, int limit) {
  const int mine = static_cast<int>(threadIdx.x) < limit;
  const int count = __syncthreads_count(mine);
  const int all = __syncthreads_and(mine);
  const int any = __syncthreads_or(mine);
  out[threadIdx.x] = count * 4 + all * 2 + any;
}

__global__ void exit_early() {
  if (threadIdx.x >= 32) return;
  __syncthreads();
}

__global__ void one_missing(int* before) {
  atomicAdd(before, 1);
  if (threadIdx.x != 17 || threadIdx.y != 1) __syncthreads();
}

__global__ void two_places() {
  if (threadIdx.x < 8) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void half_at_shuffle(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  __syncthreads();
}

__global__ void every_third() {
  if (threadIdx.x % 3 == 0) __syncthreads();
}

__global__ void noexcept_wait(bool diverge) noexcept {
  if (diverge && threadIdx.x == 0) return;
  __syncthreads();
}

__global__ void wait_for_flag(volatile int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) __nanosleep(100);
    *out = *flag;
  } else if (threadIdx.x == 40) {
    *flag = 7;
  }
}

template <class... P, class... A>
std::string divergence(dim3 block, void (*kernel)(P...), A... args) {
  return error_text(KZOO_ERROR,
                    [&] { kzoo::launch({.grid = dim3(1), .block = block}, kernel, args...); });
}

}  // namespace

TEST_CASE("__syncthreads orders shared memory", "[sim]") {
  for (const unsigned threads : {1u, 32u, 33u, 256u, 1024u}) {
    std::vector<int> out(8 * threads);
    kzoo::launch({.grid = dim3(8), .block = dim3(threads)}, rotate, out.data(), 5);
    int wrong = 0;
    for (unsigned b = 0; b < 8; ++b) {
      for (unsigned t = 0; t < threads; ++t) {
        wrong += out[b * threads + t] != static_cast<int>((t + 5) % threads + 1000 * b);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("barriers that vote", "[sim]") {
  for (const int limit : {0, 1, 63, 64}) {
    std::vector<int> out(64);
    kzoo::launch({.grid = dim3(1), .block = dim3(64)}, votes, out.data(), limit);
    const int expected = limit * 4 + (limit == 64) * 2 + (limit > 0);
    CHECK(std::count(out.begin(), out.end(), expected) == 64);
  }
}

TEST_CASE("a barrier that some threads left behind", "[sim]") {
  const std::string text = divergence(dim3(64), exit_early);
  CHECK_THAT(text, ContainsSubstring("divergent barrier: kernel exit_early, block (0,0,0): "
                                     "32 of 64 threads wait at __syncthreads (sim_barrier.cpp:"));
  CHECK_THAT(text, ContainsSubstring("): (0,0,0) ... (31,0,0); 32 have exited: (32,0,0) ... "
                                     "(63,0,0)"));
}

TEST_CASE("one thread out of a 2-D block misses the barrier", "[sim]") {
  int before = 0;
  const std::string text = divergence(dim3(32, 2), one_missing, &before);
  CHECK(before == 64);
  CHECK_THAT(text, ContainsSubstring("63 of 64 threads wait at __syncthreads"));
  CHECK_THAT(text, ContainsSubstring("(0,0,0) ... (16,1,0), (18,1,0) ... (31,1,0)"));
  CHECK_THAT(text, ContainsSubstring("1 have exited: (17,1,0)"));
}

TEST_CASE("two barriers in two branches are two barriers", "[sim]") {
  const std::string text = divergence(dim3(32), two_places);
  CHECK_THAT(text, ContainsSubstring("8 of 32 threads wait at __syncthreads"));
  CHECK_THAT(text, ContainsSubstring("; 24 wait at __syncthreads"));
}

TEST_CASE("half a warp at a shuffle and half at a barrier", "[sim]") {
  int out[32] = {};
  const std::string text = divergence(dim3(32), half_at_shuffle, &out[0]);
  CHECK_THAT(text, ContainsSubstring("16 of 32 threads wait at __shfl_sync with mask 0xffffffff"));
  CHECK_THAT(text, ContainsSubstring("; 16 wait at __syncthreads"));
}

TEST_CASE("a long list of threads is cut", "[sim]") {
  const std::string text = divergence(dim3(1024), every_third);
  CHECK_THAT(text, ContainsSubstring(": (0,0,0), (3,0,0), (6,0,0), (9,0,0) and 338 more"));
  CHECK(text.size() < 400);
}

TEST_CASE("a divergent noexcept kernel is an error like any other", "[sim]") {
  CHECK_THAT(divergence(dim3(32), noexcept_wait, true), ContainsSubstring("31 of 32 threads wait"));
  CHECK(divergence(dim3(32), noexcept_wait, false) == "no error");
}

TEST_CASE("the block that failed is named", "[sim]") {
  const auto text = error_text(
      KZOO_ERROR, [] { kzoo::launch({.grid = dim3(3, 2), .block = dim3(33)}, exit_early); });
  CHECK_THAT(text, ContainsSubstring("block (0,0,0)"));
}

TEST_CASE("a thread that spins with __nanosleep lets the others run", "[sim]") {
  int flag = 0;
  int out = 0;
  kzoo::launch({.grid = dim3(1), .block = dim3(64)}, wait_for_flag, &flag, &out);
  CHECK(out == 7);
}

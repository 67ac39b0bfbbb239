#include <kzoo/dependent_launch.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

__global__ void count_visits(int* visits, unsigned* wrong) {
  if (blockDim.x != 3 || blockDim.y != 4 || blockDim.z != 5) atomicAdd(wrong, 1);
  if (gridDim.x != 2 || gridDim.y != 3 || gridDim.z != 4) atomicAdd(wrong, 1);
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  ++visits[(z * 12 + y) * 6 + x];
}

struct big_argument {
  double values[8];
};

__global__ void store_arguments(double* out, big_argument big, long long wide, float narrow) {
  out[0] = big.values[7];
  out[1] = static_cast<double>(wide);
  out[2] = narrow;
  big.values[7] = -1;  // its own copy
}

__global__ void nothing() {}
__global__ void wait_if(bool waits) {
  if (waits && threadIdx.x == 0) kzoo::wait_for_previous();
}

// Each block waits for the last one.
__global__ void wait_for_last_block(int* flag) {
  if (blockIdx.x + 1 == gridDim.x) atomicExch(flag, 1);
  while (atomicAdd(flag, 0) == 0) __nanosleep(20);
}

__global__ void throw_in_block(unsigned bad_block, int* ran) {
  atomicAdd(ran, 1);
  if (blockIdx.x == bad_block && threadIdx.x == 5) throw std::out_of_range("thrown in a kernel");
  __syncthreads();
}

template <class... T>
__global__ void trap_with() {
  __trap();
}

__global__ void trap_once() {
  if (threadIdx.x == 3) __trap();
  __syncthreads();
}

__global__ void mark(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void launches() { kzoo::launch({.grid = dim3(1), .block = dim3(1)}, nothing); }

__global__ void deep_frames(int* out, int depth) {
  volatile char frame[512] = {};
  frame[depth % 512] = 1;
  if (depth > 0) deep_frames(out, depth - 1);
  out[threadIdx.x] += frame[depth % 512];
  if (depth == 50) __syncthreads();
}

// A frame of `kKibibytes`, of which every page is written and read.
template <int kKibibytes>
__global__ void large_frame(int* out) {
  volatile char local[kKibibytes * 1024];
  for (int i = 0; i < kKibibytes; ++i) local[i * 1024] = 1;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < kKibibytes; ++i) sum += local[i * 1024];
  out[threadIdx.x] = sum;
}

[[gnu::no_sanitize("alignment")]] __global__ void load_four(const float* from, float4* to) {
  *to = *reinterpret_cast<const float4*>(from + threadIdx.x);
}

std::string refused(kzoo::launch_config config) {
  return error_text(KZOO_LAUNCH_FAILED, [&] { kzoo::launch(config, nothing); });
}

}  // namespace

TEST_CASE("a dependent launch waits for the previous launch", "[sim]") {
  const auto launch = [](bool dependent, bool waits) {
    return error_text(KZOO_ERROR, [&] {
      kzoo::launch({.grid = dim3(2), .block = dim3(32), .dependent = dependent}, wait_if, waits);
    });
  };
  CHECK(launch(true, true) == "no error");
  CHECK(launch(false, false) == "no error");
  CHECK(launch(true, false) == "kernel wait_if: a dependent launch without wait_for_previous()");
}

TEST_CASE("blocks may wait for more blocks than there are OS threads", "[sim]") {
  int flag = 0;
  kzoo::launch({.grid = dim3(24), .block = dim3(32)}, wait_for_last_block, &flag);
  CHECK(flag == 1);
}

TEST_CASE("every thread of a three-dimensional launch runs exactly once", "[sim]") {
  std::vector<int> visits(6 * 12 * 20);
  unsigned wrong = 0;
  kzoo::launch({.grid = dim3(2, 3, 4), .block = dim3(3, 4, 5)}, count_visits, visits.data(),
               &wrong);
  CHECK(wrong == 0);
  CHECK(std::count(visits.begin(), visits.end(), 1) == 6 * 12 * 20);
}

TEST_CASE("arguments are converted to the parameters' types and copied", "[sim]") {
  double out[3] = {};
  big_argument big{};
  big.values[7] = 42;
  kzoo::launch({.grid = dim3(2), .block = dim3(64)}, store_arguments, out, big, 7, 2.5);
  CHECK(out[0] == 42);
  CHECK(out[1] == 7);
  CHECK(out[2] == 2.5);
  CHECK(big.values[7] == 42);
}

TEST_CASE("launch limits are refused in CUDA's words", "[sim]") {
  const std::string invalid =
      "launch failed: cudaErrorInvalidConfiguration (invalid configuration argument): ";
  CHECK(refused({.grid = dim3(1), .block = dim3(2048)}) ==
        invalid + "2048 threads per block > 1024");
  CHECK(refused({.grid = dim3(1), .block = dim3(32, 33)}) ==
        invalid + "1056 threads per block > 1024");
  CHECK(refused({.grid = dim3(1), .block = dim3(1, 1, 65)}) == invalid + "block.z 65 > 64");
  CHECK(refused({.grid = dim3(0), .block = dim3(1)}) == invalid + "empty grid (0,1,1)");
  CHECK(refused({.grid = dim3(1), .block = dim3(1, 0)}) == invalid + "empty block (1,0,1)");
  CHECK(refused({.grid = dim3(2147483648u), .block = dim3(1)}) ==
        invalid + "grid.x 2147483648 > 2147483647");
  CHECK(refused({.grid = dim3(1, 65536), .block = dim3(1)}) == invalid + "grid.y 65536 > 65535");
  CHECK(refused({.grid = dim3(1, 1, 65536), .block = dim3(1)}) == invalid + "grid.z 65536 > 65535");
  CHECK_THAT(refused({.grid = dim3(1), .block = dim3(0xffffffffu, 0xffffffffu, 2)}),
             ContainsSubstring("threads per block > 1024"));
  CHECK(refused({.grid = dim3(1), .block = dim3(1024), .max_threads = 256}) ==
        "launch failed: 1024 threads per block where the kernel is built for at most 256");
  CHECK_NOTHROW(
      kzoo::launch({.grid = dim3(1), .block = dim3(16, 1, 64), .max_threads = 1024}, nothing));
}

TEST_CASE("a C++ exception in a kernel reaches the launcher", "[sim]") {
  int ran = 0;
  CHECK_THROWS_AS(kzoo::launch({.grid = dim3(4), .block = dim3(32)}, throw_in_block, 2u, &ran),
                  std::out_of_range);
  CHECK(ran > 0);
}

TEST_CASE("blocks after a failed one are not started", "[sim]") {
  int ran = 0;
  CHECK_THROWS_AS(kzoo::launch({.grid = dim3(100000), .block = dim3(32)}, throw_in_block, 0u, &ran),
                  std::out_of_range);
  CHECK(ran < 100000 * 32 / 2);
}

TEST_CASE("__trap ends the launch and names kernel and block", "[sim]") {
  const auto text =
      error_text(KZOO_ERROR, [] { kzoo::launch({.grid = dim3(1), .block = dim3(32)}, trap_once); });
  CHECK(text == "kernel trap_once, block (0,0,0): __trap() was called");
}

TEST_CASE("a kernel's name has the types of its source", "[sim]") {
  const auto text = error_text(KZOO_ERROR, [] {
    kzoo::launch({.grid = dim3(1), .block = dim3(32)}, trap_with<__half, float, __nv_bfloat16>);
  });
  CHECK(text ==
        "kernel trap_with<__half, float, __nv_bfloat16>, block (0,0,0): __trap() was called");
}

TEST_CASE("the simulator works on after errors", "[sim]") {
  for (int i = 0; i < 200; ++i) {
    int ran = 0;
    CHECK_THROWS(kzoo::launch({.grid = dim3(2), .block = dim3(64)}, throw_in_block, 0u, &ran));
  }
  std::vector<int> out(1000 * 64);
  kzoo::launch({.grid = dim3(1000), .block = dim3(64)}, mark, out.data());
  CHECK(std::accumulate(out.begin(), out.end(), 0) == 64000);
}

TEST_CASE("a launch from device code is refused", "[sim]") {
  CHECK_THAT(
      error_text(KZOO_ERROR, [] { kzoo::launch({.grid = dim3(1), .block = dim3(1)}, launches); }),
      ContainsSubstring("kzoo::launch was called by device code"));
}

TEST_CASE("host threads may launch at the same time", "[sim]") {
  std::vector<std::vector<int>> outs(4, std::vector<int>(256 * 32));
  std::vector<std::thread> threads;
  for (auto& out : outs) {
    threads.emplace_back([&out] {
      for (int i = 0; i < 20; ++i) {
        std::fill(out.begin(), out.end(), 0);
        kzoo::launch({.grid = dim3(256), .block = dim3(32)}, mark, out.data());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& out : outs) CHECK(std::accumulate(out.begin(), out.end(), 0) == 256 * 32);
}

TEST_CASE("a thread has 512 KiB of local memory", "[sim]") {
  int out[64] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(64)}, deep_frames, out, 50);
  CHECK(std::count(out, out + 64, 51) == 64);
  kzoo::launch({.grid = dim3(1), .block = dim3(64)}, large_frame<160>, out);
  CHECK(std::count(out, out + 64, 160) == 64);
  kzoo::launch({.grid = dim3(1), .block = dim3(64)}, large_frame<511>, out);
  CHECK(std::count(out, out + 64, 511) == 64);
}

TEST_CASE("a stack overflow names the kernel and ends the launch only", "[sim]") {
  int out[32] = {};
  for (int i = 0; i < 3; ++i) {
    CHECK(error_text(KZOO_ERROR,
                     [&] {
                       kzoo::launch({.grid = dim3(1), .block = dim3(32)}, large_frame<2048>, out);
                     }) ==
          "kernel large_frame<2048>, block (0,0,0): its local variables overflow the stack: a "
          "thread has 512 KiB of local memory");
    CHECK_THAT(
        error_text(
            KZOO_ERROR,
            [&] { kzoo::launch({.grid = dim3(1), .block = dim3(1)}, deep_frames, out, 100000); }),
        ContainsSubstring("kernel deep_frames, block (0,0,0): its local variables"));
    kzoo::launch({.grid = dim3(1), .block = dim3(32)}, large_frame<64>, out);
    CHECK(std::count(out, out + 32, 64) == 32);
  }
}

TEST_CASE("a misaligned vector access is called so", "[sim]") {
  alignas(16) float from[8] = {1, 2, 3, 4};
  float4 to{};
  kzoo::launch({.grid = dim3(1), .block = dim3(1)}, load_four, from, &to);
  CHECK(to.w == 4);
  CHECK_THAT(
      error_text(KZOO_ERROR,
                 [&] { kzoo::launch({.grid = dim3(1), .block = dim3(2)}, load_four, from, &to); }),
      ContainsSubstring("kernel load_four, block (0,0,0): misaligned address"));
}

// The simulator's side of async_copy.hpp: a copy is done by the wait for it.
#include <kzoo/async_copy.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

namespace {

constexpr int kThreads = 8;

// Each thread copies kCount floats to shared memory, if they are inside, and reads its neighbour's.
template <int kCount>
__global__ void copy_and_rotate(const float* from, float* to, int inside) {
  __shared__ __align__(16) float tile[kThreads * kCount];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < kCount; ++i) tile[t * kCount + i] = NAN;
  kzoo::copy_async<4 * kCount>(&tile[t * kCount], from + t * kCount, t < inside);
  kzoo::commit_group();
  kzoo::wait_group<0>();
  __syncthreads();
  for (int i = 0; i < kCount; ++i) {
    to[t * kCount + i] = tile[(t + 1) % kThreads * kCount + i];
  }
}

// Three copies in two groups: what is there after a wait for all but kPending groups.
template <int kPending>
__global__ void copy_in_groups(const float* from, float* to) {
  __shared__ float tile[3];
  for (int i = 0; i < 3; ++i) {
    kzoo::copy_async<4>(&tile[i], from + i);
    if (i != 0) kzoo::commit_group();
  }
  kzoo::wait_group<kPending>();
  for (int i = 0; i < 3; ++i) to[i] = tile[i];
}

template <int kCount>
void check() {
  constexpr int kInside = 5;
  std::vector<float> from(kInside * kCount),
      to(kThreads * kCount, NAN);  // no more to read than that
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
  kzoo::launch({.grid = dim3(1), .block = dim3(kThreads)}, copy_and_rotate<kCount>, from.data(),
               to.data(), kInside);
  for (int t = 0; t < kThreads; ++t) {
    const int source = (t + 1) % kThreads;
    for (int i = 0; i < kCount; ++i) {
      INFO("thread " << t << ", float " << i << " of " << kCount);
      CHECK(to[t * kCount + i] ==
            (source < kInside ? static_cast<float>(source * kCount + i + 1) : 0.0f));
    }
  }
}

}  // namespace

TEST_CASE("an asynchronous copy brings its bytes, or zeros for what is outside", "[sim]") {
  check<1>();
  check<2>();
  check<4>();
}

TEST_CASE("an asynchronous copy is not there before the wait for its group", "[sim]") {
  const std::vector<float> from{1, 2, 3};
  const auto there = [&](void (*kernel)(const float*, float*)) {
    std::vector<float> to(3);
    kzoo::launch({.grid = dim3(1), .block = dim3(1)}, kernel, from.data(), to.data());
    return 3 - std::count_if(to.begin(), to.end(), [](float x) { return std::isnan(x); });
  };
  CHECK(there(copy_in_groups<0>) == 3);
  CHECK(there(copy_in_groups<1>) == 2);
  CHECK(there(copy_in_groups<2>) == 0);
}

// The simulator's side of async_copy.hpp: a copy that is done when the call returns.
#include <kzoo/async_copy.hpp>

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

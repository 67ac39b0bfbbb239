#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::error_text;

namespace {

__global__ void reverse(int* out) {
  int* values = kzoo::dynamic_shared<int>();
  values[threadIdx.x] = static_cast<int>(threadIdx.x + 100 * blockIdx.x);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

__global__ void read_before_write(int* nans, bool* aligned) {
  float* values = kzoo::dynamic_shared<float>();
  if (std::isnan(values[threadIdx.x])) atomicAdd(nans, 1);
  values[threadIdx.x] = 1.0f;
  if (threadIdx.x == 0) *aligned = reinterpret_cast<std::uintptr_t>(values) % 128 == 0;
}

template <int kTag>
__global__ void big_dynamic(char* out, std::size_t bytes) {
  char* values = kzoo::dynamic_shared<char>();
  values[bytes - 1] = 5;
  *out = values[bytes - 1];
}

template <int kSize>
__global__ void two_arrays(std::uintptr_t* out) {
  alignas(64) __shared__ float a[kSize];
  __shared__ __align__(16) float b[kSize];
  a[threadIdx.x] = 1.0f;
  b[threadIdx.x] = 2.0f;
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = reinterpret_cast<std::uintptr_t>(a);
    out[1] = reinterpret_cast<std::uintptr_t>(b);
    out[2] = static_cast<std::uintptr_t>(a[kSize - 1] * 10 + b[kSize - 1]);
  }
}

struct cells {
  int i;
  unsigned u;
  unsigned long long ull;
  float f;
  double d;
  int least, most;
  long long most_wide;
  unsigned all, any, odd;
  unsigned wraps, down;
  int locked;
  int cas_sum;
  int subtracted;
};

__global__ void many_atomics(cells* c) {
  const auto t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto u = static_cast<unsigned>(t);
  atomicAdd(&c->i, 1);
  atomicAdd(&c->u, 2u);
  atomicAdd(&c->ull, 1ull << 33);
  atomicAdd(&c->f, 1.0f);
  atomicAdd(&c->d, 0.5);
  atomicSub(&c->subtracted, 3);
  atomicMin(&c->least, 50 - t);
  atomicMax(&c->most, t);
  atomicMax(&c->most_wide, t * 10000000000LL);
  atomicAnd(&c->all, ~(1u << u % 32));
  atomicOr(&c->any, 1u << u % 31);
  atomicXor(&c->odd, 1u);
  atomicInc(&c->wraps, 9u);
  atomicDec(&c->down, 9u);
  while (atomicCAS(&c->locked, 0, 1) != 0) {
  }
  __threadfence();
  c->cas_sum = c->cas_sum + 1;
  __threadfence();
  atomicExch(&c->locked, 0);
}

__global__ void block_counter(int* out) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = counter;
}

}  // namespace

TEST_CASE("dynamic shared memory is the block's own", "[sim]") {
  std::vector<int> out(20 * 128);
  kzoo::launch({.grid = dim3(20), .block = dim3(128), .dynamic_shared = 512}, reverse, out.data());
  int wrong = 0;
  for (int i = 0; i < 20 * 128; ++i) {
    wrong += out[static_cast<std::size_t>(i)] != 127 - i % 128 + 100 * (i / 128);
  }
  CHECK(wrong == 0);
}

TEST_CASE("dynamic shared memory is poisoned before each block", "[sim]") {
  int nans = 0;
  bool aligned = false;
  kzoo::launch({.grid = dim3(50), .block = dim3(64), .dynamic_shared = 256}, read_before_write,
               &nans, &aligned);
  CHECK(nans == 50 * 64);
  CHECK(aligned);
}

TEST_CASE("more than 48 KB of dynamic shared memory must be allowed first", "[sim]") {
  const auto launch = [](std::size_t bytes) {
    char out = 0;
    kzoo::launch({.grid = dim3(1), .block = dim3(1), .dynamic_shared = bytes}, big_dynamic<0>, &out,
                 bytes);
    CHECK(out == 5);
  };
  launch(49152);
  CHECK(error_text(KZOO_LAUNCH_FAILED, [&] { launch(49153); }) ==
        "launch failed: cudaErrorInvalidValue (invalid argument): 49153 bytes of dynamic shared "
        "memory > 49152 allowed for this kernel: call kzoo::allow_dynamic_shared(kernel, bytes) "
        "before");
  kzoo::allow_dynamic_shared(big_dynamic<0>, 100000);
  launch(100000);
  CHECK(error_text(KZOO_LAUNCH_FAILED, [&] { launch(100001); }) != "no error");
  kzoo::allow_dynamic_shared(big_dynamic<0>, 60000);  // for another problem
  launch(100000);
  kzoo::allow_dynamic_shared(big_dynamic<0>, 227 * 1024);
  launch(227 * 1024);
  CHECK(error_text(KZOO_LAUNCH_FAILED,
                   [] { kzoo::allow_dynamic_shared(big_dynamic<0>, 227 * 1024 + 1); }) ==
        "allow_dynamic_shared failed: cudaErrorInvalidValue (invalid argument): 232449 bytes of "
        "dynamic shared memory > 232448 on this device");
}

TEST_CASE("what one kernel may have, another may not", "[sim]") {
  kzoo::allow_dynamic_shared(big_dynamic<1>, 60000);
  char out = 0;
  CHECK(error_text(KZOO_LAUNCH_FAILED, [&] {
          kzoo::launch({.grid = dim3(1), .block = dim3(1), .dynamic_shared = 60000}, big_dynamic<2>,
                       &out, std::size_t{60000});
        }) != "no error");
}

TEST_CASE("__shared__ arrays in a template are apart and aligned", "[sim]") {
  std::uintptr_t out[3] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, two_arrays<32>, out);
  CHECK(out[0] % 64 == 0);
  CHECK(out[1] % 16 == 0);
  CHECK(out[0] != out[1]);
  CHECK(out[2] == 12);
}

TEST_CASE("atomics over many blocks are exact", "[sim]") {
  constexpr int kThreads = 200 * 128;
  cells c{};
  c.all = 0xffffffffu;
  c.down = 0;
  kzoo::launch({.grid = dim3(200), .block = dim3(128)}, many_atomics, &c);
  CHECK(c.i == kThreads);
  CHECK(c.u == 2u * kThreads);
  CHECK(c.ull == (1ull << 33) * kThreads);
  CHECK(c.f == static_cast<float>(kThreads));
  CHECK(c.d == 0.5 * kThreads);
  CHECK(c.subtracted == -3 * kThreads);
  CHECK(c.least == 50 - (kThreads - 1));
  CHECK(c.most == kThreads - 1);
  CHECK(c.most_wide == (kThreads - 1) * 10000000000LL);
  CHECK(c.all == 0);
  CHECK(c.any == 0x7fffffffu);
  CHECK(c.odd == 0);
  CHECK(c.wraps == kThreads % 10);
  CHECK(c.down == 0);  // 10 steps a turn
  CHECK(c.cas_sum == kThreads);
}

TEST_CASE("atomics on shared memory count within the block", "[sim]") {
  std::vector<int> out(64);
  kzoo::launch({.grid = dim3(64), .block = dim3(96)}, block_counter, out.data());
  CHECK(out == std::vector<int>(64, 96));
}

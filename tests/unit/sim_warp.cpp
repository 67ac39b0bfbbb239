#include <algorithm>
#include <cmath>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

constexpr unsigned kFull = 0xffffffffu;

struct shuffles {
  int idx, up, down, xor_;
};

__global__ void shuffle_all(shuffles* out, int source, unsigned delta, int lane_mask, int width) {
  const int value = 100 + static_cast<int>(threadIdx.x);
  out[threadIdx.x] = {__shfl_sync(kFull, value, source, width),
                      __shfl_up_sync(kFull, value, delta, width),
                      __shfl_down_sync(kFull, value, delta, width),
                      __shfl_xor_sync(kFull, value, lane_mask, width)};
}

template <class T>
__global__ void broadcast(T* out, T first) {
  const T mine = threadIdx.x == 0 ? first : T(0);
  out[threadIdx.x] = __shfl_sync(kFull, mine, 0);
}

template <class T>
std::vector<T> broadcast_of(T value) {
  std::vector<T> out(32);
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, broadcast<T>, out.data(), value);
  return out;
}

__global__ void tree_sum(float* out, const float* in, unsigned* rounds) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = in[t];
  for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(kFull, sum, delta);
  if (threadIdx.x % 32 == 0) out[t / 32] = sum;
  atomicAdd(rounds, 1);
}

// Odd and even lanes take different branches, each with its own mask, a different number of times.
__global__ void two_masks(unsigned* out) {
  unsigned result = 0;
  if (threadIdx.x % 2 == 0) {
    for (int i = 0; i < 3; ++i) result = __ballot_sync(0x55555555u, threadIdx.x % 4 == 0);
  } else {
    result = __ballot_sync(0xaaaaaaaau, threadIdx.x < 16);
  }
  out[threadIdx.x] = result;
}

__global__ void vote(int* out, int limit) {
  const int mine = static_cast<int>(threadIdx.x) < limit;
  out[threadIdx.x] = __any_sync(kFull, mine) * 2 + __all_sync(kFull, mine);
}

__global__ void reduce(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const auto bits = static_cast<unsigned>(lane);
  if (lane == 0) {
    out[0] = __reduce_add_sync(kFull, lane - 10);
    out[1] = __reduce_min_sync(kFull, lane - 10);
    out[2] = __reduce_max_sync(kFull, lane - 10);
    out[3] = static_cast<int>(__reduce_min_sync(kFull, bits - 10u));
    out[4] = static_cast<int>(__reduce_and_sync(kFull, bits | 64u));
    out[5] = static_cast<int>(__reduce_or_sync(kFull, bits));
    out[6] = static_cast<int>(__reduce_xor_sync(kFull, bits | (bits == 5 ? 128u : 0u)));
  } else {
    __reduce_add_sync(kFull, lane - 10);
    __reduce_min_sync(kFull, lane - 10);
    __reduce_max_sync(kFull, lane - 10);
    __reduce_min_sync(kFull, bits - 10u);
    __reduce_and_sync(kFull, bits | 64u);
    __reduce_or_sync(kFull, bits);
    __reduce_xor_sync(kFull, bits | (bits == 5 ? 128u : 0u));
  }
}

__global__ void match(unsigned* out) {
  out[threadIdx.x] = __match_any_sync(kFull, threadIdx.x % 3);
}

__global__ void syncwarp_rotates(int* out) {
  __shared__ int values[64];
  const unsigned t = threadIdx.x;
  values[t] = static_cast<int>(t);
  __syncwarp();
  out[t] = values[t / 32 * 32 + (t + 1) % 32];
}

__global__ void short_last_warp(unsigned* ballot, float* shuffled) {
  ballot[threadIdx.x] = __ballot_sync(kFull, 1);
  shuffled[threadIdx.x] = __shfl_down_sync(kFull, 1.0f, 8);
}

__global__ void outside_mask(float* out) {
  if (threadIdx.x < 4) out[threadIdx.x] = __shfl_sync(0xfu, 2.0f, 9);
}

__global__ void not_in_own_mask(unsigned* out) { out[threadIdx.x] = __ballot_sync(0xfffffffeu, 1); }

__global__ void names_exited_lanes(unsigned* out) {
  if (threadIdx.x % 32 >= 24) return;
  out[threadIdx.x] = __ballot_sync(kFull, 1);
}

__global__ void aggregate(unsigned* counter) {
  if (threadIdx.x % 2 != 0) return;
  const unsigned mask = __activemask();
  const int leader = __ffs(static_cast<int>(mask)) - 1;
  if (static_cast<int>(threadIdx.x % 32) == leader) {
    atomicAdd(counter, static_cast<unsigned>(__popc(mask)));
  }
  __syncwarp(mask);
}

}  // namespace

TEST_CASE("shuffles follow CUDA's rules for every width", "[sim]") {
  for (const int width : {2, 4, 8, 16, 32}) {
    for (const int amount : {0, 1, 3, 7, 20, 31}) {
      std::vector<shuffles> out(32);
      const auto delta = static_cast<unsigned>(amount);
      kzoo::launch({.grid = dim3(1), .block = dim3(32)}, shuffle_all, out.data(), amount, delta,
                   amount, width);
      int wrong = 0;
      for (int lane = 0; lane < 32; ++lane) {
        const int segment = lane / width * width;
        const int in_segment = lane % width;
        const int up = in_segment - amount < 0 ? lane : lane - amount;
        const int down = in_segment + amount >= width ? lane : lane + amount;
        const int other = (lane ^ amount) >= segment + width ? lane : lane ^ amount;
        const shuffles& got = out[static_cast<std::size_t>(lane)];
        wrong += got.idx != 100 + segment + amount % width;
        wrong += got.up != 100 + up;
        wrong += got.down != 100 + down;
        wrong += got.xor_ != 100 + other;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("shuffles carry 2, 4 and 8 bytes", "[sim]") {
  CHECK(broadcast_of(-3) == std::vector<int>(32, -3));
  CHECK(broadcast_of(4000000000u) == std::vector<unsigned>(32, 4000000000u));
  CHECK(broadcast_of(-(1LL << 40)) == std::vector<long long>(32, -(1LL << 40)));
  CHECK(broadcast_of(1.5f) == std::vector<float>(32, 1.5f));
  CHECK(broadcast_of(1e300) == std::vector<double>(32, 1e300));
  CHECK(float(broadcast_of(__float2half(0.25f))[31]) == 0.25f);
}

TEST_CASE("a tree reduction over many warps and blocks", "[sim]") {
  std::vector<float> in(16 * 256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17);
  std::vector<float> out(in.size() / 32);
  unsigned rounds = 0;
  kzoo::launch({.grid = dim3(16), .block = dim3(256)}, tree_sum, out.data(), in.data(), &rounds);
  CHECK(rounds == in.size());
  int wrong = 0;
  for (std::size_t w = 0; w < out.size(); ++w) {
    float sum = 0;
    for (std::size_t i = 0; i < 32; ++i) sum += in[w * 32 + i];
    wrong += sum != out[w];
  }
  CHECK(wrong == 0);
}

TEST_CASE("parts of a warp vote on their own", "[sim]") {
  std::vector<unsigned> out(32);
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, two_masks, out.data());
  CHECK(std::count(out.begin(), out.end(), 0x11111111u) == 16);
  CHECK(std::count(out.begin(), out.end(), 0x0000aaaau) == 16);
  CHECK(out[0] == 0x11111111u);
}

TEST_CASE("any and all", "[sim]") {
  const std::pair<int, int> cases[] = {{0, 0}, {1, 2}, {31, 2}, {32, 3}};
  for (const auto& [limit, expected] : cases) {
    std::vector<int> out(32);
    kzoo::launch({.grid = dim3(1), .block = dim3(32)}, vote, out.data(), limit);
    CHECK(std::count(out.begin(), out.end(), expected) == 32);
  }
}

TEST_CASE("reductions and matches", "[sim]") {
  int out[7] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, reduce, out);
  CHECK(out[0] == 31 * 16 - 320);
  CHECK(out[1] == -10);
  CHECK(out[2] == 21);
  CHECK(out[3] == 0);
  CHECK(out[4] == 64);
  CHECK(out[5] == 31);
  CHECK(out[6] == 128);

  unsigned matches[32] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, match, matches);
  CHECK(matches[0] == 0x49249249u);
  CHECK(matches[4] == 0x92492492u);
  CHECK(matches[31] == 0x92492492u);
}

TEST_CASE("__syncwarp orders shared memory within a warp", "[sim]") {
  int out[64] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(64)}, syncwarp_rotates, out);
  int wrong = 0;
  for (int t = 0; t < 64; ++t) wrong += out[t] != t / 32 * 32 + (t + 1) % 32;
  CHECK(wrong == 0);
}

TEST_CASE("a last warp of fewer than 32 threads may use the full mask", "[sim]") {
  unsigned ballot[48] = {};
  float shuffled[48] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(48)}, short_last_warp, ballot, shuffled);
  CHECK(ballot[0] == 0xffffffffu);
  CHECK(ballot[40] == 0x0000ffffu);
  CHECK(shuffled[32] == 1.0f);
  CHECK(std::isnan(shuffled[47]));  // from a lane that does not exist
}

TEST_CASE("a shuffle from a lane outside the mask gives NaN", "[sim]") {
  float out[4] = {};
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, outside_mask, out);
  CHECK(std::isnan(out[0]));
}

TEST_CASE("a caller that is not in its own mask", "[sim]") {
  unsigned out[32] = {};
  CHECK_THAT(
      error_text(KZOO_ERROR,
                 [&] { kzoo::launch({.grid = dim3(1), .block = dim3(32)}, not_in_own_mask, out); }),
      ContainsSubstring("kernel not_in_own_mask, block (0,0,0): thread (0,0,0), lane 0, "
                        "calls a warp operation at line"));
}

TEST_CASE("a mask that names lanes that have exited", "[sim]") {
  unsigned out[64] = {};
  const std::string text = error_text(KZOO_ERROR, [&] {
    kzoo::launch({.grid = dim3(1), .block = dim3(64)}, names_exited_lanes, out);
  });
  CHECK_THAT(text, ContainsSubstring("48 of 64 threads wait at a warp vote with mask 0xffffffff"));
  CHECK_THAT(text, ContainsSubstring("16 have exited: (24,0,0) ... (31,0,0), (56,0,0) ... "
                                     "(63,0,0)"));
}

TEST_CASE("code that aggregates over __activemask is right", "[sim]") {
  unsigned counter = 0;
  kzoo::launch({.grid = dim3(3), .block = dim3(64)}, aggregate, &counter);
  CHECK(counter == 96);
}

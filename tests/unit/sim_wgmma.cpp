// wgmma in the simulator.
#include <kzoo/async_copy.hpp>
#include <kzoo/mbarrier.hpp>
#include <kzoo/wgmma.hpp>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

// Small numbers, exact in every type; sums of their products are exact in fp32.
template <class T>
std::vector<T> operands_of(int count, int step) {
  std::vector<T> all;
  for (int i = 0; i < count; ++i) all.push_back(T(static_cast<float>((i * step + i / 7) % 9 - 4)));
  return all;
}

template <class Tile>
__device__ void fill(typename Tile::element* to, const typename Tile::element* from) {
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kElements; i += 128)
    to[Tile::offset(i / Tile::kCols, i % Tile::kCols)] = from[i];
  kzoo::fence_async_proxy();
}

// C = C + A B with one tile of 128 bytes along K.
template <class T, int N, bool kAKMajor, bool kBKMajor>
struct shape {
  static constexpr int kK = 128 / int(sizeof(T));
  using a_tile =
      std::conditional_t<kAKMajor, kzoo::swizzled_tile<T, 64, kK>, kzoo::swizzled_tile<T, kK, 64>>;
  using b_tile =
      std::conditional_t<kBKMajor, kzoo::swizzled_tile<T, N, kK>, kzoo::swizzled_tile<T, kK, N>>;
  static constexpr std::size_t kShared = a_tile::kBytes + b_tile::kBytes;

  static __device__ auto a_at(const T* a, int k) {
    if constexpr (kAKMajor) return kzoo::k_major<a_tile>(a, 0, k);
    if constexpr (!kAKMajor) return kzoo::mn_major<a_tile>(a, k, 0);
  }
  static __device__ auto b_at(const T* b, int k) {
    if constexpr (kBKMajor) return kzoo::k_major<b_tile>(b, 0, k);
    if constexpr (!kBKMajor) return kzoo::mn_major<b_tile>(b, k, 0);
  }
};

template <int N>
__device__ float& element(float* c, int i) {
  const int t = static_cast<int>(threadIdx.x);
  const int row = t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8, col = i / 4 * 8 + t % 4 * 2 + i % 2;
  return c[row * N + col];
}

template <class T, int N, class Shape>
__global__ void multiply(const T* a, const T* b, float* c, float* early) {
  auto* smem = kzoo::dynamic_shared<T>();
  auto* b_smem = smem + Shape::a_tile::kElements;
  fill<typename Shape::a_tile>(smem, a);
  fill<typename Shape::b_tile>(b_smem, b);
  __syncthreads();
  float acc[N / 2];
  for (int i = 0; i < N / 2; ++i) acc[i] = element<N>(c, i);
  kzoo::wgmma_fence();
  for (int k = 0; k < Shape::kK; k += 32 / int(sizeof(T)))
    kzoo::wgmma<N>(acc, Shape::a_at(smem, k), Shape::b_at(b_smem, k), true);
  kzoo::wgmma_commit();
  *early = acc[0];
  kzoo::wgmma_wait<0>(acc);
  for (int i = 0; i < N / 2; ++i) element<N>(c, i) = acc[i];
}

template <class T, int N, bool kAKMajor, bool kBKMajor>
int wrong_elements() {
  using S = shape<T, N, kAKMajor, kBKMajor>;
  const auto a = operands_of<T>(64 * S::kK, 5), b = operands_of<T>(N * S::kK, 3);
  std::vector<float> c(64 * N, 1.0f);
  float early = 0;
  kzoo::allow_dynamic_shared(multiply<T, N, S>, S::kShared);
  kzoo::launch({.grid = dim3(1), .block = dim3(128), .dynamic_shared = S::kShared},
               multiply<T, N, S>, a.data(), b.data(), c.data(), &early);
  CHECK(std::isnan(early));
  int wrong = 0;
  for (int row = 0; row < 64; ++row) {
    for (int col = 0; col < N; ++col) {
      float sum = 1;
      for (int k = 0; k < S::kK; ++k) {
        sum += float(a[static_cast<std::size_t>(kAKMajor ? row * S::kK + k : k * 64 + row)]) *
               float(b[static_cast<std::size_t>(kBKMajor ? col * S::kK + k : k * N + col)]);
      }
      wrong += c[static_cast<std::size_t>(row * N + col)] != sum;
    }
  }
  return wrong;
}

// A from registers: as the fragment's comment says.
enum class written { never, during, before_next, before_fence };
template <class T, int N>
__global__ void multiply_fragment(const T* a, const T* b, float* c, written when) {
  using S = shape<T, N, true, true>;
  constexpr int kInWord = 4 / int(sizeof(T));
  auto* smem = kzoo::dynamic_shared<T>();
  fill<typename S::b_tile>(smem, b);
  kzoo::fence_async_proxy();
  __syncthreads();
  const int t = static_cast<int>(threadIdx.x), row = t / 32 * 16 + t % 32 / 4;
  kzoo::wgmma_fragment<T> fragment;
  for (int i = 0; i < 4; ++i) {
    const int from = (row + i % 2 * 8) * S::kK + (i / 2 * 4 + t % 4) * kInWord;
    memcpy(&fragment.words[i], a + from, 4);
  }
  float acc[N / 2] = {};
  kzoo::wgmma_fence();
  kzoo::wgmma<N>(acc, fragment, S::b_at(smem, 0), false);
  kzoo::wgmma_commit();
  if (when == written::during) fragment.words[0] ^= 1;
  kzoo::wgmma_wait<0>(acc);
  for (int i = 0; i < N / 2; ++i) element<N>(c, i) = acc[i];
  if (when < written::before_next) return;
  if (when == written::before_next) kzoo::wgmma_fence();
  fragment.words[0] ^= 1;
  if (when == written::before_fence) kzoo::wgmma_fence();
  kzoo::wgmma<N>(acc, fragment, S::b_at(smem, 0), false);
  kzoo::wgmma_commit();
  kzoo::wgmma_wait<0>(acc);
}

// Both operands without a swizzle: parts of 8 x 8 elements, two along K after each other.
__global__ void multiply_plain(const __half* a, const __half* b, float* c, bool fences) {
  auto* smem = kzoo::dynamic_shared<__half>();
  auto* b_smem = smem + 64 * 16;
  for (int i = static_cast<int>(threadIdx.x); i < 64 * 16; i += 128) {
    const int row = i / 16, along = i % 16;
    smem[row / 8 * 128 + along / 8 * 64 + row % 8 * 8 + along % 8] = a[i];
    const int k = i / 64, col = i % 64;
    b_smem[col / 8 * 128 + k / 8 * 64 + k % 8 * 8 + col % 8] = b[i];
  }
  if (fences) kzoo::fence_async_proxy();
  __syncthreads();
  constexpr std::uint64_t kDistances = std::uint64_t{128 / 16} << 16 | std::uint64_t{256 / 16}
                                                                           << 32;
  float acc[32];
  kzoo::wgmma_fence();
  kzoo::wgmma<64>(
      acc,
      kzoo::wgmma_operand<__half, kzoo::major::k>{kzoo::shared_address(smem) / 16 | kDistances},
      kzoo::wgmma_operand<__half, kzoo::major::mn>{kzoo::shared_address(b_smem) / 16 | kDistances},
      false);
  kzoo::wgmma_commit();
  kzoo::wgmma_wait<0>(acc);
  for (int i = 0; i < 32; ++i) element<64>(c, i) = acc[i];
}

enum class mma_fault {
  none,
  no_fence,
  no_proxy_fence,
  copy_in_flight,
  no_commit,
  no_wait,
  overwritten,
  overwritten_by_copy,
  accumulator_written,
  two_lines,
  two_operands
};

template <mma_fault kFault>
__global__ void faulty(const __half* zeros) {
  using S = shape<__half, 64, true, true>;
  auto* a = kzoo::dynamic_shared<__half>();
  auto* b = a + S::a_tile::kElements;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 8 * t; i < S::a_tile::kElements + S::b_tile::kElements; i += 8 * 128)
    kzoo::copy_async<16>(a + i, zeros);
  kzoo::commit_group();
  if (kFault != mma_fault::copy_in_flight) kzoo::wait_group<0>();
  if (kFault != mma_fault::no_proxy_fence) kzoo::fence_async_proxy();
  __syncthreads();
  float acc[32] = {};
  if (kFault != mma_fault::no_fence) kzoo::wgmma_fence();
  if (kFault == mma_fault::two_lines && t < 32) {
    kzoo::wgmma<64>(acc, S::a_at(a, 0), S::b_at(b, 0), true);
  } else {
    kzoo::wgmma<64>(acc, S::a_at(a, 0),
                    S::b_at(b, kFault == mma_fault::two_operands && t < 32 ? 16 : 0), true);
  }
  if (kFault != mma_fault::no_commit) kzoo::wgmma_commit();
  if (kFault == mma_fault::no_wait) return;
  if (kFault == mma_fault::accumulator_written) acc[3] = 1;
  __syncthreads();
  if (kFault == mma_fault::overwritten && t == 0) a[0] = __half(1.0f);
  if (kFault == mma_fault::overwritten_by_copy && t == 0) kzoo::copy_async<16>(b, zeros);
  kzoo::wgmma_wait<0>(acc);
}

template <mma_fault kFault>
std::string said() {
  using S = shape<__half, 64, true, true>;
  const std::vector<__half> zeros(8, __half(0.0f));
  return error_text(KZOO_ERROR, [&] {
    kzoo::launch({.grid = dim3(1), .block = dim3(128), .dynamic_shared = S::kShared},
                 faulty<kFault>, zeros.data());
  });
}

}  // namespace

TEST_CASE("wgmma multiplies tiles of every type and direction", "[sim]") {
  CHECK(wrong_elements<__half, 64, true, true>() == 0);
  CHECK(wrong_elements<__half, 128, true, false>() == 0);
  CHECK(wrong_elements<__half, 256, false, true>() == 0);
  CHECK(wrong_elements<__nv_bfloat16, 192, false, false>() == 0);
  CHECK(wrong_elements<float, 64, true, true>() == 0);
  CHECK(wrong_elements<__nv_fp8_e4m3, 128, true, true>() == 0);
}

TEST_CASE("wgmma reads operands without a swizzle", "[sim]") {
  const auto a = operands_of<__half>(64 * 16, 5), b = operands_of<__half>(16 * 64, 3);
  std::vector<float> c(64 * 64);
  const auto launch = [&](bool fences) {
    kzoo::launch({.grid = dim3(1), .block = dim3(128), .dynamic_shared = 2 * 2 * 64 * 16},
                 multiply_plain, a.data(), b.data(), c.data(), fences);
  };
  launch(true);
  int wrong = 0;
  for (int i = 0; i < 64 * 64; ++i) {
    float sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += float(a[static_cast<std::size_t>(i / 64 * 16 + k)]) *
             float(b[static_cast<std::size_t>(k * 64 + i % 64)]);
    wrong += c[static_cast<std::size_t>(i)] != sum;
  }
  CHECK(wrong == 0);
  CHECK_THAT(error_text(KZOO_ERROR, [&] { launch(false); }),
             ContainsSubstring("reads byte 0 of dynamic shared memory, which a thread has written "
                               "without fence_async_proxy() since"));
}

template <class T, int N>
void check_a_from_registers() {
  using S = shape<T, N, true, true>;
  const auto a = operands_of<T>(64 * S::kK, 5), b = operands_of<T>(N * S::kK, 3);
  std::vector<float> c(64 * N);
  const auto launch = [&](written when) {
    kzoo::allow_dynamic_shared(multiply_fragment<T, N>, S::b_tile::kBytes);
    kzoo::launch({.grid = dim3(1), .block = dim3(128), .dynamic_shared = S::b_tile::kBytes},
                 multiply_fragment<T, N>, a.data(), b.data(), c.data(), when);
  };
  launch(written::never);
  int wrong = 0;
  for (int i = 0; i < 64 * N; ++i) {
    float sum = 0;
    for (int k = 0; k < S::kK / 4; ++k)
      sum += float(a[static_cast<std::size_t>(i / N * S::kK + k)]) *
             float(b[static_cast<std::size_t>(i % N * S::kK + k)]);
    wrong += c[static_cast<std::size_t>(i)] != sum;
  }
  CHECK(wrong == 0);
  CHECK_THAT(error_text(KZOO_ERROR, [&] { launch(written::during); }),
             ContainsSubstring("registers that wgmma (sim_wgmma.cpp:") &&
                 ContainsSubstring("reads were overwritten before wgmma_wait()"));
  CHECK_THAT(
      error_text(KZOO_ERROR, [&] { launch(written::before_next); }),
      ContainsSubstring("): its fragment of A has been written since the last wgmma_fence()"));
  CHECK(error_text(KZOO_ERROR, [&] { launch(written::before_fence); }) == "no error");
}

TEST_CASE("wgmma takes A from registers, which must not change", "[sim]") {
  check_a_from_registers<__nv_fp8_e4m3, 64>();
  check_a_from_registers<float, 128>();
  check_a_from_registers<float, 256>();
}

TEST_CASE("misuse of wgmma has a name", "[sim]") {
  CHECK(said<mma_fault::none>() == "no error");
  CHECK_THAT(said<mma_fault::no_fence>(),
             ContainsSubstring("wgmma (sim_wgmma.cpp:") &&
                 ContainsSubstring("its accumulators may have been accessed since the last "
                                   "wgmma_fence()"));
  CHECK_THAT(said<mma_fault::no_proxy_fence>(),
             ContainsSubstring("reads byte 0 of dynamic shared memory, which a thread has "
                               "written (sim_wgmma.cpp:") &&
                 ContainsSubstring(") without fence_async_proxy() since"));
  CHECK_THAT(said<mma_fault::copy_in_flight>(),
             ContainsSubstring(", where a copy (sim_wgmma.cpp:") &&
                 ContainsSubstring(") has not arrived"));
  CHECK_THAT(said<mma_fault::no_commit>(),
             ContainsSubstring("a block has ended before wgmma (sim_wgmma.cpp:") &&
                 ContainsSubstring("was committed and waited for"));
  CHECK_THAT(said<mma_fault::no_wait>(), ContainsSubstring("was committed and waited for"));
  CHECK_THAT(said<mma_fault::overwritten>(),
             ContainsSubstring("shared memory that wgmma (sim_wgmma.cpp:") &&
                 ContainsSubstring("reads was overwritten before wgmma_wait()"));
  CHECK_THAT(said<mma_fault::overwritten_by_copy>(),
             ContainsSubstring("cp.async (sim_wgmma.cpp:") &&
                 ContainsSubstring(", which wgmma (sim_wgmma.cpp:") &&
                 ContainsSubstring(") reads before wgmma_wait()"));
  CHECK_THAT(said<mma_fault::accumulator_written>(),
             ContainsSubstring("accumulators of wgmma (sim_wgmma.cpp:") &&
                 ContainsSubstring("were written before wgmma_wait()"));
  CHECK_THAT(said<mma_fault::two_lines>(),
             ContainsSubstring("threads of a warpgroup are at different wgmma instructions"));
  CHECK_THAT(said<mma_fault::two_operands>(), ContainsSubstring("with different operands"));
}

TEST_CASE("a wgmma descriptor has its fields where PTX ISA has them", "[sim]") {
  const std::uint64_t bits = kzoo::detail::wgmma_bits(0x12340, 64 * 128);
  CHECK((bits & 0x3fff) == 0x1234);               // 0-13: the address / 16
  CHECK((bits >> 16 & 0x3fff) == 64 * 128 / 16);  // 16-29: from panel to panel
  CHECK((bits >> 32 & 0x3fff) == 1024 / 16);      // 32-45: from 8 rows to the next
  CHECK((bits >> 49 & 7) == 0);                   // 49-51: the tile starts at a multiple of 1024
  CHECK(bits >> 62 == 1);                         // 62-63: 128-byte swizzle

  const kzoo::wgmma_operand<__half, kzoo::major::mn> from{bits};
  CHECK(kzoo::moved(from, 0x120).bits == kzoo::detail::wgmma_bits(0x12460, 64 * 128));
}

// mma.sync, ldmatrix and stmatrix in the simulator, and the swizzled tiles that they read.
#include <kzoo/mma.hpp>
#include <kzoo/swizzled_tile.hpp>

#include <limits>
#include <set>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;

namespace {

// Small numbers, exact in every type; their products' sums are exact in fp32.
float mma_number(int i) { return static_cast<float>((i * 5 + i / 7) % 13 - 6); }

template <class T>
using sum_of = kzoo::sim::mma::sum_of_products<T>;

// What PTX ISA says of m16n8k32 (8-bit), m16n8k16 (16-bit) and m16n8k8 (TF32), written out: the row
// or column, and the step along K, of value `e` of register `i` of a lane.
template <class T>
struct where {
  static constexpr int kEach = 4 / int(sizeof(T));
  static int row_of_a(int lane, int i) { return lane / 4 + (i == 1 || i == 3 ? 8 : 0); }
  static int k_of_a(int lane, int i, int e) {
    return lane % 4 * kEach + e + (i >= 2 ? 4 * kEach : 0);
  }
  static int col_of_b(int lane) { return lane / 4; }
  static int k_of_b(int lane, int i, int e) {
    return lane % 4 * kEach + e + (i == 1 ? 4 * kEach : 0);
  }
};

template <class T>
__global__ void multiply_once(const T* a, const T* b, sum_of<T>* c) {
  using W = where<T>;
  constexpr int kK = 8 * W::kEach;
  const int lane = static_cast<int>(threadIdx.x);
  unsigned ra[4], rb[2];
  for (int i = 0; i < 4; ++i) {
    T pair[W::kEach];
    for (int e = 0; e < W::kEach; ++e) {
      pair[e] = a[W::row_of_a(lane, i) * kK + W::k_of_a(lane, i, e)];
    }
    std::memcpy(&ra[i], pair, 4);
  }
  for (int i = 0; i < 2; ++i) {
    T pair[W::kEach];
    for (int e = 0; e < W::kEach; ++e) {
      pair[e] = b[W::k_of_b(lane, i, e) * 8 + W::col_of_b(lane)];
    }
    std::memcpy(&rb[i], pair, 4);
  }
  sum_of<T> acc[4];
  for (int i = 0; i < 4; ++i) acc[i] = c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2];
  kzoo::mma<T>(acc, ra, rb);
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = acc[i];
}

template <class T>
int wrong_elements() {
  constexpr int kM = 16, kN = 8, kK = 8 * where<T>::kEach;
  std::vector<T> a, b;
  std::vector<sum_of<T>> c;
  for (int i = 0; i < kM * kK; ++i) a.push_back(T(mma_number(i)));
  for (int i = 0; i < kK * kN; ++i) b.push_back(T(mma_number(3 * i + 1)));
  for (int i = 0; i < kM * kN; ++i) c.push_back(sum_of<T>(mma_number(i + 5)));
  auto expected = c;
  for (int row = 0; row < kM; ++row) {
    for (int col = 0; col < kN; ++col) {
      for (int k = 0; k < kK; ++k) {
        expected[row * kN + col] += sum_of<T>(a[row * kK + k]) * sum_of<T>(b[k * kN + col]);
      }
    }
  }
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, multiply_once<T>, a.data(), b.data(),
               c.data());
  int wrong = 0;
  for (int i = 0; i < kM * kN; ++i) wrong += c[i] != expected[i];
  return wrong;
}

using half_tile = kzoo::swizzled_tile<__half, 16, 64>;

// Fills a tile with 0, 1, 2, ... by row, brings 16 x 16 of it from (0, 16) on into registers, and
// puts them to the same place of another tile.
__global__ void there_and_back(float* out, bool transposed) {
  __shared__ __align__(1024) __half from[half_tile::kElements];
  __shared__ __align__(1024) __half to[half_tile::kElements];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < half_tile::kElements; i += 32) {
    from[half_tile::offset(i / 64, i % 64)] = __half(static_cast<float>(i));
    to[i] = __half(-1.0f);
  }
  __syncwarp();
  const int at = half_tile::offset(lane % 16, 16 + lane / 16 * 8);
  unsigned r[4];
  if (transposed) {
    kzoo::ldmatrix_transposed(r, &from[at]);
  } else {
    kzoo::ldmatrix(r, &from[at]);
  }
  kzoo::stmatrix(&to[at], r);
  __syncwarp();
  for (int i = lane; i < half_tile::kElements; i += 32) {
    out[i] = float(to[half_tile::offset(i / 64, i % 64)]);
  }
}

__global__ void misaligned_row() {
  __shared__ __align__(16) __half row[64];
  unsigned r[4];
  kzoo::ldmatrix(r, &row[threadIdx.x == 7 ? 1 : 0]);
}

}  // namespace

TEST_CASE("mma.sync adds A B to C, with operands where PTX ISA has them", "[sim]") {
  CHECK(wrong_elements<__half>() == 0);
  CHECK(wrong_elements<__nv_bfloat16>() == 0);
  CHECK(wrong_elements<float>() == 0);
  CHECK(wrong_elements<signed char>() == 0);
}

TEST_CASE("mma.sync's integer sums wrap around", "[sim]") {
  std::vector<signed char> a(16 * 32, 0), b(32 * 8, 0);
  std::vector<int> c(16 * 8, std::numeric_limits<int>::max());
  a[0] = b[0] = 1;
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, multiply_once<signed char>, a.data(), b.data(),
               c.data());
  CHECK(c[0] == std::numeric_limits<int>::min());
}

TEST_CASE("mma.sync drops the low bits of a float: TF32", "[sim]") {
  std::vector<float> a(16 * 8, 0.0f), b(8 * 8, 0.0f), c(16 * 8, 0.0f);
  a[0] = 1.0f + 0x1p-12f;
  b[0] = 1.0f;
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, multiply_once<float>, a.data(), b.data(),
               c.data());
  CHECK(c[0] == 1.0f);
}

TEST_CASE("ldmatrix and stmatrix move 16 x 16 elements of a swizzled tile", "[sim]") {
  for (const bool transposed : {false, true}) {
    std::vector<float> out(half_tile::kElements);
    kzoo::launch({.grid = dim3(1), .block = dim3(32)}, there_and_back, out.data(), transposed);
    int wrong = 0;
    for (int row = 0; row < 16; ++row) {
      for (int col = 0; col < 64; ++col) {
        // Each 8 x 8 matrix is transposed in its place.
        const int from_row = row / 8 * 8 + (transposed ? col % 8 : row % 8);
        const int from_col = col / 8 * 8 + (transposed ? row % 8 : col % 8);
        const bool moved = col >= 16 && col < 32;
        wrong +=
            out[row * 64 + col] != (moved ? static_cast<float>(from_row * 64 + from_col) : -1.0f);
      }
    }
    INFO((transposed ? "transposed" : "as it is"));
    CHECK(wrong == 0);
  }
}

TEST_CASE("ldmatrix refuses rows that are not aligned to 16 bytes", "[sim]") {
  CHECK_THAT(error_text(KZOO_ERROR,
                        [] { kzoo::launch({.grid = dim3(1), .block = dim3(32)}, misaligned_row); }),
             ContainsSubstring("ldmatrix needs rows that start at a multiple of 16 bytes"));
}

TEST_CASE("a swizzled tile has a place for each element, and eight rows in different banks",
          "[sim]") {
  using wide = kzoo::swizzled_tile<__half, 16, 128>;
  std::set<int> places;
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 128; ++col) places.insert(wide::offset(row, col));
  }
  CHECK(places.size() == wide::kElements);
  CHECK(*places.rbegin() == wide::kElements - 1);
  for (int col = 0; col < 128; col += 8) {
    std::set<int> banks;  // of 16 bytes
    for (int row = 0; row < 8; ++row) banks.insert(wide::offset(row, col) / 8 % 8);
    CHECK(banks.size() == 8);
  }
  // PTX ISA, 128-byte swizzle: bits 4 to 6 of the address are xored with bits 7 to 9.
  CHECK(wide::offset(3, 8) * 2 == 3 * 128 + ((1 ^ 3) * 16));
  CHECK(wide::offset(9, 64) * 2 == 16 * 128 + 9 * 128 + 16);
}

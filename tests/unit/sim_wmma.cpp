#include <kzoo/wmma.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "sim_support.hpp"
#include "support/catch.hpp"

using kzoo::test::ContainsSubstring;
using kzoo::test::error_text;
namespace wmma = nvcuda::wmma;

namespace {

// Sets of numbers that are exact in every type, and whose products' sums are exact in fp32.
float number(int i) { return static_cast<float>((i * 7 + i / 5) % 17 - 8) / 4; }

template <class T>
std::vector<T> numbers(int count, int offset) {
  std::vector<T> v;
  for (int i = 0; i < count; ++i) v.push_back(T(number(i + offset)));
  return v;
}

// Fragments want tiles that start at multiples of 32 bytes.
template <class T>
class tile {
 public:
  explicit tile(const std::vector<T>& v) : room_(v.size() + 32 / sizeof(T)) {
    void* at = room_.data();
    std::size_t left = room_.size() * sizeof(T);
    data_ = static_cast<T*>(std::align(32, v.size() * sizeof(T), at, left));
    std::copy(v.begin(), v.end(), data_);
  }
  T* data() { return data_; }
  T operator[](int i) const { return data_[i]; }

 private:
  std::vector<T> room_;
  T* data_;
};

template <class Layout>
inline constexpr bool by_columns = std::is_same_v<Layout, wmma::col_major>;

// One product of fragments, with tiles whose rows are 8 elements longer than they are wide.
template <int m, int n, int k, class Input, class LayoutA, class LayoutB, class Sum, class T>
__global__ void one_product(const T* a, const T* b, Sum* c, bool c_by_columns) {
  wmma::fragment<wmma::matrix_a, m, n, k, Input, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, Input, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> fc;
  const auto order = c_by_columns ? wmma::mem_col_major : wmma::mem_row_major;
  const unsigned c_length = (c_by_columns ? m : n) + 8;
  wmma::load_matrix_sync(fa, a, (by_columns<LayoutA> ? m : k) + 8);
  wmma::load_matrix_sync(fb, b, (by_columns<LayoutB> ? k : n) + 8);
  wmma::load_matrix_sync(fc, c, c_length, order);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, c_length, order);
}

// How many elements of C + A B are not what a triple loop gives.
template <int m, int n, int k, class Input, class T, class LayoutA, class LayoutB, class Sum>
int wrong_elements(bool c_by_columns) {
  const int a_length = (by_columns<LayoutA> ? m : k) + 8;
  const int b_length = (by_columns<LayoutB> ? k : n) + 8;
  const int c_length = (c_by_columns ? m : n) + 8;
  tile<T> a(numbers<T>((m + k) * a_length, 1)), b(numbers<T>((n + k) * b_length, 2));
  const std::vector<Sum> before = numbers<Sum>((m + n) * c_length, 3);
  tile<Sum> c(before);
  const auto at = [](int row, int col, int length, bool columns) {
    return columns ? col * length + row : row * length + col;
  };
  kzoo::launch({.grid = dim3(1), .block = dim3(32)},
               one_product<m, n, k, Input, LayoutA, LayoutB, Sum, T>, a.data(), b.data(), c.data(),
               c_by_columns);
  std::vector<Sum> expected = before;  // what lies between the rows stays
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      Sum& out = expected[static_cast<std::size_t>(at(row, col, c_length, c_by_columns))];
      float sum = float(out);
      for (int i = 0; i < k; ++i) {
        sum += float(a[at(row, i, a_length, by_columns<LayoutA>)]) *
               float(b[at(i, col, b_length, by_columns<LayoutB>)]);
      }
      out = Sum(sum);
    }
  }
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    wrong += float(c[static_cast<int>(i)]) != float(expected[i]);
  }
  return wrong;
}

template <int m, int n, int k, class Input, class T, class Sum>
int wrong_in_any_layout() {
  using row = wmma::row_major;
  using col = wmma::col_major;
  int wrong = 0;
  for (const bool c_by_columns : {false, true}) {
    wrong += wrong_elements<m, n, k, Input, T, row, row, Sum>(c_by_columns);
    wrong += wrong_elements<m, n, k, Input, T, row, col, Sum>(c_by_columns);
    wrong += wrong_elements<m, n, k, Input, T, col, row, Sum>(c_by_columns);
    wrong += wrong_elements<m, n, k, Input, T, col, col, Sum>(c_by_columns);
  }
  return wrong;
}

template <class Input, class T, class Sum>
int wrong_in_any_shape() {
  return wrong_in_any_layout<16, 16, 16, Input, T, Sum>() +
         wrong_in_any_layout<32, 8, 16, Input, T, Sum>() +
         wrong_in_any_layout<8, 32, 16, Input, T, Sum>();
}

using half_a = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using half_b = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using half_sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
using tf32_a = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using tf32_b = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using tf32_sum = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

// sum + 2 A B, element by element: inputs and sums can be changed in place, and accumulators
// copied, since those of one type are held in the same way.
__global__ void through_x(const __half* a, const __half* b, float* c) {
  half_a fa;
  half_b fb;
  half_sum product, sum, copy;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
  wmma::fill_fragment(product, 0.0f);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = fa.x[i] * __half(2.0f);
  wmma::mma_sync(product, fa, fb, product);
  for (int i = 0; i < sum.num_elements; ++i) copy.x[i] = sum.x[i] + product.x[i];
  wmma::store_matrix_sync(c, copy, 16, wmma::mem_row_major);
}

// 1 + 2^-11 and its like: the 12th bit is the first that TF32 does not have.
__global__ void tf32_one(float* c, bool rounded) {
  tf32_a a;
  tf32_b b;
  tf32_sum sum;
  wmma::fill_fragment(a, 1.0f + 0x1p-11f);
  wmma::fill_fragment(b, 1.0f);
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; rounded && i < a.num_elements; ++i) a.x[i] = wmma::__float_to_tf32(a.x[i]);
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

// One product of 2^-14 and fifteen of 0, on 1: kept by a sum in fp32, lost by one in fp16.
template <class Sum>
__global__ void small_term(const __half* a, const __half* b, Sum* c) {
  half_a fa;
  half_b fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sum;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::fill_fragment(sum, Sum(1.0f));
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

// Each warp of the block has its own part of a matrix.
__global__ void warps(const __half* a, const __half* b, float* c) {
  const unsigned warp = threadIdx.x / 32;
  half_a fa;
  half_b fb;
  half_sum sum;
  wmma::fill_fragment(sum, 0.0f);
  kzoo::load_from_shared(fa, a + warp * 256, 16);
  kzoo::load_from_shared(fb, b, 16);
  wmma::mma_sync(sum, fa, fb, sum);
  __syncthreads();
  wmma::store_matrix_sync(c + warp * 256, sum, 16, wmma::mem_row_major);
}

__global__ void some_lanes_multiply() {
  half_a a;
  half_b b;
  half_sum sum;
  wmma::fill_fragment(a, __half(1.0f));
  wmma::fill_fragment(b, __half(1.0f));
  wmma::fill_fragment(sum, 0.0f);
  if (threadIdx.x % 32 < 12) return;
  wmma::mma_sync(sum, a, b, sum);
}

__global__ void two_branches(float* c) {
  half_sum sum;
  wmma::fill_fragment(sum, 0.0f);
  if (threadIdx.x < 16) {
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
  } else {
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
  }
}

__global__ void fill_and_store(float* c, unsigned length) {
  half_sum sum;
  wmma::fill_fragment(sum, 1.0f);
  wmma::store_matrix_sync(c, sum, length, wmma::mem_row_major);
}

__global__ void addresses_differ(float* c) {
  half_sum sum;
  wmma::load_matrix_sync(sum, c + (threadIdx.x == 31 ? 8 : 0), 16, wmma::mem_row_major);
}

template <class Kernel, class... A>
std::string failure(unsigned threads, Kernel kernel, A... arguments) {
  return error_text(KZOO_ERROR, [&] {
    kzoo::launch({.grid = dim3(1), .block = dim3(threads)}, kernel, arguments...);
  });
}

}  // namespace

TEST_CASE("wmma: every type, shape and layout is a triple loop", "[sim]") {
  CHECK(wrong_in_any_shape<__half, __half, float>() == 0);
  CHECK(wrong_in_any_shape<__half, __half, __half>() == 0);
  CHECK(wrong_in_any_shape<__nv_bfloat16, __nv_bfloat16, float>() == 0);
  CHECK(wrong_in_any_layout<16, 16, 8, wmma::precision::tf32, float, float>() == 0);
}

TEST_CASE("wmma: fragments have CUDA's numbers of elements", "[sim]") {
  using bf16 = __nv_bfloat16;
  using row = wmma::row_major;
  CHECK(half_a::num_elements == 16);
  CHECK(half_b::num_elements == 16);
  CHECK(half_sum::num_elements == 8);
  CHECK(wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, row>::num_elements == 8);
  CHECK(wmma::fragment<wmma::matrix_a, 32, 8, 16, bf16, row>::num_elements == 16);
  CHECK(wmma::fragment<wmma::matrix_b, 32, 8, 16, bf16, row>::num_elements == 4);
  CHECK(wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, row>::num_elements == 16);
  CHECK(tf32_a::num_elements == 4);
  CHECK(tf32_sum::num_elements == 8);
}

TEST_CASE("wmma: elements are changed and copied through x", "[sim]") {
  tile<__half> a(numbers<__half>(256, 1)), b(numbers<__half>(256, 2));
  tile<float> c(numbers<float>(256, 3)), before(numbers<float>(256, 3));
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, through_x, a.data(), b.data(), c.data());
  int wrong = 0;
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 16; ++col) {
      float sum = before[row * 16 + col];
      for (int k = 0; k < 16; ++k) sum += 2 * float(a[row * 16 + k]) * float(b[k * 16 + col]);
      wrong += c[row * 16 + col] != sum;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("wmma: TF32 is rounded where asked for, and else cut off", "[sim]") {
  tile<float> c(std::vector<float>(256));
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, tf32_one, c.data(), true);
  CHECK(c[37] == 8 * (1.0f + 0x1p-10f));
  kzoo::launch({.grid = dim3(1), .block = dim3(32)}, tf32_one, c.data(), false);
  CHECK(c[37] == 8.0f);
}

TEST_CASE("wmma: sums are as wide as their fragment says", "[sim]") {
  std::vector<__half> first(256, __half(0.0f));
  for (std::size_t i = 0; i < 256; i += 16) first[i] = __half(0x1p-14f);
  tile<__half> a(first), b(std::vector<__half>(256, __half(1.0f)));
  tile<float> wide(std::vector<float>(256));
  tile<__half> narrow(std::vector<__half>(256));
  const kzoo::launch_config one_warp{.grid = dim3(1), .block = dim3(32)};
  kzoo::launch(one_warp, small_term<float>, a.data(), b.data(), wide.data());
  kzoo::launch(one_warp, small_term<__half>, a.data(), b.data(), narrow.data());
  CHECK(wide[255] == 1.0f + 0x1p-14f);
  CHECK(float(narrow[255]) == 1.0f);
}

TEST_CASE("wmma: warps of a block work side by side", "[sim]") {
  tile<__half> a(numbers<__half>(4 * 256, 1)), b(numbers<__half>(256, 2));
  tile<float> c(std::vector<float>(4 * 256));
  kzoo::launch({.grid = dim3(1), .block = dim3(128)}, warps, a.data(), b.data(), c.data());
  int wrong = 0;
  for (int row = 0; row < 64; ++row) {
    for (int col = 0; col < 16; ++col) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += float(a[row * 16 + k]) * float(b[k * 16 + col]);
      wrong += c[row * 16 + col] != sum;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("wmma: a call that some lanes do not reach is named", "[sim]") {
  const std::string text = failure(64, some_lanes_multiply);
  CHECK_THAT(text, ContainsSubstring("divergent barrier: kernel some_lanes_multiply, block (0,0,0)"
                                     ": 40 of 64 threads wait at wmma::mma_sync (sim_wmma.cpp:"));
  CHECK_THAT(text, ContainsSubstring("24 have exited: (0,0,0) ... (11,0,0), (32,0,0) ... "
                                     "(43,0,0)"));
}

TEST_CASE("wmma: two calls of the same name are not one", "[sim]") {
  tile<float> c(std::vector<float>(256));
  const std::string text = failure(32, two_branches, c.data());
  CHECK_THAT(text, ContainsSubstring("16 of 32 threads wait at wmma::store_matrix_sync"));
  CHECK_THAT(text, ContainsSubstring("; 16 wait at wmma::store_matrix_sync"));
}

TEST_CASE("wmma: a warp of fewer than 32 lanes, a tile that is not aligned", "[sim]") {
  tile<float> c(std::vector<float>(1024));
  CHECK(failure(32, fill_and_store, c.data(), 20u) == "no error");
  CHECK_THAT(failure(40, fill_and_store, c.data(), 20u),
             ContainsSubstring("wmma::store_matrix_sync at line"));
  CHECK_THAT(failure(40, fill_and_store, c.data(), 20u),
             ContainsSubstring("needs all 32 lanes of a warp; the last warp of this block has 8"));
  CHECK_THAT(failure(32, fill_and_store, c.data() + 4, 20u),
             ContainsSubstring("kernel fill_and_store, block (0,0,0): wmma needs tiles that start "
                               "at a multiple of 32 bytes"));
  CHECK_THAT(failure(32, fill_and_store, c.data(), 18u),
             ContainsSubstring("wmma needs rows whose length is a multiple of 16 bytes"));
  CHECK_THAT(failure(32, addresses_differ, c.data()),
             ContainsSubstring("the lanes of a warp give wmma different addresses"));
  CHECK(failure(32, fill_and_store, c.data(), 20u) == "no error");  // and goes on after a failure
}

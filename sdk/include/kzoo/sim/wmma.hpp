// nvcuda::wmma for the host compiler: __half and __nv_bfloat16 in 16x16x16, 32x8x16 and 8x32x16,
// TF32 in 16x16x8. The last lane to reach a call does the work of all. A call that not all 32 lanes
// reach is an error, as are lanes with different tile addresses.
//
// Products are exact, and added to the accumulator sequentially along K in fp32. A __half
// accumulator is rounded once per mma_sync. (Tensor cores add several products at a time, and drop
// bits.) An unrounded TF32 input loses its low bits, as on a GPU.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <kzoo/numeric.hpp>
#include <kzoo/sim/device.hpp>
#include <kzoo/sim/half.hpp>

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

}  // namespace nvcuda::wmma

namespace kzoo::sim::wmma {

using nvcuda::wmma::accumulator;
using nvcuda::wmma::matrix_a;
using nvcuda::wmma::matrix_b;
namespace precision = nvcuda::wmma::precision;

template <class T>
inline constexpr bool is_tf32 = std::same_as<T, precision::tf32>;
template <class T>
using storage = std::conditional_t<is_tf32<T>, float, T>;

template <class Use, class T>
constexpr bool shape_exists(int m, int n, int k) {
  const bool of_16 =
      k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  const bool of_tf32 = k == 8 && m == 16 && n == 16;
  if (std::same_as<Use, accumulator> && std::same_as<T, float>) return of_16 || of_tf32;
  if (std::same_as<T, __half>) return of_16;
  if (std::same_as<Use, accumulator>) return false;
  return std::same_as<T, __nv_bfloat16> ? of_16 : is_tf32<T> && of_tf32;
}

// The part of the MMA that is a fragment, and its lanes: element e, counted row by row, is x[e /
// 32] of lane e % 32. CUDA's __half inputs repeat elements; the first copy counts.
template <class Use, int m, int n, int k, class T>
struct extent {
  static constexpr int kRows = std::same_as<Use, matrix_b> ? k : m;
  static constexpr int kCols = std::same_as<Use, matrix_a> ? k : n;
  static constexpr int kElements = kRows * kCols;
  static constexpr bool kRepeated = std::same_as<T, __half> && !std::same_as<Use, accumulator>;
  static constexpr int kPerLane = kRepeated ? 16 : kElements / 32;
};

}  // namespace kzoo::sim::wmma

namespace nvcuda::wmma {

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(kzoo::sim::wmma::shape_exists<Use, T>(m, n, k),
                "WMMA has no such fragment, or the simulator lacks it: it has those of __half, "
                "__nv_bfloat16 and TF32, and none of integers, bits and doubles");
  static_assert(std::same_as<Use, accumulator> == std::same_as<Layout, void>,
                "matrix_a and matrix_b have a layout, an accumulator has none");

 public:
  using extent = kzoo::sim::wmma::extent<Use, m, n, k, T>;
  using element_type = T;
  using storage_element_type = kzoo::sim::wmma::storage<T>;
  enum { num_elements = extent::kPerLane, num_storage_elements = extent::kPerLane };

  storage_element_type x[extent::kPerLane];
};

}  // namespace nvcuda::wmma

namespace kzoo::sim::wmma {

using here = std::source_location;

inline float input(__half v) { return v; }
inline float input(__nv_bfloat16 v) { return v; }
inline float input(float v) { return truncate_to_tf32(v); }

// A lane's arguments of a load or a store. `Word` is const for a load.
template <class Fragment, class Word>
struct transfer {
  Fragment* fragment;
  Word* tile;
  unsigned row_length;  // or column length
  bool by_columns;

  static Word& at(void* const lanes[], int element) {
    const auto& first = *static_cast<const transfer*>(lanes[0]);
    const auto row = static_cast<std::size_t>(element / Fragment::extent::kCols);
    const auto col = static_cast<std::size_t>(element % Fragment::extent::kCols);
    return first
        .tile[first.by_columns ? col * first.row_length + row : row * first.row_length + col];
  }

  static void check(void* const lanes[]) {
    const auto& first = *static_cast<const transfer*>(lanes[0]);
    for (int lane = 1; lane < 32; ++lane) {
      const auto& other = *static_cast<const transfer*>(lanes[lane]);
      if (other.tile != first.tile || other.row_length != first.row_length ||
          other.by_columns != first.by_columns) {
        fail("the lanes of a warp give wmma different addresses, row lengths or layouts");
      }
    }
    if (reinterpret_cast<std::uintptr_t>(first.tile) % 32 != 0) {
      fail("wmma needs tiles that start at a multiple of 32 bytes");
    }
    if (first.row_length * sizeof(Word) % 16 != 0) {
      fail("wmma needs rows whose length is a multiple of 16 bytes");
    }
  }

  static void load(void* const lanes[]) {
    check(lanes);
    for (int lane = 0; lane < 32; ++lane) {
      auto& x = static_cast<const transfer*>(lanes[lane])->fragment->x;
      for (int i = 0; i < Fragment::extent::kPerLane; ++i) {
        x[i] = at(lanes, (i * 32 + lane) % Fragment::extent::kElements);
      }
    }
  }

  static void store(void* const lanes[]) {
    check(lanes);
    for (int e = 0; e < Fragment::extent::kElements; ++e) {
      at(lanes, e) = static_cast<const transfer*>(lanes[e % 32])->fragment->x[e / 32];
    }
  }

  static constexpr warp_work kLoad{"wmma::load_matrix_sync", &load};
  static constexpr warp_work kStore{"wmma::store_matrix_sync", &store};
};

// A lane's arguments of an MMA.
template <class D, class A, class B, class C>
struct product {
  D* d;
  const A* a;
  const B* b;
  const C* c;

  static void multiply(void* const lanes[]) {
    constexpr int kM = A::extent::kRows, kK = A::extent::kCols, kN = B::extent::kCols;
    float a[kM * kK], b[kK * kN], sum[kM * kN];
    for (int lane = 0; lane < 32; ++lane) {
      const auto& of = *static_cast<const product*>(lanes[lane]);
      for (int i = 0; i < kM * kK / 32; ++i) a[i * 32 + lane] = input(of.a->x[i]);
      for (int i = 0; i < kK * kN / 32; ++i) b[i * 32 + lane] = input(of.b->x[i]);
      for (int i = 0; i < kM * kN / 32; ++i) sum[i * 32 + lane] = float(of.c->x[i]);
    }
    for (int row = 0; row < kM; ++row) {
      for (int k = 0; k < kK; ++k) {
        for (int col = 0; col < kN; ++col) sum[row * kN + col] += a[row * kK + k] * b[k * kN + col];
      }
    }
    for (int lane = 0; lane < 32; ++lane) {
      auto& d = *static_cast<const product*>(lanes[lane])->d;
      for (int i = 0; i < kM * kN / 32; ++i) d.x[i] = sum[i * 32 + lane];
    }
  }

  static constexpr warp_work kMultiply{"wmma::mma_sync", &multiply};
};

template <class Fragment, class Word>
void load(Fragment& f, const Word* tile, unsigned row_length, bool by_columns, here where) {
  transfer<Fragment, const Word> mine{&f, tile, row_length, by_columns};
  warp_together(mine.kLoad, &mine, where);
}

}  // namespace kzoo::sim::wmma

namespace nvcuda::wmma {

inline float __float_to_tf32(float v) { return kzoo::round_to_tf32(v); }

template <class Use, int m, int n, int k, class T, class Layout>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                          std::type_identity_t<kzoo::sim::wmma::storage<T>> value) {
  for (auto& x : f.x) x = value;
}

// `row_length`: elements from one row of the tile to the next, or from column to column.
template <class Use, int m, int n, int k, class T, class Layout>
requires(!std::same_as<Use, accumulator>) inline void load_matrix_sync(
    fragment<Use, m, n, k, T, Layout>& f, const kzoo::sim::wmma::storage<T>* tile,
    unsigned row_length, std::source_location where = std::source_location::current()) {
  kzoo::sim::wmma::load(f, tile, row_length, std::same_as<Layout, col_major>, where);
}

template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* tile,
                             unsigned row_length, layout_t layout,
                             std::source_location where = std::source_location::current()) {
  kzoo::sim::wmma::load(f, tile, row_length, layout == mem_col_major, where);
}

template <int m, int n, int k, class T>
inline void store_matrix_sync(T* tile, const fragment<accumulator, m, n, k, T>& f,
                              unsigned row_length, layout_t layout,
                              std::source_location where = std::source_location::current()) {
  kzoo::sim::wmma::transfer<const fragment<accumulator, m, n, k, T>, T> mine{
      &f, tile, row_length, layout == mem_col_major};
  kzoo::sim::warp_together(mine.kStore, &mine, where);
}

template <int m, int n, int k, class D, class T, class LayoutA, class LayoutB, class C>
inline void mma_sync(fragment<accumulator, m, n, k, D>& d,
                     const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                     const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                     const fragment<accumulator, m, n, k, C>& c,
                     std::source_location where = std::source_location::current()) {
  static_assert(std::same_as<T, __half> || (std::same_as<C, float> && std::same_as<D, float>),
                "only __half can be summed in __half");
  kzoo::sim::wmma::product<
      fragment<accumulator, m, n, k, D>, fragment<matrix_a, m, n, k, T, LayoutA>,
      fragment<matrix_b, m, n, k, T, LayoutB>, fragment<accumulator, m, n, k, C>>
      mine{&d, &a, &b, &c};
  kzoo::sim::warp_together(mine.kMultiply, &mine, where);
}

}  // namespace nvcuda::wmma

namespace kzoo {

// See kzoo/wmma.hpp.
template <class Fragment, class T>
inline void load_from_shared(Fragment& f, const T* tile, unsigned row_length,
                             std::source_location where = std::source_location::current()) {
  nvcuda::wmma::load_matrix_sync(f, tile, row_length, where);
}

}  // namespace kzoo

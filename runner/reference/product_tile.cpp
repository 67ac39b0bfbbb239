#include "reference/product_tile.hpp"

namespace kzoo::reference {
namespace {

// Vector extensions of g++ and clang: + and * become SIMD instructions, and FMAs if the function
// that they are inlined into is compiled for a CPU with FMA.
struct bits128 {
  typedef double floats __attribute__((vector_size(16), may_alias));
  typedef std::int64_t words __attribute__((vector_size(16), may_alias));
};
struct bits256 {
  typedef double floats __attribute__((vector_size(32), may_alias));
  typedef std::int64_t words __attribute__((vector_size(32), may_alias));
};
struct bits512 {
  typedef double floats __attribute__((vector_size(64), may_alias));
  typedef std::int64_t words __attribute__((vector_size(64), may_alias));
};

// Computes Rows x Vectors accumulators at a time, as many as fit in registers.
template <class Simd, int Rows, int Vectors>
[[gnu::always_inline]] inline void sum_tile(const a_step* a, const b_step* b, std::int64_t depth,
                                            tile_sums& out) {
  using floats = typename Simd::floats;
  using words = typename Simd::words;
  constexpr std::ptrdiff_t kLanes = sizeof(floats) / sizeof(double);
  const words no_sign = words{} + INT64_MAX;
  for (int row = 0; row < kTileRows; row += Rows) {
    for (std::ptrdiff_t col = 0; col < kTileCols; col += Vectors * kLanes) {
      floats sums[Rows][Vectors] = {}, magnitudes[Rows][Vectors] = {};
      for (std::int64_t k = 0; k < depth; ++k) {
        floats x[Vectors], abs_x[Vectors];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) {
          x[v] = *reinterpret_cast<const floats*>(b[k].values + col + v * kLanes);
          abs_x[v] = reinterpret_cast<floats>(reinterpret_cast<words>(x[v]) & no_sign);
        }
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
          const double y = a[k].values[row + r];
          const double abs_y = __builtin_fabs(y);
#pragma GCC unroll 4
          for (int v = 0; v < Vectors; ++v) {
            sums[r][v] += y * x[v];
            magnitudes[r][v] += abs_y * abs_x[v];
          }
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) {
          const std::ptrdiff_t at = col + v * kLanes;
          *reinterpret_cast<floats*>(out.values[row + r] + at) = sums[r][v];
          *reinterpret_cast<floats*>(out.magnitudes[row + r] + at) = magnitudes[r][v];
        }
      }
    }
  }
}

void any_cpu(const a_step* a, const b_step* b, std::int64_t depth, tile_sums& out) {
  sum_tile<bits128, 2, 2>(a, b, depth, out);
}

#if defined(__x86_64__)
[[gnu::target("arch=x86-64-v3")]] void avx2(const a_step* a, const b_step* b, std::int64_t depth,
                                            tile_sums& out) {
  sum_tile<bits256, 2, 2>(a, b, depth, out);
}
[[gnu::target("arch=x86-64-v4")]] void avx512(const a_step* a, const b_step* b, std::int64_t depth,
                                              tile_sums& out) {
  sum_tile<bits512, 4, 2>(a, b, depth, out);
}
#endif

}  // namespace

std::vector<tile_function> usable_tiles() {
  std::vector<tile_function> tiles;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) tiles.push_back(avx512);
  if (__builtin_cpu_supports("x86-64-v3")) tiles.push_back(avx2);
#endif
  tiles.push_back(any_cpu);
  return tiles;
}

}  // namespace kzoo::reference

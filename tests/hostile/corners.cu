// Right except in one corner case of GEMM, where an optimisation or a special case goes wrong.
#include "hostile.hpp"

namespace {

using hostile::dot;
using hostile::gemm;
using hostile::per_element;
using hostile::store_product;

// Skips zeros of B, as a reference BLAS does, and so loses 0 times infinity.
struct skips_zeros : per_element<skips_zeros> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i < g.k; ++i)
      if (g.b_at(i, col) != 0) sum += g.a_at(row, i) * g.b_at(i, col);
    g.store(row, col, sum);
  }
};

// Takes -1 for 1.
struct unsigned_scalars : per_element<unsigned_scalars> {
  static __device__ void element(gemm g, int row, int col) {
    if (g.alpha == -1) g.alpha = 1;
    if (g.beta == -1) g.beta = 1;
    store_product(g, row, col);
  }
};

// Factors out an alpha that equals beta, and loses it.
struct equal_scalars : per_element<equal_scalars> {
  static __device__ void element(gemm g, int row, int col) {
    if (g.alpha == g.beta && g.alpha != 0) g.alpha = g.beta = 1;
    store_product(g, row, col);
  }
};

// Adds to C although beta = 0, except to NaN, which most tests put there.
struct adds_to_numbers : per_element<adds_to_numbers> {
  static __device__ void element(gemm g, int row, int col) {
    float& c = g.c[static_cast<long>(row) * g.ldc + col];
    const float before = g.beta == 0 && !isnan(c) ? c : 0;
    store_product(g, row, col);
    c += before;
  }
};

// Unrolls a short loop along K wrongly.
struct short_k : per_element<short_k> {
  static __device__ void element(const gemm& g, int row, int col) {
    const bool is_short = g.k == 2 || g.k == 3 || g.k == 4;
    g.store(row, col, dot(g, row, col, is_short ? 1 : g.k));
  }
};

// Takes 1/2 for 1.
struct half_alpha : per_element<half_alpha> {
  static __device__ void element(gemm g, int row, int col) {
    if (g.alpha == 0.5f) g.alpha = 1;
    store_product(g, row, col);
  }
};

// Wrong for small parts of larger matrices.
struct parts : per_element<parts> {
  static __device__ void element(const gemm& g, int row, int col) {
    const bool is_part = g.ldc - g.n > 256 && row + 1 == g.m;
    store_product(g, is_part ? row - 1 : row, col);
  }
};

// A path for cubes ignores beta.
struct cubes : per_element<cubes> {
  static __device__ void element(gemm g, int row, int col) {
    if (g.m == g.n && g.n == g.k) g.beta = 0;
    store_product(g, row, col);
  }
};

// Integers of 24 bits with an exponent per column of B: as accurate as fp32 without outliers.
struct column_exponents : per_element<column_exponents> {
  static __device__ void element(const gemm& g, int row, int col) {
    float largest = 0;
    for (int i = 0; i < g.k; ++i) largest = fmaxf(largest, fabsf(g.b_at(i, col)));
    int exponent = 0;
    frexpf(largest, &exponent);
    float sum = 0;
    for (int i = 0; i < g.k; ++i) {
      const float whole = rintf(ldexpf(g.b_at(i, col), 24 - exponent));
      sum += g.a_at(row, i) * ldexpf(whole, exponent - 24);
    }
    g.store(row, col, sum);
  }
};

}  // namespace

KZOO_PLUGIN("corners", "Wrong in one corner of what a GEMM takes",
            kzoo::variant<skips_zeros>("skips_zeros", "loses 0 times infinity"),
            kzoo::variant<unsigned_scalars>("unsigned_scalars", "takes -1 for 1"),
            kzoo::variant<equal_scalars>("equal_scalars", "loses alpha where it is beta"),
            kzoo::variant<adds_to_numbers>("adds_to_numbers", "right where C holds NaN"),
            kzoo::variant<short_k>("short_k", "wrong for K = 2, 3 and 4"),
            kzoo::variant<half_alpha>("half_alpha", "takes a half for 1"),
            kzoo::variant<parts>("parts", "writes one row too few of a part of a matrix"),
            kzoo::variant<cubes>("cubes", "no beta where M = N = K"),
            kzoo::variant<column_exponents>("column_exponents", "one exponent for a column of B"));

// Wrong results: everywhere, at some sizes, or only for inputs that a test must cover on purpose.
#include "hostile.hpp"

namespace {

using hostile::dot;
using hostile::gemm;
using hostile::per_element;
using hostile::store_product;

// Source D0's first kernel passes A for B. Indices wrap, so that other shapes also fail.
struct a_times_a : per_element<a_times_a> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i < g.k; ++i) sum += g.a_at(row, i) * g.a_at(i % g.m, col % g.k);
    g.store(row, col, sum);
  }
};

// Writes zeros, which pass a test with a generous absolute tolerance.
struct constant_output : per_element<constant_output> {
  static __device__ void element(const gemm& g, int row, int col) { g.store(row, col, 0); }
};

// A NaN in the middle: a comparison |expected - x| > tolerance does not detect it.
struct nan_output : per_element<nan_output> {
  static __device__ void element(const gemm& g, int row, int col) {
    store_product(g, row, col);
    if (row == g.m / 2 && col == g.n / 2) g.store(row, col, nanf(""));
  }
};

// A bounds check that is off by one omits the last column.
struct drops_last_column : per_element<drops_last_column> {
  static __device__ void element(const gemm& g, int row, int col) {
    if (col < g.n - 1) store_product(g, row, col);
  }
};

// The last element of a large C is never written: one of 16 million.
struct one_unwritten : per_element<one_unwritten> {
  static __device__ void element(const gemm& g, int row, int col) {
    const bool is_last = row == g.m - 1 && col == g.n - 1;
    if (!is_last || g.n < 1024) store_product(g, row, col);
  }
};

// The loop along K ends one term early.
struct drops_k_term : per_element<drops_k_term> {
  static __device__ void element(const gemm& g, int row, int col) {
    g.store(row, col, dot(g, row, col, g.k - 1));
  }
};

// Double buffering without a tail: the last tile along K of an odd number is lost.
struct even_tiles : per_element<even_tiles> {
  static __device__ void element(const gemm& g, int row, int col) {
    constexpr int kTile = 16;
    const int tiles = kzoo::ceil_div(g.k, kTile), even = tiles / 2 * 2 * kTile;
    g.store(row, col, dot(g, row, col, tiles == 1 || even > g.k ? g.k : even));
  }
};

// A grid rounded down: partial tiles are not computed.
struct only_tiles : per_element<only_tiles> {
  static __device__ void element(const gemm& g, int row, int col) {
    if (row < g.m / 16 * 16 && col < g.n / 16 * 16) store_product(g, row, col);
  }
};

// Uses the leading dimension of A for B.
struct only_square : per_element<only_square> {
  static __device__ void element(gemm g, int row, int col) {
    g.ldb = g.lda;
    store_product(g, row, col);
  }
};

struct ignores_alpha : per_element<ignores_alpha> {
  static __device__ void element(gemm g, int row, int col) {
    g.alpha = 1;
    store_product(g, row, col);
  }
};

// An epilogue that overwrites C.
struct ignores_beta : per_element<ignores_beta> {
  static __device__ void element(gemm g, int row, int col) {
    g.beta = 0;
    store_product(g, row, col);
  }
};

struct negative_beta : per_element<negative_beta> {
  static __device__ void element(gemm g, int row, int col) {
    if (g.beta < 0) g.beta = 0;
    store_product(g, row, col);
  }
};

// A special case for vectors that ignores beta.
struct vectors : per_element<vectors> {
  static __device__ void element(gemm g, int row, int col) {
    if (g.m == 1 || g.n == 1) g.beta = 0;
    store_product(g, row, col);
  }
};

struct ldb_for_ldc : per_element<ldb_for_ldc> {
  static __device__ void element(gemm g, int row, int col) {
    g.ldc = g.ldb;
    store_product(g, row, col);
  }
};

struct ldc_for_ldb : per_element<ldc_for_ldb> {
  static __device__ void element(gemm g, int row, int col) {
    g.ldb = g.ldc;
    store_product(g, row, col);
  }
};

// Counts an infinity or NaN as 0.
struct skips_specials : per_element<skips_specials> {
  static __device__ void element(const gemm& g, int row, int col) {
    float sum = 0;
    for (int i = 0; i < g.k; ++i) {
      const float term = g.a_at(row, i) * g.b_at(i, col);
      if (term - term == 0) sum += term;
    }
    g.store(row, col, sum);
  }
};

// Counts an infinity or NaN in C as 0.
struct skips_specials_in_c : per_element<skips_specials_in_c> {
  static __device__ void element(const gemm& g, int row, int col) {
    float& c = g.c[row * g.ldc + col];
    if (g.beta != 0 && c - c != 0) c = 0;
    store_product(g, row, col);
  }
};

// Supports every layout, but reads A and B as if both were row-major.
struct ignores_layout {
  using types = kzoo::types<float>;
  using layouts = kzoo::every_layout;
  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<float, kLayout>& g, kzoo::stream_t stream) const {
    const gemm row_major{g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.a, g.b, g.c, g.alpha, g.beta};
    hostile::launch(hostile::per_element_kernel<hostile::honest>, row_major, stream);
  }
};

// Stores K in 16 bits.
struct long_k : per_element<long_k> {
  static __device__ void element(const gemm& g, int row, int col) {
    g.store(row, col, dot(g, row, col, g.k & 0xffff));
  }
};

// Stores the index of an element in 16 bits.
struct many_elements : per_element<many_elements> {
  static __device__ void element(const gemm& g, int row, int col) {
    if (row * g.n + col <= 0xffff) store_product(g, row, col);
  }
};

}  // namespace

KZOO_PLUGIN("wrong_results", "Wrong everywhere, at some sizes, or in one corner",
            kzoo::variant<a_times_a>("a_times_a", "multiplies A by A"),
            kzoo::variant<constant_output>("constant_output", "writes zeros"),
            kzoo::variant<nan_output>("nan_output", "makes one element NaN"),
            kzoo::variant<drops_last_column>("drops_last_column", "leaves out a column"),
            kzoo::variant<one_unwritten>("one_unwritten", "leaves out an element of a large C"),
            kzoo::variant<drops_k_term>("drops_k_term", "leaves out the last term along k"),
            kzoo::variant<even_tiles>("even_tiles", "right for even numbers of tiles along k"),
            kzoo::variant<only_tiles>("only_tiles", "right for multiples of the tile"),
            kzoo::variant<only_square>("only_square", "right for square matrices"),
            kzoo::variant<ignores_alpha>("ignores_alpha", "alpha is 1 in most tests"),
            kzoo::variant<ignores_beta>("ignores_beta", "beta is 0 in most tests"),
            kzoo::variant<negative_beta>("negative_beta", "right for beta >= 0"),
            kzoo::variant<vectors>("vectors", "no beta where M or N is 1"),
            kzoo::variant<ldb_for_ldc>("ldb_for_ldc", "one stride for B and C"),
            kzoo::variant<ldc_for_ldb>("ldc_for_ldb", "one stride for C and B"),
            kzoo::variant<skips_specials>("skips_specials", "right for finite numbers"),
            kzoo::variant<skips_specials_in_c>("skips_specials_in_c", "right for finite C"),
            kzoo::variant<ignores_layout>("ignores_layout", "right for layout nn"),
            kzoo::variant<long_k>("long_k", "right for K < 65536"),
            kzoo::variant<many_elements>("many_elements", "right for M N <= 65536"));

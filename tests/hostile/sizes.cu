// Variants that support only some sizes, or change their mind about them.
#include "hostile.hpp"

#include <cstdint>

namespace {

using hostile::gemm;
using hostile::honest;
using hostile::per_element;

const char* unless_packed(const kzoo_problem& p) {
  const bool packed = p.lda == p.k && p.ldb == p.n && p.ldc == p.n;
  return packed ? nullptr : "rows must not be padded";
}

// A correct kernel for whole tiles of packed matrices.
struct tiles : honest {
  static constexpr kzoo::granularity granularity{.m = 32, .n = 24, .k = 16, .row_bytes = 16};
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return unless_packed(p);
  }
};

// Restricts sizes to whole tiles in supports() only.
struct undeclared_tiles : honest {
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.m % 32 == 0 && p.n % 32 == 0 && p.k % 16 == 0 ? unless_packed(p)
                                                           : "sizes must be whole tiles";
  }
};

// Wrong if beta is not 0, which only checks with supported sizes find.
struct tiles_without_beta : per_element<tiles_without_beta> {
  static constexpr kzoo::granularity granularity = tiles::granularity;
  static __device__ void element(const gemm& g, int row, int col) {
    g.c[row * g.ldc + col] = g.alpha * hostile::dot(g, row, col, g.k);
  }
};

// Needs 16-byte aligned rows, only says so in supports(), and omits the last row of an odd number.
struct aligned_rows : per_element<aligned_rows> {
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.lda % 4 == 0 && p.ldb % 4 == 0 && p.ldc % 4 == 0 ? nullptr : "rows must be aligned";
  }
  static __device__ void element(const gemm& g, int row, int col) {
    if (g.m % 2 == 0 || row < g.m - 1) hostile::store_product(g, row, col);
  }
};

struct one_shape : honest {
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    return p.m == 129 && p.n == 127 && p.k == 65 && p.beta == 0 ? nullptr : "not this one";
  }
};

struct declines_in_create : honest {
  declines_in_create(const kzoo_problem&, const kzoo_device&) {
    throw kzoo::error(KZOO_UNSUPPORTED, "on second thoughts");
  }
};

// Rejects the problem that it has just computed.
struct declines_later : honest {
  static const char* supports(const kzoo_problem&, const kzoo_device&) {
    return runs == 0 ? nullptr : "enough of that";
  }
  void run(const gemm& g, kzoo::stream_t stream) const {
    ++runs;
    honest::run(g, stream);
  }
  static inline int runs = 0;
};

// Whole tiles that do not fit into memory.
struct fits_nowhere : honest {
  static constexpr kzoo::granularity granularity{.m = 1 << 19, .n = 1 << 19};
};

// Supports every size, but declares sizes that no check can have.
constexpr kzoo_variant with_huge_tiles(kzoo_variant v) {
  v.multiple_m = v.multiple_n = v.multiple_k = 999983;
  return v;
}

}  // namespace

KZOO_PLUGIN("sizes", "Takes some sizes only, or changes its mind about which",
            kzoo::variant<tiles>("tiles", "must pass, with checks on whole tiles"),
            kzoo::variant<undeclared_tiles>("undeclared_tiles", "the same"),
            kzoo::variant<tiles_without_beta>("tiles_without_beta", "ignores beta"),
            kzoo::variant<aligned_rows>("aligned_rows", "right for even numbers of rows"),
            kzoo::variant<one_shape>("one_shape", "right, on the one shape that it takes"),
            kzoo::variant<fits_nowhere>("fits_nowhere", "right, on no problem that there is"),
            with_huge_tiles(kzoo::variant<honest>("claims_too_much", "takes others, too")),
            kzoo::variant<declines_in_create>("declines_in_create", "accepts, then declines"),
            kzoo::variant<declines_later>("declines_later", "declines what it has computed"));

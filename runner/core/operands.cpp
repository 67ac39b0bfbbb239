#include "core/operands.hpp"

#include <utility>

namespace kzoo {

namespace {

struct contents {
  data::content a, b, c;
};

contents contents_of(const problem& p) {
  using enum data::content;
  switch (p.data) {
    case fill::integers:
      return {integers, integers, integers};
    case fill::signs:
      return {signs, thin_signs, signs};
    case fill::probe:
      // i32: products that are exact in fp32, and sums that are not. f32: inputs that are not exact
      // in any narrower format. f16, bf16: partial sums that climb far above 2^11 and come down
      // again, so that accumulators narrower than fp32 lose bits.
      if (is_integer(p.dtype)) return {odd, odd, odd};
      return type_size(p.dtype) == 2 ? contents{hill, bits, signs}
                                     : contents{odd, thin_signs, signs};
    default:
      return {uniform, uniform, uniform};
  }
}

}  // namespace

operands operands_of(const problem& p) {
  const contents inside = contents_of(p);
  const auto matrix = [&](data::content what, std::int64_t rows, std::int64_t cols, bool transposed,
                          std::int64_t ld, std::int64_t which) {
    if (transposed) std::swap(rows, cols);
    return data::matrix{p.dtype, what, rows, cols, ld, data::hash(p.seed, which), {}, transposed};
  };
  return {matrix(inside.a, p.m, p.k, is_a_transposed(p.layout), p.lda(), 0),
          matrix(inside.b, p.k, p.n, is_b_transposed(p.layout), p.ldb(), 1),
          matrix(p.beta == 0.0 ? data::content::poison : inside.c, p.m, p.n, false, p.ldc(), 2)};
}

}  // namespace kzoo

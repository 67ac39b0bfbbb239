#include "core/operands.hpp"

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
    case fill::probe_b:
      // i32: products that are exact in fp32, and sums that are not. f32: inputs that are not exact
      // in any narrower format. f16, bf16: partial sums that climb far above 2^11 and come down
      // again, so that accumulators narrower than fp32 lose bits.
      if (is_integer(p.dtype)) return {odd, odd, odd};
      if (type_size(p.dtype) == 2) return {hill, bits, signs};
      return p.data == fill::probe ? contents{odd, thin_signs, signs} : contents{signs, odd, signs};
    case fill::unequal:
      return {tall_first, no_first, uniform};
    default:
      return {uniform, uniform, uniform};
  }
}

}  // namespace

operands operands_of(const problem& p) {
  const contents inside = contents_of(p);
  const auto matrix = [&](data::content what, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          std::int64_t which) {
    return data::matrix{p.dtype, what, rows, cols, ld, data::hash(p.seed, which)};
  };
  return {matrix(inside.a, p.m, p.k, p.lda(), 0), matrix(inside.b, p.k, p.n, p.ldb(), 1),
          matrix(p.beta == 0.0 ? data::content::poison : inside.c, p.m, p.n, p.ldc(), 2)};
}

}  // namespace kzoo

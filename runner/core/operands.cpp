#include "core/operands.hpp"

namespace kzoo {

operands operands_of(const problem& p) {
  const auto inside = p.data == fill::integers ? data::content::integers : data::content::uniform;
  const auto matrix = [&](data::content what, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          std::int64_t which) {
    return data::matrix{p.dtype, what, rows, cols, ld, data::hash(p.seed, which)};
  };
  return {matrix(inside, p.m, p.k, p.lda(), 0), matrix(inside, p.k, p.n, p.ldb(), 1),
          matrix(p.beta == 0.0 ? data::content::poison : inside, p.m, p.n, p.ldc(), 2)};
}

}  // namespace kzoo

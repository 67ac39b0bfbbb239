#pragma once
// Rows and columns of C past the last whole tile. Where they are few, skinny computes them, for
// which a row of tiles would be in use that are nearly empty:
//
//   4095 x 4097   32 x 17 tiles of 128 x 256, or 32 x 16 of them and a column of 4095 elements

#include <fast_fp32/skinny/skinny.hpp>

#include <cstdint>
#include <vector>

namespace dispatch {

using rows_kernel = skinny::variant<skinny::few::rows, 4, 2>;
using columns_kernel = skinny::variant<skinny::few::columns, 4, 2>;

struct edges {
  int rows = 0, cols = 0;  // that are not in whole tiles

  bool operator==(const edges&) const = default;

  kzoo_problem whole_tiles(kzoo_problem p) const {
    p.m -= rows, p.n -= cols;
    return p;
  }
  kzoo_problem bottom(kzoo_problem p) const {  // all columns of it
    p.m = rows;
    return p;
  }
  kzoo_problem right(kzoo_problem p) const {  // but for the bottom
    p.m -= rows, p.n = cols;
    return p;
  }
};

// What skinny could compute for tiles of this size: nothing, the bottom, the right, or both.
template <class Tile>
std::vector<edges> edges_of(const kzoo_problem& p) {
  constexpr int kFew = 16;
  const auto beyond = [](std::int64_t size, int tile) {
    const auto rest = static_cast<int>(size % tile);
    return size > tile && rest <= kFew ? rest : 0;
  };
  const int rows = beyond(p.m, Tile::kBM), cols = beyond(p.n, Tile::kBN);
  std::vector<edges> all{{}};
  if (rows > 0) all.push_back({rows, 0});
  if (cols > 0) all.push_back({0, cols});
  if (rows > 0 && cols > 0) all.push_back({rows, cols});
  return all;
}

// `rows` rows of C from row `row` on, and `cols` columns from column `col` on.
template <kzoo::layout kLayout>
kzoo::gemm<float, kLayout> part_of(kzoo::gemm<float, kLayout> g, int row, int rows, int col,
                                   int cols) {
  g.a += kzoo::is_a_transposed(kLayout) ? row : row * g.lda;
  g.b += kzoo::is_b_transposed(kLayout) ? col * g.ldb : col;
  g.c += row * g.ldc + col;
  g.m = rows, g.n = cols;
  return g;
}

}  // namespace dispatch

#pragma once
// Transposition of A and B in memory, in BLAS's letters, first for A, then for B: n: as is, t:
// transposed. C is always row-major.
//
//        A in memory              B in memory              in the ABI (abi.h)
//   nn   m x k, lda >= k          k x n, ldb >= n          both KZOO_ROW_MAJOR
//   nt   m x k                    n x k, ldb >= k          layout_b = KZOO_COLUMN_MAJOR
//   tn   k x m, lda >= m          k x n                    layout_a = KZOO_COLUMN_MAJOR
//   tt   k x m                    n x k                    both KZOO_COLUMN_MAJOR

#include <kzoo/abi.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace kzoo {

// The layouts of A and B.
enum class layout { nn, nt, tn, tt };
// All of them.
inline constexpr std::array kLayouts{layout::nn, layout::nt, layout::tn, layout::tt};

// Whether A is column-major.
constexpr bool is_a_transposed(layout l) { return l == layout::tn || l == layout::tt; }
// Whether B is column-major.
constexpr bool is_b_transposed(layout l) { return l == layout::nt || l == layout::tt; }

// The layout with these transpositions.
constexpr layout layout_of(bool a_transposed, bool b_transposed) {
  return a_transposed ? (b_transposed ? layout::tt : layout::tn)
                      : (b_transposed ? layout::nt : layout::nn);
}
// The layout of a problem's A and B.
constexpr layout layout_of(const kzoo_problem& p) {
  return layout_of(p.layout_a == KZOO_COLUMN_MAJOR, p.layout_b == KZOO_COLUMN_MAJOR);
}

// "nn", "nt", "tn" or "tt".
constexpr std::string_view layout_name(layout l) {
  constexpr std::array<std::string_view, 4> kNames{"nn", "nt", "tn", "tt"};
  return kNames[static_cast<std::size_t>(l)];
}

}  // namespace kzoo

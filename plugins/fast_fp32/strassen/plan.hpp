#pragma once
// The seven products of a problem, and what the workspace holds: five sums of A's quadrants, five
// of B's, and the products.

#include "quadrants.hpp"

#include <algorithm>
#include <array>

namespace strassen {

inline constexpr int kProducts = 7;

struct shape {
  int rows, steps, cols;
};

struct plan {
  halves m, k, n;

  explicit plan(const kzoo_problem& p)
      : m(halves::of(p.m)), k(halves::of(p.k)), n(halves::of(p.n)) {}

  // Whether there are four quadrants of each matrix.
  bool is_halved() const { return std::min({m.second, k.second, n.second}) > 0; }

  // Of M1 to M7. Where one of the two operands is a second quadrant, only as much as that has.
  std::array<shape, kProducts> shapes() const {
    return {{{m.first, k.first, n.first},
             {m.second, k.first, n.first},
             {m.first, k.first, n.second},
             {m.second, k.second, n.first},
             {m.first, k.second, n.second},
             {m.first, k.first, n.first},
             {m.first, k.second, n.first}}};
  }

  // Product i of problem p, for the kernel that computes it.
  kzoo_problem product(const kzoo_problem& p, int i) const {
    kzoo_problem of = p;
    const shape s = shapes()[i];
    of.m = s.rows, of.k = s.steps, of.n = s.cols;
    of.lda = i == 2 || i == 3 ? p.lda : k.first;
    of.ldb = i == 1 || i == 4 ? p.ldb : n.first;
    of.ldc = n.first;
    of.alpha = 1.0;
    of.beta = 0.0;
    of.alignment = std::min<std::uint64_t>(p.alignment, 16);
    return of;
  }

  std::ptrdiff_t elements() const { return kSums * (of_a() + of_b()) + kProducts * of_c(); }
  quadrants a_in(const kzoo::gemm<float>& g, float* workspace) const {
    return quadrants_of(g.a, g.lda, m, k, workspace);
  }
  quadrants b_in(const kzoo::gemm<float>& g, float* workspace) const {
    return quadrants_of(g.b, g.ldb, k, n, workspace + kSums * of_a());
  }
  float* product_in(float* workspace, int i) const {
    return workspace + kSums * (of_a() + of_b()) + i * of_c();
  }

 private:
  std::ptrdiff_t of_a() const { return std::ptrdiff_t{m.first} * k.first; }
  std::ptrdiff_t of_b() const { return std::ptrdiff_t{k.first} * n.first; }
  std::ptrdiff_t of_c() const { return std::ptrdiff_t{m.first} * n.first; }

  static quadrants quadrants_of(const float* x, std::ptrdiff_t ld, const halves& rows,
                                const halves& cols, float* sums) {
    const float* const lower = x + rows.first * ld;
    return {{x, ld, rows.first, cols.first},
            {x + cols.first, ld, rows.first, cols.second},
            {lower, ld, rows.second, cols.first},
            {lower + cols.first, ld, rows.second, cols.second},
            sums};
  }
};

}  // namespace strassen

#pragma once
// For which problems the candidates are measured, and which of them have the choice in common.

#include <kzoo/abi.h>

#include <algorithm>
#include <cstdint>

namespace common {

// At the peak of an H200 a smaller product takes a microsecond, less than its launch; and checks
// ask for many of them, each of another shape.
inline bool is_worth_measuring(const kzoo_problem& p) {
  constexpr double kFewestMultiplications = 1 << 25;  // about 320³
  const auto products = static_cast<double>(std::max<std::int64_t>(1, p.batch));
  return products * static_cast<double>(p.m) * static_cast<double>(p.n) *
             static_cast<double>(p.k) >=
         kFewestMultiplications;
}

// The heuristic proposes the same for problems that differ in their scalars alone; whether beta is
// 0 decides whether C is read.
inline kzoo_problem without_scalars(kzoo_problem p) {
  p.alpha = p.scale_a = p.scale_b = 1;
  p.beta = p.beta == 0 ? 0 : 1;
  return p;
}

}  // namespace common

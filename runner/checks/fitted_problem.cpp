#include "checks/fitted_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace kzoo::checks {
namespace {

std::int64_t up_to_multiple(std::int64_t x, std::int64_t of) { return (x + of - 1) / of * of; }

std::int64_t narrowest(const element_types& t) {
  return static_cast<std::int64_t>(std::min({type_size(t.a), type_size(t.b), type_size(t.c)}));
}

problem rounded_up(problem p, const results::granularity& g) {
  const std::int64_t row = std::max<std::int64_t>(1, g.row_bytes / narrowest(p.dtype));
  const bool a_has_rows_of_m = is_a_transposed(p.layout);
  const bool some_rows_of_k = !a_has_rows_of_m || is_b_transposed(p.layout);
  p.m = up_to_multiple(p.m, std::lcm(g.m, a_has_rows_of_m ? row : 1));
  p.n = up_to_multiple(p.n, std::lcm(g.n, row));  // rows of C
  p.k = up_to_multiple(p.k, std::lcm(g.k, some_rows_of_k ? row : 1));
  p.padding = up_to_multiple(p.padding, row);
  p.batch_padding = up_to_multiple(p.batch_padding, row);
  return p;
}

}  // namespace

fitted_problem fit(candidate& c, const problem& p) {
  constexpr std::int64_t kLargestStep = 512;
  const auto objection_to = [&](const problem& asked) {
    return c.client().objection(c.who().device, c.who().variant, asked);
  };
  const problem first = rounded_up(p, c.who().description.granularity);
  const auto objection = objection_to(first);
  if (!objection) return {first, ""};
  for (std::int64_t step = 2; step <= kLargestStep; step *= 2) {
    const problem aligned = rounded_up(p, {1, 1, 1, step * narrowest(p.dtype)});  // rows alone
    if (!objection_to(aligned)) return {aligned, ""};
    problem larger = rounded_up(p, {step, step, step, 1});
    larger.padding = up_to_multiple(p.padding, step);
    larger.batch_padding = up_to_multiple(p.batch_padding, step);
    if (!objection_to(larger)) return {larger, ""};
  }
  if (p.padding == 0 && p.batch_padding == 0) return {std::nullopt, *objection};
  problem packed = p;
  packed.padding = packed.batch_padding = 0;
  fitted_problem without = fit(c, packed);
  without.objection = *objection;
  return without;
}

}  // namespace kzoo::checks

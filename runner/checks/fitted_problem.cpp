#include "checks/fitted_problem.hpp"

#include "devices/devices.hpp"

#include <fmt/format.h>

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
  const std::int64_t in_word = elements_in_word(p.dtype.b);
  const std::int64_t row = in_word * std::max<std::int64_t>(1, g.row_bytes / narrowest(p.dtype));
  const auto multiple_of = [](std::int64_t size, std::int64_t and_of) {
    constexpr std::int64_t kTooLong = kLargestDimension + 1;
    return std::lcm(std::min(size, kTooLong), std::min(and_of, kTooLong));
  };
  const bool a_has_rows_of_m = is_a_transposed(p.layout);
  const bool some_rows_of_k = !a_has_rows_of_m || is_b_transposed(p.layout);
  p.m = up_to_multiple(p.m, multiple_of(g.m, a_has_rows_of_m ? row : 1));
  p.n = up_to_multiple(p.n, multiple_of(g.n, row));  // rows of C
  p.k = up_to_multiple(p.k, multiple_of(g.k, some_rows_of_k ? row : 1));
  p.padding = up_to_multiple(p.padding, row);
  p.batch_padding = up_to_multiple(p.batch_padding, row);
  return p;
}

double multiply_adds(const problem& p) {
  return double(p.batch) * double(p.m) * double(p.n) * double(p.k);
}
double matrices_bytes(const problem& p) {
  const double m = double(p.m), n = double(p.n), k = double(p.k);
  return double(p.count_a()) * m * k * double(type_size(p.dtype.a)) +
         double(p.count_b()) * k * n * double(type_size(p.dtype.b)) +
         double(p.batch) * m * n * double(type_size(p.dtype.c));
}

// Why a check cannot have the problem; "": it can. It may take some times as long as the cell's own
// one, or as one that is small, and half of the memory, since some checks hold two copies.
std::string why_too_large(const candidate& c, const problem& p) {
  const problem& own = c.current_problem();
  const double small = c.who().simulated ? 0x1p31 : 0x1p33;  // that is 2048³
  constexpr double kTimesAsLong = 8, kSurelyFits = 0x1p28;
  const double bytes = matrices_bytes(p);
  if (std::max({p.m, p.n, p.k}) > 2 * kLargestDimension) return "is too large";
  if (bytes > std::max(kSurelyFits, matrices_bytes(own)) &&
      2 * bytes > double(devices::free_memory(devices::find(c.who().device))))
    return fmt::format("does not fit into memory ({:.1f} GB)", bytes / 1e9);
  const bool is_long = multiply_adds(p) > std::max(small, kTimesAsLong * multiply_adds(own));
  return is_long ? "takes too long" : "";
}

}  // namespace

fitted_problem fit(candidate& c, const problem& p) {
  constexpr std::int64_t kLargestStep = 512;
  const auto objection_to = [&](const problem& asked) {
    return c.client().objection(c.who().device, c.who().variant, asked);
  };
  const problem first = rounded_up(p, c.who().description.granularity);
  if (const std::string why = why_too_large(c, first); !why.empty())
    return {std::nullopt, fmt::format("{} is {} in whole tiles, which {}", shape_name(p),
                                      shape_name(first), why)};
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
  // A kernel for few rows, or for few columns.
  constexpr std::int64_t kFew = 16;
  for (std::int64_t problem::*const size : {&problem::m, &problem::n}) {
    if (p.*size <= kFew) continue;
    problem narrow = p;
    narrow.*size = kFew;
    if (fitted_problem found = fit(c, narrow); found.taken) return found;
  }
  if (p.padding == 0 && p.batch_padding == 0) return {std::nullopt, *objection};
  problem packed = p;
  packed.padding = packed.batch_padding = 0;
  fitted_problem without = fit(c, packed);
  without.objection = *objection;
  return without;
}

}  // namespace kzoo::checks

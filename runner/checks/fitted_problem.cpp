#include "checks/fitted_problem.hpp"

#include "devices/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace kzoo::checks {
namespace {

constexpr std::int64_t kFew = 16;  // rows or columns

double multiply_adds(const problem& p) {
  return double(p.batch) * double(p.m) * double(p.n) * double(p.k);
}
double matrices_bytes(const problem& p) {
  const double m = double(p.m), n = double(p.n), k = double(p.k);
  return double(p.count_a()) * m * k * double(type_size(p.dtype.a)) +
         double(p.count_b()) * k * n * double(type_size(p.dtype.b)) +
         double(p.batch) * m * n * double(type_size(p.dtype.c));
}

// Why a check cannot use the problem; "": it can. Allowed: several times the cell's own time or a
// small problem's, and half of the memory, since some checks hold two copies.
std::string why_too_large(const candidate& c, const problem& p) {
  const problem& own = c.current_problem();
  const double small = c.who().simulated ? 0x1p31 : 0x1p33;  // 2048³
  constexpr double kTimesAsLong = 8, kSurelyFits = 0x1p28;
  const double bytes = matrices_bytes(p);
  if (std::max({p.m, p.n, p.k}) > 2 * kLargestDimension) return "is too large";
  if (bytes > std::max(kSurelyFits, matrices_bytes(own)) &&
      2 * bytes > double(devices::free_memory(devices::find(c.who().device))))
    return fmt::format("does not fit into memory ({:.1f} GB)", bytes / 1e9);
  const bool is_long = multiply_adds(p) > std::max(small, kTimesAsLong * multiply_adds(own));
  return is_long ? "takes too long" : "";
}

// Whether `takes` accepts larger round sizes, or few rows or columns. If not, its objection is not
// about size, and searching hundreds of sizes is useless.
bool is_taken_in_round_sizes(const problem& p, const size_granularity& declared,
                             const auto& takes) {
  problem packed = p;
  packed.padding = packed.batch_padding = 0;
  const auto takes_multiples_of = [&](std::int64_t step, problem of) {
    return takes(rounded_up(of, both_of(declared, {step, step, step, step * narrowest(p.dtype)})));
  };
  const auto with = [&](std::int64_t m, std::int64_t n) {
    problem narrow = packed;
    narrow.m = std::min(p.m, m);
    narrow.n = std::min(p.n, n);
    return narrow;
  };
  return takes_multiples_of(64, packed) || takes_multiples_of(512, packed) ||
         takes_multiples_of(kFew, with(kFew, p.n)) || takes_multiples_of(kFew, with(p.m, kFew)) ||
         takes_multiples_of(kFew, with(kFew, kFew));
}

}  // namespace

fitted_problem fit(candidate& c, const problem& p) {
  constexpr std::int64_t kLargestStep = 512;
  const auto objection_to = [&](const problem& asked) {
    return c.client().objection(c.who().device, c.who().variant, asked);
  };
  const size_granularity& declared = c.who().description.granularity;
  const problem first = rounded_up(p, declared);
  if (!broken_by(declared, p).empty()) objection_to(p);  // throws if there is none
  if (const std::string why = why_too_large(c, first); !why.empty())
    return {std::nullopt, fmt::format("{} is {} in whole tiles, which {}", shape_name(p),
                                      shape_name(first), why)};
  const auto objection = objection_to(first);
  if (!objection) return {first, ""};
  const auto takes = [&](const problem& asked) { return !objection_to(asked); };
  if (!is_taken_in_round_sizes(p, declared, takes)) return {std::nullopt, *objection};
  for (std::int64_t step = 2; step <= kLargestStep; step *= 2) {
    const size_granularity rows{1, 1, 1, step * narrowest(p.dtype)};
    const problem aligned = rounded_up(p, both_of(declared, rows));
    if (takes(aligned)) return {aligned, ""};
    const size_granularity sizes{step, step, step, rows.row_bytes};
    const problem larger = rounded_up(p, both_of(declared, sizes));
    if (takes(larger)) return {larger, ""};
  }
  // A kernel for few rows, or for few columns.
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

#include "results/validation.hpp"

#include <algorithm>

namespace kzoo::results {

bool nothing_ran(const validation& v) {
  return std::ranges::all_of(v.variants, [](const validated_variant& one) {
    return std::ranges::all_of(one.findings,
                               [](const finding& f) { return f.outcome == outcome::skipped; });
  });
}

int exit_code(const validation& v) {
  const bool unusable = nothing_ran(v) || std::ranges::any_of(v.plugins, &plugin_record::broken);
  const bool failed = std::ranges::any_of(v.variants, [](const validated_variant& one) {
    return std::ranges::any_of(one.findings, results::is_bad);
  });
  return unusable || failed ? 1 : 0;
}

}  // namespace kzoo::results

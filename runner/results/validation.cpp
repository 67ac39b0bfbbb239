#include "results/validation.hpp"

#include <algorithm>

namespace kzoo::results {

int exit_code(const validation& v) {
  const bool unusable =
      v.variants.empty() || std::ranges::any_of(v.plugins, &plugin_record::broken);
  const bool failed = std::ranges::any_of(v.variants, [](const validated_variant& one) {
    return std::ranges::any_of(one.findings, results::is_bad);
  });
  return unusable || failed ? 1 : 0;
}

}  // namespace kzoo::results

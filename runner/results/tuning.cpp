#include "results/tuning.hpp"

#include <fmt/format.h>

namespace kzoo::results {

std::string point_name(const tuning_point& point) {
  std::string name;
  for (const auto& [parameter, value] : point)
    name += fmt::format("{}{}{}", name.empty() ? "" : "_", parameter, value);
  return name;
}

bool is_variant_of(std::string_view variant, std::string_view point) {
  if (!variant.ends_with(point)) return false;
  const std::string_view before = variant.substr(0, variant.size() - point.size());
  return before.empty() || before.ends_with('_');
}

}  // namespace kzoo::results

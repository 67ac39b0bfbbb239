#include "results/plugin.hpp"

#include <fmt/format.h>

#include <algorithm>

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

const built_point* tuned_builds::point_of(std::string_view variant) const {
  const auto found = std::ranges::find_if(
      points, [&](const built_point& p) { return is_variant_of(variant, p.name); });
  return found == points.end() ? nullptr : &*found;
}

bool is_authors(const plugin_record& r, const std::vector<std::string>& folders) {
  if (r.file.empty() || !r.source.empty()) return !r.source.empty();
  const auto holds_it = [&](const std::string& folder) {
    const auto inside = r.file.lexically_relative(folder);
    return !inside.empty() && *inside.begin() != "..";
  };
  if (std::ranges::any_of(folders, holds_it)) return true;
  const std::filesystem::path of_device = r.file.parent_path();
  const bool named = of_device.filename() == "cuda" || of_device.filename() == "cpu";
  return !named || of_device.parent_path().filename() != "plugins";
}

}  // namespace kzoo::results

#include "results/plugin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

bool conditions::any() const { return *this != conditions{}; }

bool conditions::slowed_down() const {
  return std::ranges::any_of(clock_reasons, [](const std::string& reason) {
    return reason == "hw_slowdown" || reason == "hw_thermal_slowdown" ||
           reason == "hw_power_brake_slowdown" || reason == "sw_thermal_slowdown";
  });
}

bool conditions::power_capped() const { return clock_reasons.contains("sw_power_cap"); }

void conditions::add(const conditions& later) {
  const auto newest = [](auto& mine, const auto& theirs) {
    if (theirs) mine = theirs;
  };
  const auto highest = [](auto& mine, const auto& theirs) {
    if (theirs) mine = std::max(mine.value_or(*theirs), *theirs);
  };
  newest(sm_mhz, later.sm_mhz);
  newest(memory_mhz, later.memory_mhz);
  newest(power_limit_watts, later.power_limit_watts);
  highest(celsius, later.celsius);
  highest(watts, later.watts);
  clock_reasons.insert(later.clock_reasons.begin(), later.clock_reasons.end());
  clock_reasons.erase("gpu_idle");  // the GPU idles between samples; this lowers no clock
}

std::string to_string(const conditions& c) {
  std::vector<std::string> parts;
  if (c.sm_mhz) parts.push_back(fmt::format("{:.0f} MHz", *c.sm_mhz));
  if (c.memory_mhz) parts.push_back(fmt::format("memory {:.0f} MHz", *c.memory_mhz));
  if (c.celsius) parts.push_back(fmt::format("{:.0f} °C", *c.celsius));
  if (c.watts) {
    parts.push_back(c.power_limit_watts
                        ? fmt::format("{:.0f} of {:.0f} W", *c.watts, *c.power_limit_watts)
                        : fmt::format("{:.0f} W", *c.watts));
  }
  parts.insert(parts.end(), c.clock_reasons.begin(), c.clock_reasons.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace kzoo::results

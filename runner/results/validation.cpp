#include "results/validation.hpp"

#include "core/version.hpp"
#include "results/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kzoo::results {

using json = nlohmann::ordered_json;

int exit_code(const validation& v) {
  const bool unusable =
      v.variants.empty() || std::ranges::any_of(v.plugins, &plugin_record::broken);
  const bool failed = std::ranges::any_of(v.variants, [](const validated_variant& one) {
    return std::ranges::any_of(one.findings, verify::is_bad);
  });
  return unusable || failed ? 1 : 0;
}

json to_json(const validation& v) {
  json variants = json::array();
  for (const validated_variant& one : v.variants) {
    variants.push_back({{"kernel", one.kernel},
                        {"dtype", type_name(one.dtype)},
                        {"precision", precision_name(one.declared)},
                        {"problem", one.problem},
                        {"checks", to_json(one.findings)}});
  }
  json plugins = json::array();
  for (const plugin_record& p : v.plugins) plugins.push_back(to_json(p));
  return {{"schema", "kzoo.validation/1"},  {"runner", {{"version", kVersion}}},
          {"wall_seconds", v.wall_seconds}, {"device", to_json(v.device)},
          {"tier", tier_name(v.tier)},      {"plugins", std::move(plugins)},
          {"variants", std::move(variants)}};
}

}  // namespace kzoo::results

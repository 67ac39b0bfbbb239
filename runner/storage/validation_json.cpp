#include "storage/validation_json.hpp"

#include "core/version.hpp"
#include "storage/results_json.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

std::string to_text(const results::validation& v) {
  json variants = json::array();
  for (const results::validated_variant& one : v.variants) {
    variants.push_back({{"kernel", one.kernel},
                        {"dtype", types_name(one.dtype)},
                        {"precision", precision_name(one.declared)},
                        {"problem", one.problem},
                        {"checks", to_json(one.findings)}});
  }
  json plugins = json::array();
  for (const results::plugin_record& p : v.plugins) plugins.push_back(to_json(p));
  const json j{{"schema", "kzoo.validation/1"},  {"runner", {{"version", kVersion}}},
               {"wall_seconds", v.wall_seconds}, {"device", to_json(v.device)},
               {"tier", tier_name(v.tier)},      {"plugins", std::move(plugins)},
               {"variants", std::move(variants)}};
  return dumped(j, 2) + '\n';
}

}  // namespace kzoo::storage

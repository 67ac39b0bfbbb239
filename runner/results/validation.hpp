#pragma once
// What came of all checks on one plugin: `runner validate`.

#include "core/tier.hpp"
#include "devices/devices.hpp"
#include "results/results.hpp"
#include "verify/check.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kzoo::results {

// One variant in one of its element types.
struct validated_variant {
  std::string kernel;  // plugin:variant
  kzoo_type dtype{};
  kzoo_precision declared{};
  std::string problem;  // the one at hand; "" where it declines all that it could be
  std::vector<verify::finding> findings;
};

struct validation {
  devices::device device;
  kzoo::tier tier = kzoo::tier::full;
  std::vector<plugin_record> plugins;
  std::vector<validated_variant> variants;
  double wall_seconds = 0;
};

// 0: something was checked, no check failed, and no library that is there could not be used; 1
// otherwise. A plugin without a build for the device is nobody's failure.
int exit_code(const validation& v);

// Schema kzoo.validation/1: docs/results.md.
nlohmann::ordered_json to_json(const validation& v);

}  // namespace kzoo::results

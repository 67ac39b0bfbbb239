#pragma once
// Results as JSON, schema kzoo.results/1: docs/results.md describes every field.

#include "results/results.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kzoo::results {

inline constexpr const char* kSchema = "kzoo.results/1";

nlohmann::ordered_json to_json(const document& d);

// Its parts that other documents have too.
nlohmann::ordered_json to_json(const devices::device& d);
nlohmann::ordered_json to_json(const plugin_record& p);
nlohmann::ordered_json to_json(const std::vector<verify::finding>& findings);

}  // namespace kzoo::results

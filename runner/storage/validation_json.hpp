#pragma once
// The results of `runner validate` as JSON, schema kzoo.validation/1: docs/results.md.

#include "results/validation.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kzoo::storage {

nlohmann::ordered_json to_json(const results::validation& v);

}  // namespace kzoo::storage

#pragma once

#include "results/experiment.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace kzoo::storage {

// Parses JSON that begins in a file at `start`; throws input::invalid with the position of the
// error.
nlohmann::ordered_json parse(std::string_view text, const location& start);

}  // namespace kzoo::storage

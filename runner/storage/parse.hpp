#pragma once

#include "results/experiment.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace kzoo::storage {

// JSON that starts at the beginning of a line of a file; throws experiment::invalid with the place.
nlohmann::ordered_json parse(std::string_view text, const location& start);

}  // namespace kzoo::storage

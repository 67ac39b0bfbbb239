#pragma once

#include "experiment/experiment.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace kzoo::results {

// JSON that starts at the beginning of a line of a file; throws experiment::invalid with the place.
nlohmann::ordered_json parse(std::string_view text, const experiment::location& start);

}  // namespace kzoo::results

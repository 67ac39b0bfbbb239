#pragma once
// A profile as JSON, schema kzoo.profile/1: docs/profile.md describes every field.

#include "profile/counters.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kzoo::profile {

nlohmann::ordered_json to_json(const document& d);
std::string to_text(const document& d);  // the text of a file

}  // namespace kzoo::profile

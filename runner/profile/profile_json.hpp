#pragma once
// A profile as JSON, schema kzoo.profile/1: docs/formats.md describes every field.

#include "profile/counters.hpp"

#include <string>

namespace kzoo::profile {

std::string to_text(const document& d);

}  // namespace kzoo::profile

#pragma once
// The result of an analysis as JSON, schema kzoo.xray/1: docs/formats.md.

#include "xray/counters.hpp"

#include <string>

namespace kzoo::xray {

std::string to_text(const document& d);

}  // namespace kzoo::xray

#pragma once
// The results of `runner validate` as JSON, schema kzoo.validation/1: docs/results.md.

#include "results/validation.hpp"

#include <string>

namespace kzoo::storage {

// The text of a file.
std::string to_text(const results::validation& v);

}  // namespace kzoo::storage

#pragma once
// What a source says about how it is built, in its first lines:
//
//   // kzoo: arch=90a libraries=cublas
//
// KEY=VALUE, separated by spaces; commas separate the elements of a list, except inside
// parentheses, and quotes keep spaces together. KEY alone is KEY=true.

#include "experiment/document.hpp"

#include <string_view>

namespace kzoo::compile {

// All such lines before the first that is code, as a table. What is wrong in them is added to
// `report`.
experiment::node_table annotations(std::string_view source, input::diagnostics& report);

}  // namespace kzoo::compile

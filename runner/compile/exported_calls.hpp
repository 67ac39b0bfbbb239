#pragma once
// The functions of an exported project: one for each combination of types and layouts.

#include "compile/exported_project.hpp"

#include <cstddef>
#include <string>

namespace kzoo::compile {

// NAME.h, and NAME.cpp, which has the tables of kernels.
std::string exported_header(const exported_project& p, bool is_cuda);
std::string exported_calls(const exported_project& p);

// What a unit's plugin is called there.
std::string exported_symbol(const exported_project& p, std::size_t unit);

}  // namespace kzoo::compile

#pragma once
// The analysis of xray, for the judge of wrong kernels.

#include "run/plan.hpp"

#include <string>
#include <vector>

namespace kzoo::setup {

// Compiles a source's analysed build, with these options. Other plugins need an existing build.
run::find_access_analysis access_analyses(std::vector<std::string> build_args);

}  // namespace kzoo::setup

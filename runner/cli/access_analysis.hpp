#pragma once
// The analysis of xray, for the judge of wrong kernels.

#include "run/plan.hpp"

#include <string>
#include <vector>

namespace kzoo::cli {

// Of a plugin that was compiled from a source, with these options of the compiler, it compiles the
// analysed build; of others it takes the one that there is.
run::find_access_analysis access_analyses(std::vector<std::string> build_args);

}  // namespace kzoo::cli

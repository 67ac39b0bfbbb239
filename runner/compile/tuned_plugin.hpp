#pragma once
// A plugin of a source at many points of the space that it is tuned over.

#include "compile/cache.hpp"
#include "compile/recipe.hpp"
#include "compile/source_plugin.hpp"
#include "results/plugin.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::compile {

struct tuned_plugin {
  std::filesystem::path library;
  results::tuned_builds builds;
  std::string output;      // the compiler's warnings on the first point that was compiled
  bool host_code = false;  // of the source's, in some point
};

// Compiles each point, as many at a time as there are cores, and joins them to one library, with a
// variant for each. Throws does_not_compile where none
// compiles.
tuned_plugin make_tuned_plugin(const std::filesystem::path& source, const recipe& how,
                               const build_request& asked, const cache& kept,
                               const std::vector<results::tuning_point>& points);

}  // namespace kzoo::compile

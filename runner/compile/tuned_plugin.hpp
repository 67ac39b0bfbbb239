#pragma once
// One plugin of a source at many points of its tuning space; and plugins of a CMake project.

#include "compile/cache.hpp"
#include "compile/source_plugin.hpp"
#include "results/plugin.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::compile {

struct tuned_plugin {
  std::filesystem::path library;
  results::tuned_builds builds;
  std::string output;                // the compiler's warnings on the first point that was compiled
  bool host_code = false;            // the author's host code runs, at some point
  std::vector<std::string> missing;  // headers that were not found and are left out
};

// Shows the progress of compiling, and limits its time.
struct compile_watch {
  // Called with the number of points that are done, by one thread at a time.
  std::function<void(std::size_t done)> progress;
  // After this time, by steady_seconds(), no point but the first begins.
  std::optional<double> deadline{};
};

// Compiles the points, as many at a time as there are cores, and joins them to one library with a
// variant for each. With a deadline, the order is random, so that the compiled points are spread
// over the space. Throws does_not_compile if no point compiles.
tuned_plugin make_tuned_plugin(const std::filesystem::path& source, const recipe& toolchain,
                               const build_request& asked, const cache& kept,
                               const std::vector<results::tuning_point>& points,
                               const compile_watch& watch);

// Builds a folder with a CMakeLists.txt as its author would, but in the cache. Returns its plugins
// for the recipe's device. Throws does_not_compile with the whole output.
std::vector<std::filesystem::path> project_plugins(const std::filesystem::path& folder,
                                                   const recipe& toolchain, const cache& kept);

}  // namespace kzoo::compile

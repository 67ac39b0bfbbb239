#pragma once
// A plugin of a source at many points of the space that it is tuned over.

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
  bool host_code = false;            // of the source's, in some point
  std::vector<std::string> missing;  // headers that were not there, and were left out
};

// How far compiling is, and how long it may take.
struct compile_watch {
  // Called with the number of points that are done, by one thread at a time.
  std::function<void(std::size_t done)> progress;
  std::optional<double> deadline{};  // no point but the first is begun later, by steady_seconds()
};

// Compiles each point, as many at a time as there are cores, and joins them to one library, with a
// variant for each. Where there is a deadline, the points that come before it are spread over the
// space. Throws does_not_compile where none compiles.
tuned_plugin make_tuned_plugin(const std::filesystem::path& source, const recipe& toolchain,
                               const build_request& asked, const cache& kept,
                               const std::vector<results::tuning_point>& points,
                               const compile_watch& watch);

// A folder with a CMakeLists.txt, built as its author would, in a folder of its own in the cache.

// Its plugins for the recipe's device. Throws does_not_compile with the whole output.
std::vector<std::filesystem::path> project_plugins(const std::filesystem::path& folder,
                                                   const recipe& toolchain, const cache& kept);

}  // namespace kzoo::compile

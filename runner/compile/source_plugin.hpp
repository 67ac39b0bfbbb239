#pragma once
// Plugins from a source, compiled as kzoo_add_plugin would: one, or one with a variant for each of
// many points of its tuning space. Plugins of a CMake project.

#include "compile/cache.hpp"
#include "manifest/variants.hpp"
#include "results/plugin.hpp"
#include "source/annotations.hpp"
#include "source/description.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::compile {

// A source does not compile. what() is the compiler's output, followed by what it means.
class does_not_compile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Parts left out of a bare kernel's source. If the whole source does not compile, only the code
// that its kernels need is compiled; if that fails, the same is done in its quoted headers. Missing
// headers are left out.
struct source_cut {
  bool is_cut = false, cuts_headers = false;
  std::vector<std::string> missing{};  // headers
  std::string output{};                // the compiler's, about these headers
};

struct compiled {
  std::filesystem::path library;
  bool is_new = false;    // not from the cache
  std::string output;     // the compiler's warnings, if it is new, and which headers are missing
  bool host_code = true;  // the author's host code runs; false for bare kernels on a GPU
  source_cut cut{};
};

// Build settings of a command line.
struct build_request {
  std::vector<std::string> options;        // compiler options, after the recipe's and the source's
  std::vector<std::string> architectures;  // if not empty, instead of recipe's and source's
  // After this time, by steady_seconds(), no compiler starts: not_begun is thrown.
  std::optional<double> deadline{};
  source_cut cut{};  // to try first
};
class not_begun {};

// The compiled text of a source at a point of its tuning space: the source itself, or a plugin's
// text that launches the kernel in it.
struct source_unit {
  source::build_settings settings;
  std::string preamble;                    // before the source, where the values are macros
  std::optional<std::string> generated{};  // the text of a plugin, if not the source itself
  manifest::described_kernels kernels{};   // that the generated text launches
  bool has_function = false;               // a function of the source launches them
};
source_unit unit_of(const source::description& d, const std::filesystem::path& source,
                    const results::tuning_point& point);

// `point`: values of the source's parameters. A plugin gets them as macros (BM is 64), a bare
// kernel by its description. Throws does_not_compile, input::invalid for errors in `// kzoo:`
// lines, and interrupt::interrupted.
compiled source_plugin(const std::filesystem::path& source, const recipe& toolchain,
                       const build_request& asked, const cache& kept,
                       const results::tuning_point& point = {});

// A plugin of this name from a text that needs no simulator.
std::filesystem::path generated_plugin(const std::string& name, const std::string& text,
                                       const recipe& toolchain, const cache& kept);

struct tuned_plugin {
  std::filesystem::path library;
  results::tuned_builds builds;
  std::string output;                // the compiler's warnings on the first point that was compiled
  bool host_code = false;            // whether some point runs the author's host code
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

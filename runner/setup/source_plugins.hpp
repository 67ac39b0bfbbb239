#pragma once
// Plugins named by a file: "./mine.cu", a library, or a folder with a CMakeLists.txt.

#include "compile/source_plugin.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::setup {

// Thrown when host code is refused. what() names its kind, and alternatives.
class has_host_code : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Compiles the files that selectors name, adds them to the plugins, and makes the selectors name
// plugins. Paths are relative to the experiment file if it names them, else to the working folder.
// Throws input::invalid, compile::does_not_compile, and has_host_code before loading.
void add_files(std::vector<selector>& selectors, const results::experiment& e,
               kzoo_device_kind kind, run::plugin_discovery& plugins);

// A source that is tuned, and the number of configurations in its space.
struct tuned_source {
  std::filesystem::path path;
  std::size_t points;
};
// Takes such sources out of the experiment's plugins and baseline, and compiles nothing. Throws
// input::invalid.
std::vector<tuned_source> take_tuned_sources(results::experiment& e);

// The files of the experiment, of the plugins that it names by files, and of the loaded plugins:
// also headers, manifests and their kernels. Throws input::invalid if a file is missing.
std::vector<std::filesystem::path> files_of(const results::experiment& e,
                                            const std::vector<run::loaded_plugin>& loaded);

// A variant of a plugin from a source, in a build that records its accesses.
struct analysed_variant {
  std::filesystem::path library;
  std::uint32_t variant;
};
analysed_variant analysed_source(const results::plugin_record& plugin, std::uint32_t variant,
                                 const std::vector<std::string>& build_args);

// Compiles the sources at once, for what adds them next. Sources that are tuned are left out.
void compile_ahead(const std::vector<std::filesystem::path>& sources, kzoo_device_kind kind,
                   const std::vector<std::string>& build_args);

// The library compiled from a source, or packed from a manifest and its kernels. Asks no device.
// Throws input::invalid, and compile::does_not_compile.
run::plugin_file compiled_library(const std::filesystem::path& file, kzoo_device_kind kind,
                                  const compile::build_request& asked);
// Throws has_host_code if it has host code.
void require_device_code(const run::plugin_file& p);

}  // namespace kzoo::setup

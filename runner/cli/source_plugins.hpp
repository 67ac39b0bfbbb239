#pragma once
// Plugins that are named by a file: "./mine.cu", a library, or a folder with a CMakeLists.txt.

#include "compile/source_plugin.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"
#include "run/plugin_discovery.hpp"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::cli {

// Thrown where host code is refused. what() says of what kind it is, and what has none.
class has_host_code : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Selectors of the experiment that name files, compiled for the device if they are sources, and
// added to the plugins; the selectors name the plugins then. Relative to the experiment file where
// that names them, else to the working folder. Throws input::invalid, compile::does_not_compile,
// and has_host_code before anything of it is loaded.
void add_files(std::vector<selector>& selectors, const results::experiment& e,
               kzoo_device_kind kind, run::plugin_discovery& plugins);

// The files that the experiment and the plugins that it names by files are in: headers beside the
// sources, manifests and what these name among them; and those of the loaded plugins. Throws
// input::invalid where one is missing.
std::vector<std::filesystem::path> files_of(const results::experiment& e,
                                            const std::vector<run::loaded_plugin>& loaded);

// A variant of a plugin that was compiled from its source, in a build that records its accesses.
struct analysed_variant {
  std::filesystem::path library;
  std::uint32_t variant;
};
analysed_variant analysed_source(const results::plugin_record& plugin, std::uint32_t variant,
                                 const std::vector<std::string>& build_args);

// The library that a source is compiled to for the device, or a manifest and its kernels are packed
// into. No device is asked. Throws input::invalid, and compile::does_not_compile.
run::plugin_file compiled_library(const std::filesystem::path& file, kzoo_device_kind kind,
                                  const compile::build_request& asked);
// Throws has_host_code where it has some.
void require_device_code(const run::plugin_file& p);

}  // namespace kzoo::cli

#include "xray/analysed_build.hpp"

#include "compile/run_compiler.hpp"
#include "core/verdict.hpp"
#include "os/printable.hpp"
#include "process/build_lock.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <system_error>

namespace kzoo::xray {
namespace {

namespace fs = std::filesystem;

// Written by kzoo_add_plugin: CMake, its build folder, and the target.
struct build_recipe {
  std::string cmake;
  fs::path folder;
  std::string target;
};

build_recipe read_build_recipe(const fs::path& file, const std::string& plugin) {
  build_recipe r;
  std::ifstream in(file);
  std::string folder;
  if (!std::getline(in, r.cmake) || !std::getline(in, folder) || !std::getline(in, r.target)) {
    throw failure(verdict::unavailable,
                  fmt::format("there is no {}, which says how {} is built for xray: that needs a "
                              "plugin built by kzoo_add_plugin with g++",
                              file.string(), plugin));
  }
  r.folder = folder;
  if (!fs::exists(r.folder)) {
    throw failure(
        verdict::unavailable,
        fmt::format("xray builds {} anew, and its build folder {} is not here", plugin, folder));
  }
  // The build writes into the folder, and the file could name any folder.
  std::error_code fault;
  const fs::path below = fs::canonical(file, fault).lexically_relative(fs::canonical(r.folder));
  if (below.empty() || *below.begin() == ".." || !fs::exists(r.folder / "CMakeCache.txt", fault)) {
    throw failure(verdict::unavailable,
                  fmt::format("xray builds {} anew, and {} names {}, which is not the build folder "
                              "that the plugin is in",
                              plugin, file.string(), r.folder.string()));
  }
  return r;
}

fs::path folder_of_builds(const fs::path& file) {
  return fs::absolute(file).parent_path().parent_path() / "cpu-xray";
}

}  // namespace

fs::path existing_build(const fs::path& file) {
  const fs::path library = folder_of_builds(file) / file.filename();
  std::error_code ignored;
  const bool is_current = fs::exists(library, ignored) && fs::last_write_time(library, ignored) >=
                                                              fs::last_write_time(file, ignored);
  return is_current ? library : fs::path();
}

fs::path analysed_build(const fs::path& file) {
  constexpr double kTimeoutSeconds = 600;
  const std::string name = file.stem().string();
  const fs::path folder = folder_of_builds(file);
  const build_recipe r = read_build_recipe(folder / (name + ".build"), name);
  const process::build_lock lock(r.folder);
  const process::command_result built = compile::run_compiler(
      {r.cmake, "--build", r.folder.string(), "--target", r.target}, r.folder, kTimeoutSeconds);
  const fs::path library = folder / (name + ".so");
  if (built.code != 0 || !fs::exists(library)) {
    throw failure(verdict::error,
                  fmt::format("{} cannot be built for xray: cmake {}: {}", name,
                              process::how_it_failed(built, kTimeoutSeconds),
                              printable(process::first_error_in(built.output), 500)));
  }
  return library;
}

}  // namespace kzoo::xray

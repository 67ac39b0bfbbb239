#include "cli/source_plugins.hpp"

#include "cli/commands.hpp"
#include "compile/project.hpp"
#include "compile/source_plugin.hpp"
#include "core/kernel_id.hpp"
#include "devices/devices.hpp"
#include "input/diagnostics.hpp"
#include "manifest/pack.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kCompiledKernels{".cubin", ".fatbin", ".ptx"};

[[noreturn]] void refuse(const selector& s, const std::string& why) {
  input::refuse(to_string(s.where), why);
}

compile::compiled compile_for(const std::string& device, const fs::path& source,
                              const std::vector<std::string>& build_args,
                              const compile::cache& kept) {
  const compile::recipe how = compile::read_recipe(recipe_folder(), device);
  compile::compiled made = compile::source_plugin(source, how, build_args, kept);
  if (made.is_new) print_to(stderr, "{}compiled {} for {}\n", made.output, source.string(), device);
  return made;
}

// A plugin of the compiled kernels that a manifest names.
fs::path packed(const fs::path& manifest, const compile::cache& kept) {
  const std::string library = manifest::pack(manifest, launcher_library());
  const std::string file = manifest.stem().string() + ".so", key = sha256(library);
  if (const auto known = kept.find(key, file)) return *known;
  const temporary_folder begun = kept.begin();
  write_file(begun.path() / file, library);
  return kept.store(begun.path(), key, file, {manifest.string()});
}

// Without "." in it. A ".." stays: the folder before it may be a link.
fs::path absolute_of(const fs::path& path) {
  fs::path whole;
  for (const fs::path& part : fs::absolute(path))
    if (part != ".") whole /= part;
  return whole;
}

// The plugins in what a selector names: one, or those of a project.
std::vector<run::plugin_file> plugins_in(const fs::path& path, const selector& s,
                                         const std::vector<std::string>& build_args,
                                         kzoo_device_kind kind) {
  const std::string device = devices::kind_name(kind);
  if (path.extension() == ".so") return {{path.stem().string(), absolute_of(path), 0}};
  const compile::cache kept;
  if (!fs::is_directory(path)) {
    if (!is_identifier(path.stem().string())) {
      refuse(s, fmt::format("the plugin would be called '{}'; letters, digits, '_', '.' and '-' "
                            "make a name, so rename the file",
                            path.stem().string()));
    }
    if (path.extension() == ".toml")
      return {{path.stem().string(), packed(fs::canonical(path), kept), KZOO_CUDA}};
    if (std::ranges::count(kCompiledKernels, path.extension()) > 0) {
      refuse(s, fmt::format("{} says nothing of how its kernels are launched; name a manifest that "
                            "does: docs/compiled-kernels.md",
                            path.string()));
    }
    fs::path library = compile_for(device, path, build_args, kept).library;
    return {{path.stem().string(), std::move(library), kind, absolute_of(path)}};
  }
  if (!fs::exists(path / "CMakeLists.txt")) {
    refuse(s, fmt::format("{} has no CMakeLists.txt; name a source in it, or a folder with plugins "
                          "by --plugin-dir",
                          path.string()));
  }
  std::vector<run::plugin_file> found;
  const compile::recipe how = compile::read_recipe(recipe_folder(), device);
  for (const fs::path& library : compile::project_plugins(path, how, kept))
    found.push_back({library.stem().string(), library, kind});
  if (found.empty()) refuse(s, fmt::format("{} builds no plugin for {}", path.string(), device));
  return found;
}

// A plugin of the same name that another selector names.
void check_name(const std::vector<selector>& selectors, const std::string& name,
                const fs::path& path) {
  for (const selector& s : selectors) {
    if (as_file(s.text) || s.text.substr(0, s.text.find(':')) != name) continue;
    refuse(s, fmt::format("two plugins are called {}: this one and {}; give the file another name "
                          "to compare them",
                          name, path.string()));
  }
}

fs::path path_of(const selector& s, const file_selector& file, const fs::path& experiment_file) {
  fs::path path = file.path;
  const bool of_experiment = s.where.line > 0;
  if (of_experiment && path.is_relative()) path = experiment_file.parent_path() / path;
  std::error_code fault;
  if (!fs::exists(path, fault)) {
    refuse(s, fault ? fmt::format("{}: {}", path.string(), fault.message())
                    : fmt::format("there is no file {}", path.string()));
  }
  return path;
}

}  // namespace

void add_files(std::vector<selector>& selectors, const fs::path& experiment_file,
               const std::vector<std::string>& build_args, kzoo_device_kind kind,
               run::plugin_discovery& plugins) {
  std::map<fs::path, std::vector<run::plugin_file>> made;
  std::map<std::string, fs::path> paths;  // by the plugin's name
  std::vector<selector> named;
  for (const selector& s : selectors) {
    const auto file = as_file(s.text);
    if (!file) {
      named.push_back(s);
      continue;
    }
    const fs::path path = path_of(s, *file, experiment_file);
    const auto [known, is_new] = made.try_emplace(fs::canonical(path));
    if (is_new) known->second = plugins_in(path, s, build_args, kind);
    for (const run::plugin_file& p : known->second) {
      named.push_back({file->variant.empty() ? p.name : p.name + ':' + file->variant, s.where});
      if (!is_new) continue;
      if (const auto [first, added] = paths.try_emplace(p.name, path); !added) {
        refuse(s, fmt::format("two plugins are called {}: those of {} and {}; give one file "
                              "another name",
                              p.name, first->second.string(), path.string()));
      }
      check_name(selectors, p.name, path);
      plugins.add_file(p);
    }
  }
  selectors = std::move(named);
}

fs::path analysed_source(const fs::path& source, const std::vector<std::string>& build_args) {
  return compile_for("cpu-xray", source, build_args, compile::cache()).library;
}

}  // namespace kzoo::cli

// `runner compile`: plugins as libraries, for machines that run them.

#include "cli/commands.hpp"
#include "cli/source_plugins.hpp"
#include "compile/annotations.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/interrupt.hpp"
#include "os/output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

kzoo_device_kind kind_asked(const compile_options& o) {
  if (o.device != "cuda" && o.device != "cpu")
    input::refuse("--device",
                  fmt::format("expected cuda or cpu, found {}", input::in_quotes(o.device)));
  if (o.device == "cpu" && !o.architectures.empty())
    input::refuse("--arch", "is of a GPU, and --device cpu is none");
  for (const std::string& name : o.architectures) {
    if (compile::is_architecture(name)) continue;
    input::refuse("--arch", fmt::format("expected {}, found {}", compile::kArchitectureForm,
                                        input::in_quotes(name)));
  }
  return o.device == "cuda" ? KZOO_CUDA : KZOO_CPU;
}

// Where each file's library goes. A plugin's name is that of its library.
std::map<fs::path, std::string> libraries_of(const compile_options& o) {
  std::map<fs::path, std::string> sources;
  for (const std::string& file : o.files) {
    const fs::path library = fs::path(o.out) / fs::path(file).stem().concat(".so");
    if (const auto [known, is_new] = sources.try_emplace(library, file); !is_new) {
      input::refuse("", fmt::format("{} and {} would both become {}; rename one of them",
                                    known->second, file, library.string()));
    }
  }
  return sources;
}

}  // namespace

int compile_files(const compile_options& options) {
  const kzoo_device_kind kind = kind_asked(options);
  const auto libraries = libraries_of(options);
  std::error_code fault;
  fs::create_directories(options.out, fault);
  if (!fs::is_directory(options.out)) {
    throw not_written(
        fmt::format("the folder {} cannot be made: {}", options.out, fault.message()));
  }
  interrupt::catch_signals();
  for (const auto& [library, file] : libraries) {
    replace_file(library, content_of(compiled_library(
                              file, kind, {options.build_args, options.architectures})));
    print_to(stdout, "{}\n", library.string());
  }
  return kOk;
}

}  // namespace kzoo::cli

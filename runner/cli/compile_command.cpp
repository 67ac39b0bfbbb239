// `runner compile`: plugins as libraries, for machines that run them.

#include "cli/commands.hpp"
#include "compile/annotations.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/interrupt.hpp"
#include "os/output.hpp"
#include "setup/source_plugins.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

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

fs::path library_of(const compile_options& o, const std::string& file) {
  return fs::path(o.out) / fs::path(file).stem().concat(".so");
}

// A library's name is its plugin's name.
void refuse_same_names(const compile_options& o) {
  std::map<fs::path, std::string> known;
  for (const std::string& file : o.files) {
    const fs::path library = library_of(o, file);
    if (const auto [first, is_new] = known.try_emplace(library, file); !is_new) {
      input::refuse("", fmt::format("{} and {} would both become {}; rename one of them",
                                    first->second, file, library.string()));
    }
  }
}

}  // namespace

void prepare_to_compile(const compile_options& options) {
  kind_asked(options);
  refuse_same_names(options);
  std::error_code fault;
  fs::create_directories(options.out, fault);
  if (!fs::is_directory(options.out)) {
    throw not_written(
        fmt::format("the folder {} cannot be made: {}", options.out, fault.message()));
  }
}

fs::path compiled_to_folder(const compile_options& options, const std::string& file) {
  const fs::path library = library_of(options, file);
  const run::plugin_file made = setup::compiled_library(
      file, kind_asked(options), {options.build_args, options.architectures});
  if (options.device_code_only) setup::require_device_code(made);
  replace_file(library, content_of(made.file));
  return library;
}

int compile_files(const compile_options& options) {
  prepare_to_compile(options);
  interrupt::catch_signals();
  for (const std::string& file : options.files)
    print_to(stdout, "{}\n", compiled_to_folder(options, file).string());
  return kOk;
}

}  // namespace kzoo::cli

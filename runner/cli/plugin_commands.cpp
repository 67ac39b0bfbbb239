// `runner new`: a plugin's source to begin with, from the template or copied from the zoo. And
// `runner compile`: plugins as libraries, for machines that run them.

#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "core/kernel_name.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/places.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "setup/source_plugins.hpp"
#include "source/annotations.hpp"
#include "source/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <ranges>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

constexpr input::file_kind kSource{"a source file", "", 16};

// The settings as the source's comment line.
std::string annotation(const source::build_settings& settings) {
  std::string line;
  if (!settings.architectures.empty())
    line += fmt::format(" arch={}", fmt::join(settings.architectures, ","));
  if (!settings.libraries.empty())
    line += fmt::format(" libraries={}", fmt::join(settings.libraries, ","));
  if (settings.native) line += " native";
  return line.empty() ? "" : "// kzoo:" + line + '\n';
}

// Replaces the name in KZOO_PLUGIN.
std::string renamed(const std::string& text, const std::string& name) {
  static const std::regex kFirst(R"re((KZOO_PLUGIN\()"[^"]*")re");
  return std::regex_replace(text, kFirst, "$1\"" + name + "\"",
                            std::regex_constants::format_first_only);
}

fs::path source_of(const std::string& plugin) {
  const auto known = plugin_sources();
  if (const auto found = known.find(plugin); found != known.end()) return found->second;
  const auto keys = known | std::views::keys;
  const std::vector<std::string> names(keys.begin(), keys.end());
  input::refuse("--from", "there is no source of a plugin '{}'{}\n  plugins: {}", plugin,
                input::did_you_mean(plugin, names), fmt::join(names, ", "));
}

// The plugin's source under its new name, and the zoo's headers that it includes.
file_texts copied(const fs::path& source, const std::string& name,
                  const source::build_settings& settings, const fs::path& zoo) {
  const std::string renamed_source = name + source.extension().string();
  source::copied_files copies;
  source::add_with_headers(source, renamed_source, {{zoo, ""}}, copies);
  file_texts files = source::texts_of(copies);
  files[renamed_source] = annotation(settings) + renamed(files[renamed_source], name);
  return files;
}

// The template's CMakeLists.txt, changed for the source.
std::string project_file(const std::string& text, const std::string& source,
                         const std::string& name, const source::build_settings& settings) {
  std::string arguments = fmt::format("NAME {} SOURCES {}", name, source);
  if (settings.native) arguments += " DEVICES cpu NATIVE";
  if (!settings.architectures.empty())
    arguments += fmt::format(" ARCH {}", fmt::join(settings.architectures, " "));
  if (!settings.libraries.empty())
    arguments +=
        fmt::format(" DEVICES cuda LINK CUDA::{}", fmt::join(settings.libraries, " CUDA::"));
  return std::regex_replace(text, std::regex(R"(NAME mine SOURCES mine\.cu)"), arguments);
}

kzoo_device_kind checked_device_kind(const compile_options& o) {
  if (o.device != "cuda" && o.device != "cpu")
    input::refuse("--device", "expected cuda or cpu, found {}", input::in_quotes(o.device));
  if (o.device == "cpu" && !o.architectures.empty())
    input::refuse("--arch", "is of a GPU, and --device cpu is none");
  for (const std::string& name : o.architectures) {
    if (source::is_architecture(name)) continue;
    input::refuse("--arch", "expected {}, found {}", source::kArchitectureForm,
                  input::in_quotes(name));
  }
  return o.device == "cuda" ? KZOO_CUDA : KZOO_CPU;
}

// Whether it is a step of their ladder, whose steps take f16 and bf16 only.
bool is_on_tensor_cores(const std::string& plugin) {
  const auto steps = ladder_steps();
  const auto step = steps.find(plugin);
  return step != steps.end() && step->second == "tensor_cores";
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
      input::refuse("", "{} and {} would both become {}; rename one of them", first->second, file,
                    library.string());
    }
  }
}

}  // namespace

int make_new(const new_options& options) {
  const std::string& name = options.name;
  const bool is_word = is_identifier(name) && name.find('.') == std::string::npos;
  if (!is_word || name[0] == '-' || name.size() > kLongestIdentifier) {
    input::refuse("NAME",
                  "a plugin's name is made of letters, digits, '_' and '-', and does not begin "
                  "with '-'; found {}",
                  input::in_quotes(name));
  }
  const fs::path folder = options.out.value_or(name);
  require_new_folder(folder);
  const fs::path sources = data_folder();
  file_texts files;
  source::build_settings settings;
  if (!options.from) {
    files[name + ".cu"] =
        renamed(input::read_file(sources / "template" / "mine.cu", kSource), name);
  } else {
    const fs::path from = source_of(*options.from);
    settings = zoo_settings(from);
    files = copied(from, name, settings, sources / "plugins");
  }
  const std::string source = name + (files.contains(name + ".cu") ? ".cu" : ".cpp");
  if (options.out) {
    files["CMakeLists.txt"] = project_file(
        input::read_file(sources / "template" / "CMakeLists.txt", kSource), source, name, settings);
  }
  write_folder(folder, files);
  const std::string path = (folder / source).string();
  const std::string program = shell_word(program_invocation_name);
  const bool f16 = options.from && is_on_tensor_cores(*options.from);  // quick's matrices are f32
  const std::string run =
      fmt::format("{} run {} --plugins {}", program, f16 ? "tensor --sizes 128" : "quick",
                  shell_word(path + ',' + (f16 ? *options.from : "naive")));
  const std::string watch =
      fmt::format("{} watch {}{}", program, shell_word(path), f16 ? " tensor --sizes 128" : "");
  print_to(stdout,
           "{}: a kernel that is right, to be made fast\n"
           "  {}    runs it beside another\n"
           "  {:{}}    runs it whenever you save it\n",
           path, run, watch, run.size());
  return kOk;
}

void prepare_to_compile(const compile_options& options) {
  checked_device_kind(options);
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
      file, checked_device_kind(options), {options.build_args, options.architectures});
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

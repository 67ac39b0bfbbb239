#include "compile/exported_project.hpp"

#include "compile/description.hpp"
#include "compile/exported_calls.hpp"
#include "compile/source_files.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

// The folders of the project.
constexpr const char *kUnits = "units", *kKernels = "kernels", *kZoo = "zoo", *kInclude = "include",
                     *kManifest = "manifest";

bool is_cuda(const recipe& how) { return how.device == "cuda"; }
const char* extension(const recipe& how) { return is_cuda(how) ? ".cu" : ".cpp"; }

std::string library_of(const exported_project& p, const exported_unit& u) {
  return fmt::format("{}_{}", p.name, u.name);
}

// What is compiled to a library: its own symbol instead of the one that all plugins have.
std::string unit_text(const exported_project& p, std::size_t index) {
  const exported_unit& u = p.units[index];
  std::string text =
      fmt::format("#define kzoo_plugin_v1 {}\n#define KZOO_BUILD_INFO \"exported\"\n",
                  exported_symbol(p, index));
  if (!u.how.generated.empty()) {
    static const std::regex kLine(R"(#line [^\n]*\n)");  // of the file here
    return text + std::regex_replace(u.how.generated, kLine, "");
  }
  for (const auto& [name, value] : u.values) text += fmt::format("#define {} {}\n", name, value);
  const fs::path source = u.zoo.empty() ? u.source.filename() : fs::relative(u.source, u.zoo);
  return text + fmt::format("#include \"{}\"\n", source.generic_string());
}

fs::path folder_of(const exported_unit& u) {
  return u.zoo.empty() ? fs::path(kKernels) / u.source.stem() : fs::path(kZoo);
}

void add_sources(const exported_project& p, const recipe& how, const fs::path& manifest_sources,
                 project_files& files) {
  const include_folder sdk{how.include, kInclude};
  copied_files copied;
  add_with_headers(sdk.from / "kzoo/exported.hpp", sdk.to / "kzoo/exported.hpp", {sdk}, copied);
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const exported_unit& u = p.units[i];
    const fs::path from = u.zoo.empty() ? u.source.parent_path() : u.zoo, to = folder_of(u);
    add_with_headers(u.source, to / fs::relative(u.source, from), {{from, to}, sdk}, copied);
    const fs::path unit = fs::path(kUnits) / (library_of(p, u) + extension(how));
    files[unit] = unit_text(p, i);
    if (u.how.generated.empty()) continue;
    const fs::path launcher = "kzoo/bare_kernel.hpp";  // which the generated text includes
    add_with_headers(sdk.from / launcher, sdk.to / launcher, {sdk}, copied);
    for (const char* name : {"expression.cpp", "launch_plan.cpp"})
      add_with_headers(manifest_sources / name, fs::path(kManifest) / name, {sdk}, copied);
  }
  for (const auto& [to, from] : copied) files[to] = read_source(from, from.string());
}

// How a unit is compiled, beside what all of them have.
words options_of(const exported_unit& u, const recipe& how) {
  words all{"-I" + folder_of(u).string()};
  if (is_cuda(how)) {
    for (const std::string& name :
         u.how.settings.architectures.empty() ? how.architectures : u.how.settings.architectures)
      all.push_back(architecture_option(name));
  }
  for (const words* more : {&u.how.settings.options, &u.options})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

words common_options(const recipe& how) {
  words all = how.options;
  for (const std::string& definition : how.definitions) all.push_back("-D" + definition);
  if (!is_cuda(how)) all.emplace_back("-DKZOO_NATIVE=1");
  all.push_back(std::string("-I") + kInclude);
  return all;
}

std::string quoted_for_make(const words& options) {
  words quoted;
  for (const std::string& option : options)
    quoted.push_back(std::regex_replace(shell_word(option), std::regex("\\$"), "$$$$"));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string link_words(const exported_unit& u, const char* format) {
  std::string text;
  for (const std::string& library : u.how.settings.libraries)
    text += fmt::format(fmt::runtime(format), library);
  return text;
}

std::string makefile_text(const exported_project& p, const recipe& how) {
  const bool cuda = is_cuda(how);
  const char* const compiler = cuda ? "$(NVCC)" : "$(CXX)";
  const std::string linker = cuda ? "-Xlinker=" : "-Wl,";
  words libraries;
  for (const exported_unit& u : p.units) libraries.push_back("lib" + library_of(p, u) + ".so");
  std::string text = fmt::format(
      "# make: lib{0}.so, whose functions {0}.h has, and beside it the kernels, each of which is a "
      "library,\n# so that builds of one source do not mix.\n{1}"
      "FLAGS = {2}\n# A library shows what {0}.cpp needs of it.\n"
      "SHARED = -shared {3}--version-script={0}.exports{4}\n\nall: lib{0}.so\n\n"
      "lib{0}.so: {0}.cpp {0}.h {5}\n"
      "\t{6} $(FLAGS) $(SHARED) -o $@ {0}.cpp -L. {7} {3}-rpath {3}'$$ORIGIN'\n",
      p.name, cuda ? "NVCC ?= nvcc\n" : "", quoted_for_make(common_options(how)), linker,
      cuda ? " -cudart shared" : "", fmt::join(libraries, " "), compiler, [&] {
        std::string all;
        for (const std::string& library : libraries) all += " -l:" + library;
        return all.substr(1);
      }());
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const exported_unit& u = p.units[i];
    const std::string source = fmt::format("{}/{}{}", kUnits, library_of(p, u), extension(how));
    text += fmt::format("\n{}: {}\n\t{} $(FLAGS) {} $(SHARED) -o $@ $<{}{}\n", libraries[i], source,
                        compiler, quoted_for_make(options_of(u, how)),
                        u.how.generated.empty()
                            ? ""
                            : fmt::format(" {0}/expression.cpp {0}/launch_plan.cpp", kManifest),
                        link_words(u, " -l{}"));
  }
  return text + fmt::format("\nclean:\n\trm -f lib{}.so {}\n\n.PHONY: all clean\n", p.name,
                            fmt::join(libraries, " "));
}

// nvcc's options are not those of the host's compiler, which compiles what a bare kernel is linked
// with.
std::string cmake_options(const words& options, const recipe& how) {
  const std::string list = std::regex_replace(fmt::format("{}", fmt::join(options, ";")),
                                              std::regex(R"([\\"$])"), "\\$&");
  return is_cuda(how) ? fmt::format("\"$<$<COMPILE_LANGUAGE:CUDA>:{}>\"", list)
                      : fmt::format("\"{}\"", list);
}

std::string cmake_text(const exported_project& p, const recipe& how) {
  const bool cuda = is_cuda(how);
  std::string text = fmt::format(
      "# The target {0}, for add_subdirectory(): its functions, which {0}.h has. Each kernel is a "
      "library of its\n# own, so that builds of one source do not mix.\n"
      "cmake_minimum_required(VERSION 3.20)\nproject({0} LANGUAGES CXX{1})\n{2}"
      "set(here ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
      "set(exports -Wl,--version-script=${{here}}/{0}.exports)\n\n"
      "add_library({0} SHARED {0}.cpp)\n"
      "target_compile_features({0} PRIVATE cxx_std_20)\n"
      "target_compile_definitions({0} PRIVATE {3})\n"
      "target_include_directories({0} PUBLIC . PRIVATE {4})\n"
      "target_link_options({0} PRIVATE ${{exports}})\n",
      p.name, cuda ? " CUDA" : "", cuda ? "find_package(CUDAToolkit REQUIRED)\n" : "",
      fmt::join(how.definitions, " "), kInclude);
  if (cuda) text += fmt::format("target_link_libraries({} PRIVATE CUDA::cudart)\n", p.name);
  for (const exported_unit& u : p.units) {
    const std::string target = library_of(p, u);
    words options = common_options(how);
    std::erase(options, std::string("-I") + kInclude);
    const words own = options_of(u, how);
    options.insert(options.end(), own.begin() + 1, own.end());
    text += fmt::format(
        "\nadd_library({0} SHARED {1}/{0}{2}{3})\n"
        "target_compile_features({0} PRIVATE cxx_std_20)\n"
        "target_compile_options({0} PRIVATE {4})\n"
        "target_include_directories({0} PRIVATE {5} {6})\n"
        "target_link_options({0} PRIVATE ${{exports}})\n",
        target, kUnits, extension(how),
        u.how.generated.empty() ? ""
                                : fmt::format(" {0}/expression.cpp {0}/launch_plan.cpp", kManifest),
        cmake_options(options, how), kInclude, folder_of(u).string());
    if (cuda) {
      text += fmt::format(
          "set_target_properties({0} PROPERTIES CUDA_ARCHITECTURES OFF)\n"
          "target_link_libraries({0} PRIVATE CUDA::cudart{1})\n",
          target, link_words(u, " {}"));
    } else if (!u.how.settings.libraries.empty()) {
      text += fmt::format("target_link_libraries({} PRIVATE{})\n", target, link_words(u, " {}"));
    }
    text += fmt::format("target_link_libraries({} PRIVATE {})\n", p.name, target);
  }
  return text;
}

}  // namespace

project_files exported_files(const exported_project& p, const recipe& how,
                             const fs::path& manifest_sources) {
  project_files files;
  add_sources(p, how, manifest_sources, files);
  files[p.name + ".h"] = exported_header(p, is_cuda(how));
  files[p.name + ".cpp"] = exported_calls(p);
  files[p.name + ".exports"] = fmt::format("{{ global: {}_*; local: *; }};\n", p.name);
  files["Makefile"] = makefile_text(p, how);
  files["CMakeLists.txt"] = cmake_text(p, how);
  return files;
}

}  // namespace kzoo::compile

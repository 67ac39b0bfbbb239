#include "compile/exported_project.hpp"

#include "compile/exported_calls.hpp"
#include "compile/needed_code.hpp"
#include "input/diagnostics.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

// Of the project's files, beside letters and digits: make takes other characters for its own.
constexpr std::string_view kInNames = "_-+.,@/";

void check_place(const fs::path& place) {
  const auto is_taken_as_it_is = [](unsigned char c) {
    constexpr unsigned char kAscii = 0x80;
    return c >= kAscii || std::isalnum(c) != 0 || kInNames.find(c) != std::string_view::npos;
  };
  const std::string name = place.string();
  if (std::ranges::all_of(name, is_taken_as_it_is)) return;
  input::refuse(name, fmt::format("make would not find it by this name: use letters, digits and "
                                  "{} in the names of headers and their folders",
                                  kInNames));
}

// The folders of the project.
constexpr const char *kUnits = "units", *kKernels = "kernels", *kZoo = "zoo", *kInclude = "include",
                     *kManifest = "manifest";
constexpr std::array kManifestSources{"expression.cpp", "launch_plan.cpp"};

bool is_cuda(const recipe& how) { return how.device == "cuda"; }
const char* extension(const recipe& how) { return is_cuda(how) ? ".cu" : ".cpp"; }

std::string library_of(const exported_project& p, const exported_unit& u) {
  return fmt::format("{}_{}", p.name, u.name);
}

// The source's place in the folder of its kernel, or of the zoo.
fs::path place_of(const exported_unit& u) {
  return u.zoo.empty() ? u.source.filename() : u.source.lexically_relative(u.zoo);
}
fs::path folder_of(const exported_unit& u) {
  return u.zoo.empty() ? fs::path(kKernels) / u.source.stem() : fs::path(kZoo);
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
  return text + u.how.preamble + fmt::format("#include \"{}\"\n", place_of(u).generic_string());
}

// Returns for each unit whether it is linked with the code that launches bare kernels.
std::vector<bool> add_sources(const exported_project& p, const recipe& how,
                              const fs::path& manifest_sources, file_texts& files) {
  const include_folder sdk{how.include, kInclude};
  const auto of_sdk = [&](const char* header, copied_files& to) {
    add_with_headers(sdk.from / header, sdk.to / header, {sdk}, to);
  };
  copied_files copied;
  file_texts units;
  std::vector<bool> linked;
  of_sdk("kzoo/exported.hpp", copied);
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const exported_unit& u = p.units[i];
    const fs::path from = u.zoo.empty() ? u.source.parent_path() : u.zoo, to = folder_of(u);
    copied_files mine;
    add_with_headers(u.source, to / place_of(u), {{from, to}, sdk}, mine);
    if (!u.how.generated.empty()) of_sdk("kzoo/bare_kernel.hpp", mine);
    const fs::path launching = sdk.to / "kzoo" / "manifest";
    linked.push_back(std::ranges::any_of(
        mine, [&](const auto& file) { return file.first.parent_path() == launching; }));
    if (linked.back()) {
      for (const char* name : kManifestSources)
        add_with_headers(manifest_sources / name, fs::path(kManifest) / name, {sdk}, mine);
    }
    for (const auto& [place, file] : mine) add_file(file, place, copied);
    units[fs::path(kUnits) / (library_of(p, u) + extension(how))] = unit_text(p, i);
  }
  files = texts_of(copied);
  for (const exported_unit& u : p.units) {
    if (u.how.generated.empty()) continue;
    std::string& text = files.at(folder_of(u) / place_of(u));
    const adaptation to{false, !u.missing.empty()};
    text = without_includes(kernel_code(u.how.kernels, u.source, text, to).text, u.missing);
  }
  for (auto& [place, text] : units) add_text(place, std::move(text), files);
  return linked;
}

// Whether it is compiled for the GPU that was tuned on.
bool has_no_architecture(const exported_unit& u, const recipe& how) {
  return is_cuda(how) && u.how.settings.architectures.empty();
}

words architecture_options(const words& names) {
  words all;
  for (const std::string& name : names) all.push_back(architecture_option(name));
  return all;
}

// How a unit is compiled, beside what all of them have.
words options_of(const exported_unit& u) {
  words all = architecture_options(u.how.settings.architectures);
  for (const words* more : {&u.how.settings.options, &u.options})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

// Those that the kernels were tuned with.
words common_options(const recipe& how) {
  words all = how.options;
  for (const std::string& definition : how.definitions) all.push_back("-D" + definition);
  if (!is_cuda(how)) all.emplace_back("-DKZOO_NATIVE=1");
  // A name that is one in the whole process could not be made local.
  all.emplace_back(is_cuda(how) ? "-Xcompiler=-fno-gnu-unique" : "-fno-gnu-unique");
  return all;
}

std::string quoted_for_make(const words& options) {
  words quoted;
  for (const std::string& option : options)
    quoted.push_back(std::regex_replace(shell_word(option), std::regex("\\$"), "$$$$"));
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::string manifest_sources(bool linked, const char* above) {
  std::string text;
  for (const char* name : kManifestSources)
    if (linked) text += fmt::format(" {}{}/{}", above, kManifest, name);
  return text;
}

// Those that units name.
words libraries_of(const exported_project& p) {
  words all;
  for (const exported_unit& u : p.units)
    for (const std::string& library : u.how.settings.libraries) add_once(all, library);
  return all;
}

// `files`: those that are compiled.
std::string makefile_text(const exported_project& p, const recipe& how,
                          const std::vector<bool>& linked, const file_texts& files) {
  const bool cuda = is_cuda(how);
  const char* const compiler = cuda ? "$(NVCC)" : "$(CXX)";
  const std::string linker = cuda ? "-Xlinker=" : "-Wl,";
  words joined;
  std::set<std::string> folders;  // and headers above them
  for (const auto& [place, text] : files) folders.insert(place.begin()->string());
  for (const exported_unit& u : p.units)
    joined.push_back(fmt::format("build/{}.o", library_of(p, u)));
  std::string text = fmt::format(
      "# make: lib{0}.so and lib{0}.a, whose functions {0}.h has. All else is local to a kernel's "
      "object, so\n# that builds of one source do not mix.\n",
      p.name);
  if (cuda) {
    text += fmt::format("NVCC ?= nvcc\n# Of kernels that name none themselves.\nARCH = {}\n",
                        quoted_for_make(architecture_options(p.architectures)));
  }
  text += fmt::format(
      "OBJCOPY ?= objcopy\n# Those that the kernels were tuned with.\nFLAGS = {0}\n"
      "SOURCES := $(shell find {1} -type f) {2}.h {2}.cpp\n\nall: lib{2}.so lib{2}.a\n\n",
      quoted_for_make(common_options(how)), fmt::join(folders, " "), p.name);
  std::string libraries;
  for (const std::string& library : libraries_of(p)) libraries += " -l" + library;
  text += fmt::format(
      "lib{0}.so: build/{0}.o\n\t{1} -shared {2}-z {2}defs {2}-soname {2}$@{3} -o $@ $<{4}\n\n"
      "lib{0}.a: build/{0}.o\n\trm -f $@\n\t$(AR) rcs $@ $<\n\n"
      "build/{0}.o: $(SOURCES) {5}\n"
      "\t{1} $(FLAGS) -I{6} -c -o build/calls.o {0}.cpp\n"
      "\t$(LD) -r --force-group-allocation -o $@ build/calls.o {5}\n"
      "\t$(OBJCOPY) --wildcard --keep-global-symbol='{0}_*' $@\n",
      p.name, compiler, linker, cuda ? " -cudart shared" : "", libraries, fmt::join(joined, " "),
      kInclude);
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const exported_unit& u = p.units[i];
    const std::string name = library_of(p, u);
    text += fmt::format(
        "\nbuild/{0}.o: $(SOURCES)\n\trm -rf build/{0}\n\tmkdir -p build/{0}\n"
        "\tcd build/{0} && {1} $(FLAGS) -I../../{2} -I../../{3}{4} {5} -c ../../{6}/{0}{7}{8}\n"
        "\t$(LD) -r --force-group-allocation -o $@ build/{0}/*.o\n"
        "\t$(OBJCOPY) --keep-global-symbol={9} $@\n",
        name, compiler, kInclude, folder_of(u).string(),
        has_no_architecture(u, how) ? " $(ARCH)" : "", quoted_for_make(options_of(u)), kUnits,
        extension(how), manifest_sources(linked[i], "../../"), exported_symbol(p, i));
  }
  return text +
         fmt::format("\nclean:\n\trm -rf lib{0}.so lib{0}.a build\n\n.PHONY: all clean\n", p.name);
}

// nvcc's options are not those of the host's compiler, which compiles what a bare kernel is linked
// with.
std::string cmake_options(const words& options, const recipe& how) {
  words escaped;
  for (const std::string& option : options) {
    const std::string quoted = std::regex_replace(option, std::regex(R"([\\"$])"), "\\$&");
    escaped.push_back(std::regex_replace(quoted, std::regex(";"), "$$<SEMICOLON>"));
  }
  const std::string list = fmt::format("{}", fmt::join(escaped, ";"));
  return is_cuda(how) ? fmt::format("\"$<$<COMPILE_LANGUAGE:CUDA>:{}>\"", list)
                      : fmt::format("\"{}\"", list);
}

std::string cmake_text(const exported_project& p, const recipe& how,
                       const std::vector<bool>& linked) {
  const bool cuda = is_cuda(how);
  std::string libraries = cuda ? " CUDA::cudart" : "";
  for (const std::string& library : libraries_of(p)) libraries += ' ' + library;
  std::string text = fmt::format(
      "# {0}::{0} and {0}::static, whose functions {0}.h has: for add_subdirectory(), or installed, "
      "for\n# find_package({0}). All else is local to a kernel's object, so that builds of one "
      "source do not mix.\n"
      "cmake_minimum_required(VERSION 3.20)\nproject({0} LANGUAGES CXX{1})\n{2}\n"
      "# The target's objects and others as one, in which but some names are local.\n"
      "function({0}_join target names)\n"
      "  target_compile_features(${{target}} PRIVATE cxx_std_20)\n"
      "  target_compile_options(${{target}} PRIVATE "
      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)\n"
      "  set_target_properties(${{target}} PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
      "  add_custom_command(\n    OUTPUT ${{target}}.o\n"
      "    COMMAND ${{CMAKE_LINKER}} -r --force-group-allocation -o ${{target}}.o --whole-archive\n"
      "            $<TARGET_FILE:${{target}}> --no-whole-archive ${{ARGN}}\n"
      "    COMMAND ${{CMAKE_OBJCOPY}} --wildcard --keep-global-symbol=${{names}} ${{target}}.o\n"
      "    DEPENDS ${{target}} ${{ARGN}} VERBATIM)\n"
      "endfunction()\n",
      p.name, cuda ? " CUDA" : "", cuda ? "find_package(CUDAToolkit REQUIRED)\n" : "");
  if (cuda) {
    text += fmt::format("\n# Of kernels that name none themselves.\nset(arch {})\n",
                        cmake_options(architecture_options(p.architectures), how));
  }
  std::string joined;
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const exported_unit& u = p.units[i];
    words options = common_options(how);
    const words more = options_of(u);
    options.insert(options.end(), more.begin(), more.end());
    const std::string off =
        cuda ? fmt::format("set_target_properties({} PROPERTIES CUDA_ARCHITECTURES OFF)\n",
                           library_of(p, u))
             : "";
    text += fmt::format(
        "\nadd_library({0} STATIC {1}/{0}{2}{3})\n"
        "target_compile_options({0} PRIVATE {4}{5})\n"
        "target_include_directories({0} PRIVATE {6} {7})\n"
        "{8}{9}_join({0} {10})\n",
        library_of(p, u), kUnits, extension(how), manifest_sources(linked[i], ""),
        cmake_options(options, how), has_no_architecture(u, how) ? " ${arch}" : "", kInclude,
        folder_of(u).string(), off, p.name, exported_symbol(p, i));
    joined += fmt::format(" {}.o", library_of(p, u));
  }
  return text +
         fmt::format(
             "\nadd_library({0}_calls STATIC {0}.cpp)\n"
             "target_compile_definitions({0}_calls PRIVATE {1})\n"
             "target_include_directories({0}_calls PRIVATE {2}{3})\n"
             "{0}_join({0}_calls \"{0}_*\"{4})\n"
             "add_custom_target({0}_joined DEPENDS {0}_calls.o)\n\n"
             "add_library({0} SHARED {0}_calls.o)\n"
             "add_library({0}_static STATIC {0}_calls.o)\n"
             "set_target_properties({0}_static PROPERTIES OUTPUT_NAME {0} EXPORT_NAME "
             "static)\nadd_library({0}::{0} ALIAS {0})\n"
             "add_library({0}::static ALIAS {0}_static)\n"
             "foreach(target IN ITEMS {0} {0}_static)\n"
             "  add_dependencies(${{target}} {0}_joined)\n"
             "  set_target_properties(${{target}} PROPERTIES LINKER_LANGUAGE CXX)\n"
             "  target_link_libraries(${{target}} PRIVATE{5})\n"
             "  target_include_directories(${{target}} PUBLIC "
             "$<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}> $<INSTALL_INTERFACE:include>)\n"
             "endforeach()\n\n"
             "install(TARGETS {0} {0}_static EXPORT {0})\n"
             "install(FILES {0}.h TYPE INCLUDE)\n"
             "install(EXPORT {0} NAMESPACE {0}:: FILE {0}-targets.cmake DESTINATION "
             "lib/cmake/{0})\n"
             "install(FILES {0}-config.cmake DESTINATION lib/cmake/{0})\n",
             p.name, fmt::join(how.definitions, " "), kInclude,
             cuda ? " ${CUDAToolkit_INCLUDE_DIRS}" : "", joined, libraries);
}

std::string cmake_config_text(const exported_project& p, const recipe& how) {
  return fmt::format(
      "{}include(${{CMAKE_CURRENT_LIST_DIR}}/{}-targets.cmake)\n",
      is_cuda(how) ? "include(CMakeFindDependencyMacro)\nfind_dependency(CUDAToolkit)\n" : "",
      p.name);
}

}  // namespace

file_texts exported_files(const exported_project& p, const recipe& how,
                          const fs::path& manifest_sources) {
  file_texts files;
  const std::vector<bool> linked = add_sources(p, how, manifest_sources, files);
  for (const auto& [place, text] : files) check_place(place);
  const std::string makefile = makefile_text(p, how, linked, files);
  add_text(p.name + ".h", exported_header(p, is_cuda(how)), files);
  add_text(p.name + ".cpp", exported_calls(p), files);
  add_text(p.name + "-config.cmake", cmake_config_text(p, how), files);
  add_text(".gitignore", "*.so\n*.a\nbuild/\n", files);
  add_text("Makefile", makefile, files);
  add_text("CMakeLists.txt", cmake_text(p, how, linked), files);
  return files;
}

}  // namespace kzoo::compile

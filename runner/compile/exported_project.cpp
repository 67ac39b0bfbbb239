#include "compile/exported_project.hpp"

#include "compile/needed_code.hpp"
#include "input/diagnostics.hpp"
#include "os/assets.hpp"
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

// The folders of the project, as configs/templates/export/ has them too.
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

bool includes_any(std::string_view text, const words& headers) {
  return std::ranges::any_of(includes_in(text), [&](const included& i) {
    return std::ranges::count(headers, i.name) > 0;
  });
}

// Leaves in the copies of a bare kernel's source what it needs: of its headers, too, where they
// include what is not here.
void cut_copies(const exported_unit& u, const copied_files& copied, file_texts& files) {
  const std::string text = files.at(folder_of(u) / place_of(u));
  adaptation to{false, !u.missing.empty()};
  for (const cut_file& each : with_headers(u.source, ""))
    to.cuts_headers = to.cuts_headers || includes_any(each.code.text, u.missing);
  for (const cut_file& each : kernel_code(u.how.kernels, u.source, text, to))
    for (const auto& [place, from] : copied)
      if (*place.begin() == kKernels && fs::equivalent(from, each.file))
        files.at(place) = without_includes(each.code.text, u.missing);
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
  for (const exported_unit& u : p.units)
    if (!u.how.generated.empty()) cut_copies(u, copied, files);
  for (auto& [place, text] : units) add_text(place, std::move(text), files);
  return linked;
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
  return joined(options, " ", [](const std::string& option) {
    return std::regex_replace(shell_word(option), std::regex("\\$"), "$$$$");
  });
}

// A list whose holes have one name.
std::vector<holes> listed(const char* name, const auto& texts) {
  std::vector<holes> all;
  for (const auto& text : texts) all.push_back({{{name, text}}});
  return all;
}

// Those that units name.
words libraries_of(const exported_project& p) {
  words all;
  for (const exported_unit& u : p.units)
    for (const std::string& library : u.how.settings.libraries) add_once(all, library);
  return all;
}

// In one word, as CMake drops words that stand there twice. nvcc's options are not those of the
// host's compiler, which compiles what a bare kernel is linked with.
std::string cmake_options(const words& options, const recipe& how) {
  words escaped;
  for (const std::string& option : options) {
    const std::string quoted =
        std::regex_replace(shell_word(option), std::regex(R"([\\"$])"), "\\$&");
    escaped.push_back(std::regex_replace(quoted, std::regex(";"), "$$<SEMICOLON>"));
  }
  const std::string list = fmt::format("SHELL:{}", fmt::join(escaped, " "));
  return is_cuda(how) ? fmt::format("\"$<$<COMPILE_LANGUAGE:CUDA>:{}>\"", list)
                      : fmt::format("\"{}\"", list);
}

holes holes_of(const exported_project& p, std::size_t index, const recipe& how, bool linked) {
  const exported_unit& u = p.units[index];
  words options = common_options(how);
  const words own = options_of(u);
  options.insert(options.end(), own.begin(), own.end());
  return {{{"unit", library_of(p, u)},
           {"plugin", u.name},
           {"folder", folder_of(u).string()},
           {"symbol", exported_symbol(p, index)},
           {"of_tuned_gpu", is_cuda(how) && u.how.settings.architectures.empty() ? "yes" : ""},
           {"make_options", quoted_for_make(own)},
           {"cmake_options", cmake_options(options, how)}},
          {{"launching", linked ? listed("source", kManifestSources) : std::vector<holes>{}}}};
}

// `files`: those that are compiled.
holes holes_of(const exported_project& p, const recipe& how, const std::vector<bool>& linked,
               const file_texts& files) {
  const bool cuda = is_cuda(how);
  std::set<std::string> folders;  // and headers above them
  for (const auto& [place, text] : files) folders.insert(place.begin()->string());
  const words architectures = architecture_options(p.architectures);
  holes all{
      {{"name", p.name},
       {"cuda", cuda ? "yes" : ""},
       {"compiler", cuda ? "$(NVCC)" : "$(CXX)"},
       {"linker", cuda ? "-Xlinker=" : "-Wl,"},
       {"extension", extension(how)},
       {"folders", joined(folders, " ")},
       {"definitions", joined(how.definitions, " ")},
       {"make_arch", quoted_for_make(architectures)},
       {"make_flags", quoted_for_make(common_options(how))},
       {"cmake_arch", cmake_options(architectures, how)}},
      {{"functions", exported_functions(p)}, {"libraries", listed("library", libraries_of(p))}}};
  for (std::size_t i = 0; i < p.units.size(); ++i)
    all.lists["units"].push_back(holes_of(p, i, how, linked[i]));
  return all;
}

}  // namespace

file_texts exported_files(const exported_project& p, const recipe& how,
                          const fs::path& manifest_sources) {
  file_texts files;
  const std::vector<bool> linked = add_sources(p, how, manifest_sources, files);
  for (const auto& [place, text] : files) check_place(place);
  const holes values = holes_of(p, how, linked, files);
  for (const auto& [name, text] :
       std::initializer_list<std::array<std::string, 2>>{{p.name + ".h", "header.h"},
                                                         {p.name + ".cpp", "calls.cpp"},
                                                         {p.name + "_torch.cpp", "torch.cpp"},
                                                         {p.name + "_torch.py", "torch.py"},
                                                         {p.name + "-config.cmake", "config.cmake"},
                                                         {"Makefile", "Makefile"},
                                                         {"CMakeLists.txt", "CMakeLists.txt"}})
    add_text(name, filled("export/" + text, values), files);
  add_text(".gitignore", "*.so\n*.a\nbuild/\n", files);
  return files;
}

}  // namespace kzoo::compile

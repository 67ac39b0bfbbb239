#include "compile/exported_project.hpp"

#include "compile/bare_kernel.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

// Characters of file names, besides letters and digits, that make does not interpret.
constexpr std::string_view kInNames = "_-+.,@/";

void check_place(const fs::path& place) {
  const auto is_taken_as_it_is = [](unsigned char c) {
    constexpr unsigned char kAscii = 0x80;
    return c >= kAscii || std::isalnum(c) != 0 || kInNames.find(c) != std::string_view::npos;
  };
  const std::string name = place.string();
  if (std::ranges::all_of(name, is_taken_as_it_is)) return;
  input::refuse(name,
                "make would not find it by this name: use letters, digits and {} in the names of "
                "headers and their folders",
                kInNames);
}

// The folders of the project. configs/templates/export/ repeats these names.
constexpr const char *kUnits = "units", *kKernels = "kernels", *kZoo = "zoo", *kInclude = "include",
                     *kManifest = "manifest";
constexpr std::array kManifestSources{"expression.cpp", "launch_plan.cpp"};

bool is_cuda(const recipe& toolchain) { return toolchain.device == "cuda"; }
const char* extension(const recipe& toolchain) { return is_cuda(toolchain) ? ".cu" : ".cpp"; }

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

// The symbol of a unit's plugin in the project.
std::string exported_symbol(const exported_project& p, std::size_t unit) {
  return fmt::format("{}_kernel_{}", p.name, unit);
}

// The text of a library: its own symbol replaces the symbol that all plugins have.
std::string unit_text(const exported_project& p, std::size_t index) {
  const exported_unit& u = p.units[index];
  std::string text =
      fmt::format("#define kzoo_plugin_v1 {}\n#define KZOO_BUILD_INFO \"exported\"\n",
                  exported_symbol(p, index));
  if (u.code.generated) {
    static const std::regex kLine(R"(#line [^\n]*\n)");  // names the file here
    return text + std::regex_replace(*u.code.generated, kLine, "");
  }
  return text + u.code.preamble + fmt::format("#include \"{}\"\n", place_of(u).generic_string());
}

bool includes_any(std::string_view text, const words& headers) {
  return std::ranges::any_of(source::includes_in(text), [&](const source::included& i) {
    return std::ranges::count(headers, i.name) > 0;
  });
}

// Keeps only the needed code in the copies of a bare kernel's source, and of headers that include
// missing files.
void cut_copies(const exported_unit& u, const source::copied_files& copied,
                source::file_texts& files) {
  const std::string text = files.at(folder_of(u) / place_of(u));
  source::adaptation to{false, !u.missing.empty()};
  for (const source::cut_file& each : source::with_headers(u.source, ""))
    to.cuts_headers = to.cuts_headers || includes_any(each.code.text, u.missing);
  for (const source::cut_file& each : source::kernel_code(u.code.kernels, u.source, text, to))
    for (const auto& [place, from] : copied)
      if (*place.begin() == kKernels && fs::equivalent(from, each.file))
        files.at(place) = source::without_includes(each.code.text, u.missing);
}

// Returns for each unit whether it is linked with the code that launches bare kernels.
std::vector<bool> add_sources(const exported_project& p, const recipe& toolchain,
                              const fs::path& manifest_sources, source::file_texts& files) {
  const source::include_folder sdk{toolchain.include, kInclude};
  const auto of_sdk = [&](const char* header, source::copied_files& to) {
    source::add_with_headers(sdk.from / header, sdk.to / header, {sdk}, to);
  };
  source::copied_files copied;
  source::file_texts units;
  std::vector<bool> linked;
  of_sdk("kzoo/exported.hpp", copied);
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    const exported_unit& u = p.units[i];
    const fs::path from = u.zoo.empty() ? u.source.parent_path() : u.zoo, to = folder_of(u);
    source::copied_files mine;
    source::add_with_headers(u.source, to / place_of(u), {{from, to}, sdk}, mine);
    if (u.code.generated) of_sdk("kzoo/bare_kernel.hpp", mine);
    const fs::path launching = sdk.to / "kzoo" / "manifest";
    linked.push_back(std::ranges::any_of(
        mine, [&](const auto& file) { return file.first.parent_path() == launching; }));
    if (linked.back()) {
      for (const char* name : kManifestSources)
        source::add_with_headers(manifest_sources / name, fs::path(kManifest) / name, {sdk}, mine);
    }
    for (const auto& [place, file] : mine) source::add_file(file, place, copied);
    units[fs::path(kUnits) / (library_of(p, u) + extension(toolchain))] = unit_text(p, i);
  }
  files = source::texts_of(copied);
  for (const exported_unit& u : p.units)
    if (u.code.generated) cut_copies(u, copied, files);
  for (auto& [place, text] : units) source::add_text(place, std::move(text), files);
  return linked;
}

words architecture_options(const words& names) {
  words all;
  for (const std::string& name : names) all.push_back(source::architecture_option(name));
  return all;
}

// A unit's own compiler options, in addition to the project's.
words options_of(const exported_unit& u) {
  words all = architecture_options(u.code.settings.architectures);
  for (const words* more : {&u.code.settings.options, &u.options})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

// Compiler options that the kernels were tuned with.
words common_options(const recipe& toolchain) {
  words all = toolchain.options;
  for (const std::string& definition : toolchain.definitions) all.push_back("-D" + definition);
  if (!is_cuda(toolchain)) all.emplace_back("-DKZOO_NATIVE=1");
  // GNU unique symbols are global in the process and could not be made local.
  all.emplace_back(is_cuda(toolchain) ? "-Xcompiler=-fno-gnu-unique" : "-fno-gnu-unique");
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

words libraries_of(const exported_project& p) {
  words all;
  for (const exported_unit& u : p.units)
    for (const std::string& library : u.code.settings.libraries) add_once(all, library);
  return all;
}

// CMake drops repeated words, so options are one word. The host compiler, which compiles a bare
// kernel's launcher, does not get nvcc's options.
std::string cmake_options(const words& options, const recipe& toolchain) {
  words escaped;
  for (const std::string& option : options) {
    const std::string quoted =
        std::regex_replace(shell_word(option), std::regex(R"([\\"$])"), "\\$&");
    escaped.push_back(std::regex_replace(quoted, std::regex(";"), "$$<SEMICOLON>"));
  }
  const std::string list = fmt::format("SHELL:{}", fmt::join(escaped, " "));
  return is_cuda(toolchain) ? fmt::format("\"$<$<COMPILE_LANGUAGE:CUDA>:{}>\"", list)
                            : fmt::format("\"{}\"", list);
}

// Values for a unit in the templates of the Makefile and the CMakeLists.txt.
holes unit_holes(const exported_project& p, std::size_t index, const recipe& toolchain,
                 bool linked) {
  const exported_unit& u = p.units[index];
  words options = common_options(toolchain);
  const words own = options_of(u);
  options.insert(options.end(), own.begin(), own.end());
  return {
      {{"unit", library_of(p, u)},
       {"plugin", u.name},
       {"folder", folder_of(u).string()},
       {"symbol", exported_symbol(p, index)},
       {"of_tuned_gpu", is_cuda(toolchain) && u.code.settings.architectures.empty() ? "yes" : ""},
       {"make_options", quoted_for_make(own)},
       {"cmake_options", cmake_options(options, toolchain)}},
      {{"launching", linked ? listed("source", kManifestSources) : std::vector<holes>{}}}};
}

// Values for the templates of the project's files. `linked`: from add_sources().
holes project_holes(const exported_project& p, const recipe& toolchain,
                    const std::vector<bool>& linked, const source::file_texts& files) {
  const bool cuda = is_cuda(toolchain);
  std::set<std::string> folders;  // and headers above them
  for (const auto& [place, text] : files) folders.insert(place.begin()->string());
  const words architectures = architecture_options(p.architectures);
  holes all{
      {{"name", p.name},
       {"cuda", cuda ? "yes" : ""},
       {"compiler", cuda ? "$(NVCC)" : "$(CXX)"},
       {"linker", cuda ? "-Xlinker=" : "-Wl,"},
       {"extension", extension(toolchain)},
       {"folders", joined(folders, " ")},
       {"definitions", joined(toolchain.definitions, " ")},
       {"make_arch", quoted_for_make(architectures)},
       {"make_flags", quoted_for_make(common_options(toolchain))},
       {"cmake_arch", cmake_options(architectures, toolchain)}},
      {{"functions", exported_functions(p)}, {"libraries", listed("library", libraries_of(p))}}};
  for (std::size_t i = 0; i < p.units.size(); ++i)
    all.lists["units"].push_back(unit_holes(p, i, toolchain, linked[i]));
  return all;
}

}  // namespace

source::file_texts exported_files(const exported_project& p, const recipe& toolchain,
                                  const fs::path& manifest_sources) {
  source::file_texts files;
  const std::vector<bool> linked = add_sources(p, toolchain, manifest_sources, files);
  for (const auto& [place, text] : files) check_place(place);
  const holes values = project_holes(p, toolchain, linked, files);
  for (const auto& [name, text] :
       std::initializer_list<std::array<std::string, 2>>{{p.name + ".h", "header.h"},
                                                         {p.name + ".cpp", "calls.cpp"},
                                                         {p.name + "_torch.cpp", "torch.cpp"},
                                                         {p.name + "_torch.py", "torch.py"},
                                                         {p.name + "-config.cmake", "config.cmake"},
                                                         {"Makefile", "Makefile"},
                                                         {"CMakeLists.txt", "CMakeLists.txt"}})
    source::add_text(name, filled("export/" + text, values), files);
  source::add_text(".gitignore", "*.so\n*.a\nbuild/\n", files);
  return files;
}

namespace {

std::string as_c_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

// "f16_f32_nt", for one combination of types and layouts.
std::string kind_of(const problem& p) {
  std::string types = types_name(p.dtype);
  types = std::regex_replace(types, std::regex("->"), "_");
  return fmt::format("{}_{}", as_c_name(types), layout_name(p.layout));
}

struct function {
  problem of;
  bool has_batches = false;
  std::vector<const exported_choice*> choices;
};

// Functions by the kind of their problems.
std::map<std::string, function> functions_of(const exported_project& p) {
  std::map<std::string, function> all;
  for (const exported_choice& c : p.choices) {
    function& f = all.try_emplace(kind_of(c.problem), function{c.problem, false, {}}).first->second;
    f.has_batches = f.has_batches || c.problem.batch > 1;
    f.choices.push_back(&c);
  }
  return all;
}

// C types, indexed by kzoo_type; void for 16-bit and 8-bit types without a name in C.
constexpr std::array kCTypes{"",       "float",  "void", "void", "int32_t",
                             "double", "int8_t", "void", "void", "void"};
// PyTorch's scalar types, indexed by kzoo_type; "" where PyTorch has none.
constexpr std::array kTorchTypes{"",        "kFloat", "kHalf",          "kBFloat16",    "kInt",
                                 "kDouble", "kChar",  "kFloat8_e4m3fn", "kFloat8_e5m2", ""};
constexpr std::array kPythonTypes{"",        "float32", "float16",       "bfloat16",    "int32",
                                  "float64", "int8",    "float8_e4m3fn", "float8_e5m2", ""};
static_assert(kCTypes.size() == KZOO_I4 + 1 && kTorchTypes.size() == KZOO_I4 + 1 &&
              kPythonTypes.size() == KZOO_I4 + 1);

// "fp32", or "fp32, tf32" where its kernels differ.
std::string precisions_of(const function& f) {
  std::set<std::string> names;
  for (const exported_choice* c : f.choices) names.emplace(precision_name(c->precision));
  return joined(names, ", ");
}

std::vector<holes> choice_holes(const std::vector<const exported_choice*>& choices,
                                const exported_project& p) {
  std::vector<holes> all;
  for (const exported_choice* c : choices) {
    const problem& q = c->problem;
    all.push_back({{{"sizes", fmt::format("{}, {}, {}, {}", q.m, q.n, q.k, q.batch)},
                    {"symbol", exported_symbol(p, c->unit)},
                    {"variant", c->variant ? literal(*c->variant) : "nullptr"},
                    {"kernel", literal(c->name)}}});
  }
  return all;
}

holes function_holes(const std::string& kind, const function& f, const exported_project& p) {
  const element_types& types = f.of.dtype;
  const auto flag = [](bool set) { return set ? "yes" : ""; };
  const auto layout = [](bool transposed) {
    return transposed ? "KZOO_COLUMN_MAJOR" : "KZOO_ROW_MAJOR";
  };
  const bool a = is_a_transposed(f.of.layout), b = is_b_transposed(f.of.layout);
  const std::string begin = fmt::format("const char* {}_{}(", p.name, kind);
  holes all{{{"name", p.name},
             {"kind", kind},
             {"indent", std::string(begin.size(), ' ')},
             {"types", types_name(types)},
             {"precisions", precisions_of(f)},
             {"type_a", std::to_string(types.a)},
             {"type_b", std::to_string(types.b)},
             {"type_c", std::to_string(types.c)},
             {"c_type_a", kCTypes.at(types.a)},
             {"c_type_b", kCTypes.at(types.b)},
             {"c_type_c", kCTypes.at(types.c)},
             {"torch_a", kTorchTypes.at(types.a)},
             {"torch_b", kTorchTypes.at(types.b)},
             {"torch_c", kTorchTypes.at(types.c)},
             {"python_a", kPythonTypes.at(types.a)},
             {"python_b", kPythonTypes.at(types.b)},
             {"python_c", kPythonTypes.at(types.c)},
             {"of_torch", flag(*kTorchTypes.at(types.a) != 0 && *kTorchTypes.at(types.b) != 0)},
             {"along_a", a ? "1" : "0"},
             {"along_b", b ? "1" : "0"},
             {"layout_a", layout(a)},
             {"layout_b", layout(b)},
             {"a_transposed", flag(a)},
             {"b_transposed", flag(b)},
             {"scaled", flag(is_scaled(types))},
             {"batches", flag(f.has_batches)}},
            {{"choices", choice_holes(f.choices, p)}}};
  all.texts["declaration"] = trimmed(filled("export/declaration", all));
  return all;
}

}  // namespace

std::vector<holes> exported_functions(const exported_project& p) {
  std::vector<holes> all;
  for (const auto& [kind, f] : functions_of(p)) all.push_back(function_holes(kind, f, p));
  return all;
}

}  // namespace kzoo::compile

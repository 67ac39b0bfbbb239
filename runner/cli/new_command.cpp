// `runner new`: a plugin's source to begin with, the template or a copy of one of the zoo's.

#include "cli/commands.hpp"
#include "core/kernel_id.hpp"
#include "input/diagnostics.hpp"
#include "input/read_file.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

constexpr input::file_kind kSource{"a source file", "", 16};

// Files to be written, by their path in the new folder.
using file_texts = std::map<fs::path, std::string>;

// How the zoo builds the plugin, as a source's own lines say it.
struct build_words {
  std::string architecture, libraries;
  bool native = false;

  std::string annotation() const {
    std::string line;
    if (!architecture.empty()) line += " arch=" + architecture;
    if (!libraries.empty()) line += " libraries=" + libraries;
    if (native) line += " native";
    return line.empty() ? "" : "// kzoo:" + line + '\n';
  }
};

build_words words_in(const fs::path& cmake_file) {
  build_words found;
  if (!fs::exists(cmake_file)) return found;
  const std::string text = input::read_file(cmake_file, kSource);
  std::smatch match;
  if (std::regex_search(text, match, std::regex(R"(ARCH ([\w-]+))"))) found.architecture = match[1];
  if (std::regex_search(text, match, std::regex(R"(LINK([^)]*)\))"))) {
    const std::string list = match[1];
    const std::regex library(R"(CUDA::(\w+))");
    for (std::sregex_iterator each(list.begin(), list.end(), library), end; each != end; ++each)
      found.libraries += (found.libraries.empty() ? "" : ",") + (*each)[1].str();
  }
  found.native = text.find(" NATIVE") != std::string::npos;
  return found;
}

// The name that KZOO_PLUGIN gives the plugin.
std::string renamed(const std::string& text, const std::string& name) {
  static const std::regex kFirst(R"re((KZOO_PLUGIN\()"[^"]*")re");
  return std::regex_replace(text, kFirst, "$1\"" + name + "\"",
                            std::regex_constants::format_first_only);
}

// Headers of the zoo that a text includes as <folder/header>, and those that they include.
void add_headers(const std::string& text, const fs::path& zoo, file_texts& files) {
  static const std::regex kInclude(R"re(#include <([\w.-]+/[\w./-]+)>)re");
  for (std::sregex_iterator each(text.begin(), text.end(), kInclude), end; each != end; ++each) {
    const fs::path header = (*each)[1].str();
    if (!fs::exists(zoo / header) || files.contains(header)) continue;
    files[header] = input::read_file(zoo / header, kSource);
    add_headers(std::string(files[header]), zoo, files);
  }
}

fs::path source_of(const std::string& plugin) {
  const auto known = plugin_sources();
  if (const auto found = known.find(plugin); found != known.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, source] : known) names.push_back(name);
  input::refuse("--from",
                fmt::format("there is no source of a plugin '{}'{}\n  plugins: {}", plugin,
                            input::did_you_mean(plugin, names), fmt::join(names, ", ")));
}

// The files of the plugin with that source, under its new name.
file_texts copied(const fs::path& source, const std::string& name, const build_words& words,
                  const fs::path& zoo) {
  file_texts files;
  files[name + source.extension().string()] =
      words.annotation() + renamed(input::read_file(source, kSource), name);
  for (const auto& entry : fs::directory_iterator(source.parent_path())) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".hpp" || extension == ".cuh")
      files[entry.path().filename()] = input::read_file(entry.path(), kSource);
  }
  for (const auto& [path, content] : file_texts(files)) add_headers(content, zoo, files);
  return files;
}

// A CMakeLists.txt for the source, as the template's is for its own.
std::string project_file(const std::string& text, const std::string& source,
                         const std::string& name, const build_words& words) {
  std::string arguments = fmt::format("NAME {} SOURCES {}", name, source);
  if (words.native) arguments += " DEVICES cpu NATIVE";
  if (!words.architecture.empty()) arguments += " ARCH " + words.architecture;
  if (!words.libraries.empty()) {
    arguments += " DEVICES cuda LINK CUDA::" +
                 std::regex_replace(words.libraries, std::regex(","), " CUDA::");
  }
  return std::regex_replace(text, std::regex(R"(NAME mine SOURCES mine\.cu)"), arguments);
}

void write(const fs::path& folder, const file_texts& files) {
  for (const auto& [path, text] : files) {
    std::error_code fault;
    fs::create_directories((folder / path).parent_path(), fault);
    if (fault) {
      input::refuse(
          folder.string(),
          fmt::format("cannot be made: {}; choose another place with --out DIR", fault.message()));
    }
    write_file(folder / path, text);
  }
}

}  // namespace

int make_new(const new_options& options) {
  const std::string& name = options.name;
  const bool is_word = std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  if (name.empty() || !is_word || name[0] == '-' || name.size() > kLongestIdentifier) {
    input::refuse("NAME",
                  fmt::format("a plugin's name is made of letters, digits, '_' and '-', and "
                              "does not begin with '-'; found {}",
                              input::in_quotes(name)));
  }
  const fs::path folder = options.out.empty() ? name : options.out;
  if (fs::exists(folder) && !fs::is_empty(folder)) {
    input::refuse(folder.string(),
                  "is there already, and nothing in it is changed; choose another "
                  "name, or another folder with --out");
  }
  const fs::path sources = source_folder();
  file_texts files;
  build_words words;
  if (options.from.empty()) {
    files[name + ".cu"] =
        renamed(input::read_file(sources / "template" / "mine.cu", kSource), name);
  } else {
    const fs::path from = source_of(options.from);
    words = words_in(from.parent_path() / "CMakeLists.txt");
    files = copied(from, name, words, sources / "plugins");
  }
  const std::string source = name + (files.contains(name + ".cu") ? ".cu" : ".cpp");
  if (!options.out.empty()) {
    files["CMakeLists.txt"] = project_file(
        input::read_file(sources / "template" / "CMakeLists.txt", kSource), source, name, words);
  }
  write(folder, files);
  const std::string path = (folder / source).string();
  const std::string program = shell_word(program_invocation_name);
  const std::string run =
      fmt::format("{} run quick --plugins {}", program, shell_word(path + ",naive"));
  const std::string watch = fmt::format("{} watch {}", program, shell_word(path));
  print_to(stdout,
           "{}: a kernel that is right, to be made fast\n"
           "  {}    runs it beside another\n"
           "  {:{}}    runs it whenever you save it\n",
           path, run, watch, run.size());
  return kOk;
}

}  // namespace kzoo::cli

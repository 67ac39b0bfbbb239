#include "compile/recipe.hpp"

#include "compile/cache.hpp"
#include "experiment/reader.hpp"
#include "input/read_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

// The items of a CMake list that are not empty.
std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ';');)
    if (!item.empty()) items.push_back(item);
  return items;
}

// An installed recipe knows folders relative to where it is installed,
// PREFIX/lib/kernel-zoo/recipes.
std::string with_prefix(std::string text, const fs::path& folder) {
  constexpr std::string_view kPrefixMark = "{prefix}";
  const std::string prefix = (folder / "../../..").lexically_normal().string();
  for (auto at = text.find(kPrefixMark); at != std::string::npos; at = text.find(kPrefixMark)) {
    text.replace(at, kPrefixMark.size(),
                 prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix);
  }
  return text;
}

// Where a standalone build (KZOO_STANDALONE) is installed, the compiler is the one in PATH.
std::string in_path(const std::string& compiler, const fs::path& file) {
  if (compiler.find('/') != std::string::npos) return compiler;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::absolute(fs::path(folder) / compiler);
    std::error_code ignored;
    if (access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program, ignored))
      return program.string();
  }
  input::refuse(
      "", fmt::format("sources are compiled with {0}, 12 or later, and there is no {0} in PATH; "
                      "on Debian and Ubuntu: apt install g++ ({1} says how they are compiled)",
                      compiler, file.string()));
}

void check_present(const recipe& r, const fs::path& file) {
  const auto is_missing = [](const std::string& path) {
    return path.starts_with('/') && !fs::exists(path);
  };
  if (is_missing(r.compiler)) {
    input::refuse(
        "", fmt::format(
                "the compiler that this runner was built with, {}, is not here (it is named in {})",
                r.compiler, file.string()));
  }
  const auto library = std::ranges::find_if(r.libraries, is_missing);
  if (library == r.libraries.end()) return;
  input::refuse(
      "", fmt::format("a plugin for {} is linked with {}, which is not here; build it in the "
                      "repository with ./zoo build --all, or install the package that it is from",
                      r.device, *library));
}

}  // namespace

recipe read_recipe(const fs::path& folder, const std::string& device) try {
  const fs::path file = folder / (device + ".toml");
  if (!fs::exists(file)) {
    input::refuse(
        "", fmt::format("this runner cannot compile plugins for {}: there is no {}{}", device,
                        file.string(), device == "cuda" ? "; it was built without nvcc" : ""));
  }
  const std::string text = with_prefix(input::read_file(file), fs::absolute(folder));
  input::diagnostics report(file.string(), text);
  const experiment::node_table document = experiment::parse_document(text, report);
  report.throw_if_any();
  experiment::table_reader keys(document, "", report);
  recipe r;
  r.device = device;
  const auto read = [&](const char* key, auto& out) { keys.read(key, out, experiment::text); };
  const auto read_items = [&](const char* key, std::vector<std::string>& out) {
    std::string list;
    read(key, list);
    out = items_of(list);
  };
  read("compiler", r.compiler);
  read("version", r.version);
  read("build_info", r.build_info);
  read_items("architectures", r.architectures);
  read("include", r.include);
  read("simulated_include", r.simulated_include);
  read("package", r.package);
  read_items("options", r.options);
  read_items("definitions", r.definitions);
  read_items("link_options", r.link_options);
  read_items("libraries", r.libraries);
  keys.finish();
  report.throw_if_any();
  r.compiler = in_path(r.compiler, file);
  check_present(r, file);
  return r;
} catch (const input::invalid& why) {
  throw cannot_compile(why);
}

}  // namespace kzoo::compile

// How the sources depend on each other, as docs/architecture.md has it.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using kzoo::test::read_text;

const fs::path kRunner = kzoo::test::source_folder() / "runner";

struct included {
  int line;
  std::string header;  // with its "" or <>
};

std::vector<included> includes_of(const fs::path& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*("[^"]+"|<[^>]+>))");
  std::vector<included> all;
  std::istringstream text(read_text(file));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) all.push_back({number, match[1]});
  }
  return all;
}

// C++ and CUDA, without main.cpp, which stands above all folders; relative to runner/.
std::vector<fs::path> sources_in_folders() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(kRunner)) {
    constexpr std::array<std::string_view, 4> kKinds{".cpp", ".hpp", ".cu", ".cuh"};
    const fs::path file = entry.path().lexically_relative(kRunner);
    if (std::ranges::count(kKinds, file.extension().string()) > 0 && file.has_parent_path()) {
      all.push_back(file);
    }
  }
  std::ranges::sort(all);
  return all;
}

std::string first_folder(const fs::path& file) { return file.begin()->string(); }

// Whether a file of runner/ includes the JSON library, itself or through others of runner/.
bool includes_json(const fs::path& file, std::map<fs::path, bool>& known) {
  const auto [entry, is_new] = known.try_emplace(file, false);
  if (!is_new || !fs::exists(kRunner / file)) return entry->second;  // version.hpp is generated
  for (const auto& [line, header] : includes_of(kRunner / file)) {
    const bool found =
        header == "<nlohmann/json.hpp>" ||
        (header.front() == '"' && includes_json(header.substr(1, header.size() - 2), known));
    if (found) return entry->second = true;
  }
  return false;
}

struct folder {
  std::string name;
  std::set<std::string> includes;  // beside its own and kCommon
};
const std::set<std::string> kCommon{"os", "data", "core"};

// The table of folders in docs/architecture.md.
std::vector<folder> folders() {
  const std::string page = read_text(kzoo::test::source_folder() / "docs" / "architecture.md");
  const std::regex row(R"(\n\| `([a-z_]+)` \| [^|\n]* \| ([^|\n]*)\|)"), word(R"(\w+)");
  std::vector<folder> all;
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
    const std::string names = (*match)[2];
    folder next{(*match)[1], {std::sregex_token_iterator(names.begin(), names.end(), word), {}}};
    if (next.includes.erase("all") > 0)
      for (const folder& above : all) next.includes.insert(above.name);
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace

TEST_CASE("style: a folder of the runner includes those that docs/architecture.md allows it") {
  std::map<std::string, std::map<std::string, std::string>> included_by;  // and where
  for (const fs::path& file : sources_in_folders())
    for (const auto& [line, header] : includes_of(kRunner / file))
      if (header.front() == '"')
        included_by[first_folder(file)].try_emplace(first_folder(header.substr(1)),
                                                    file.string() + ':' + std::to_string(line));
  std::set<std::string> above;
  for (const folder& f : folders()) {
    INFO("runner/" << f.name);
    for (const std::string& name : f.includes) {
      INFO("includes " << name);
      CHECK(above.contains(name));
    }
    above.insert(f.name);
    for (const auto& [name, where] : included_by[f.name]) {
      INFO("includes " << name << ", runner/" << where);
      CHECK(above.contains(name));
      CHECK((name == f.name || kCommon.contains(name) || f.includes.contains(name)));
    }
  }
}

// What starts a process, or loads a library: author's code must not run where these are not meant
// to be. Paths are relative to the repository.
TEST_CASE("style: processes are started, and libraries loaded, in few places") {
  const std::regex starts(
      R"(\b(exec(l|lp|le|v|ve|vp|vpe)|fexecve|posix_spawnp?|popen|system|v?fork|clone)\(|)"
      R"(\bdlm?open\(|dll::shared_library\b|\brun_command\(|\bsubprocess\.(Popen|run|call|check_)|)"
      R"(\bos\.(exec|spawn|system|popen|fork)|\bctypes\.)");
  const std::map<std::string, std::string> known{
      {"runner/process/child.cpp", "starts every child of the runner"},
      {"runner/process/command.cpp", "by spawn()"},
      {"runner/process/command.hpp", "declares run_command(), which is not confined"},
      {"runner/setup/peaks.cpp", "this program alone, which measures a device"},
      {"runner/html/page.cpp", "Python, with a program of ours and results"},
      {"runner/profile/ncu.cpp", "ncu --version"},
      {"runner/worker/plugin.hpp", "in a worker"},
      {"runner/worker/plugin.cpp", "in a worker, confined"},
      {"runner/xray/analysis.cpp", "in a process of its own, confined"},
      {"runner/devices/nvml.cpp", "the driver's library"},
      {"runner/devices/cuda/cuda_backend.cpp", "the driver's library"},
      {"library/src/plugins.cpp", "in the program that calls libkzoo"},
      {"library/preload/real_cublas.cpp", "in the program that calls cuBLAS"},
      {"sdk/include/kzoo/joined_plugin.hpp", "in a worker, which has the joined plugin"},
      {"python/kzoo/_program.py", "starts the runner"},
      {"python/kzoo/__main__.py", "becomes the runner"}};
  const fs::path root = kRunner.parent_path();
  std::set<std::string> found;
  for (const char* folder : {"runner", "library", "sdk/include", "sdk/src", "python/kzoo"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      constexpr std::array<std::string_view, 6> kKinds{".cpp", ".hpp", ".h", ".cu", ".cuh", ".py"};
      if (std::ranges::count(kKinds, entry.path().extension().string()) == 0) continue;
      std::istringstream text(read_text(entry.path()));
      std::string line;
      for (int number = 1; std::getline(text, line); ++number) {
        const auto code = line.find_first_not_of(' ');
        const bool is_comment = code != std::string::npos && line.compare(code, 2, "//") == 0;
        if (is_comment || !std::regex_search(line, starts)) continue;
        const std::string file = entry.path().lexically_relative(root).string();
        INFO(file << ":" << number << ": " << line);
        CHECK(known.contains(file));
        found.insert(file);
      }
    }
  }
  CHECK(found.size() == known.size());  // none is listed for nothing
}

// The library's header alone takes a compiler longer than most files of the runner.
TEST_CASE("style: few files of the runner include the JSON library") {
  constexpr std::size_t kMost = 24;
  std::map<fs::path, bool> known;
  std::vector<std::string> files;
  for (const fs::path& file : sources_in_folders()) {
    if (!includes_json(file, known)) continue;
    INFO("runner/" << file.string());
    if (file.extension() == ".cpp") files.push_back(file.string());
    if (file.extension() == ".hpp") {
      const std::string folder = first_folder(file);
      CHECK(std::set<std::string>{"storage", "worker", "ranks", "html"}.contains(folder));
    }
  }
  std::ostringstream list;
  for (const std::string& file : files) list << "\n  runner/" << file;
  INFO("files that include <nlohmann/json.hpp>:" << list.str());
  CHECK(files.size() <= kMost);
  CHECK(files.size() > 0);
}

// os/output.hpp makes text of others safe for a terminal.
TEST_CASE("style: what the program shows goes through os/output.hpp") {
  static const std::regex kDirect(
      R"(fmt::print\(|std::puts\(|std::f?printf\(|std::cout|std::cerr)");
  for (const fs::path& file : sources_in_folders()) {
    const std::string folder = first_folder(file);
    if (folder != "report" && folder != "setup" && folder != "cli") continue;
    INFO("runner/" << file.string());
    CHECK_FALSE(std::regex_search(read_text(kRunner / file), kDirect));
  }
}

TEST_CASE("style: docs/architecture.md has every folder of the runner, and no other") {
  std::vector<std::string> named, there;
  for (const folder& f : folders()) named.push_back(f.name);
  for (const auto& entry : fs::directory_iterator(kRunner))
    if (entry.is_directory()) there.push_back(entry.path().filename().string());
  std::ranges::sort(there);
  std::ranges::sort(named);
  CHECK(named == there);
}

// Examples, such as NAME.cu and "k.cu", are in capitals or in quotes.
TEST_CASE("style: each file of ours that a comment of the C++ sources names is there") {
  const fs::path root = kRunner.parent_path();
  // Of Linux, of the driver, and generated.
  std::set<std::string> known{"linux/landlock.h", "nvml.h", "version.hpp"};
  std::vector<fs::path> sources;
  for (const char* folder : {"cmake", "configs", "docs", "examples", "library", "plugins", "python",
                             "runner", "scripts", "sdk", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      constexpr std::array<std::string_view, 5> kKinds{".cpp", ".hpp", ".cu", ".cuh", ".h"};
      const std::string file = entry.path().lexically_relative(root).string();
      if (std::ranges::count(kKinds, entry.path().extension().string()) > 0)
        sources.push_back(entry.path());
      // A comment may leave out the first folders.
      std::size_t at = 0;
      do {
        known.insert(file.substr(at));
        at = file.find('/', at) + 1;
      } while (at != 0);
    }
  }
  const std::regex named(
      R"((?:^|[\s`])((?:[\w.-]+/)*[\w-]*[a-z][\w-]*\.(?:cpp|hpp|cuh?|h|sh|py|md|cmake))(?=[\s`,;:.)']|$))");
  std::size_t count = 0;
  for (const fs::path& source : sources) {
    std::istringstream text(read_text(source));
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      const std::size_t begin = line.find("// ");
      if (begin == std::string::npos || line.find('.', begin) == std::string::npos) continue;
      const std::string comment = line.substr(begin + 3);
      for (std::sregex_iterator at(comment.begin(), comment.end(), named), end; at != end; ++at) {
        INFO(source.string() << ":" << number << ": " << line);
        CHECK(known.contains((*at)[1]));
        ++count;
      }
    }
  }
  CHECK(count > 0);
}

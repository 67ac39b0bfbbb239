#include "cli/zoo_settings.hpp"

#include "input/diagnostics.hpp"
#include "input/read_file.hpp"

#include <regex>
#include <sstream>
#include <string>

namespace kzoo::cli {

compile::build_settings zoo_settings(const std::filesystem::path& source) {
  compile::build_settings found;
  const std::filesystem::path file = source.parent_path() / "CMakeLists.txt";
  if (!std::filesystem::exists(file)) return found;
  static const std::regex kCall(R"(kzoo_add_plugin\(NAME\s+\S+\s+SOURCES\s+\S+([^)]*)\))");
  const std::string text = input::read_file(file);
  std::smatch call;
  std::istringstream rest(std::regex_search(text, call, kCall) ? call[1].str() : " INCLUDE");
  std::string keyword;
  for (std::string word; rest >> word;) {
    constexpr std::string_view kCuda = "CUDA::";
    if (word == "NATIVE")
      found.native = true;
    else if (word == "ARCH" || word == "LINK" || word == "DEVICES")
      keyword = word;
    else if (keyword == "ARCH")
      found.architectures.push_back(word);
    else if (keyword == "LINK" && word.starts_with(kCuda))
      found.libraries.push_back(word.substr(kCuda.size()));
    else if (keyword != "DEVICES")
      input::refuse(file.string(),
                    "the plugin is built with more than its source and CUDA's libraries, so that "
                    "it cannot be copied");
  }
  return found;
}

}  // namespace kzoo::cli

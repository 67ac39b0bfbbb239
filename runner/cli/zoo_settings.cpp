#include "cli/zoo_settings.hpp"

#include "input/diagnostics.hpp"
#include "input/read_file.hpp"

#include <cctype>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

namespace kzoo::cli {

compile::build_settings zoo_settings(const std::filesystem::path& source) {
  compile::build_settings found;
  const std::filesystem::path file = source.parent_path() / "CMakeLists.txt";
  if (!std::filesystem::exists(file)) return found;
  const auto refuse = [&] {
    input::refuse(file.string(),
                  "the plugin is built with more than its source and CUDA's libraries, so that it "
                  "cannot be copied");
  };
  static const std::regex kCall(R"(kzoo_add_plugin\(NAME\s+\S+\s+SOURCES\s+\S+([^)]*)\))");
  const std::string text = input::read_file(file);
  std::smatch call;
  if (!std::regex_search(text, call, kCall)) refuse();
  std::istringstream words(call[1].str());
  std::string keyword;
  for (std::string word; words >> word;) {
    constexpr std::string_view kCuda = "CUDA::";
    if (word == "NATIVE")
      found.native = true;
    else if (word == "ARCH" || word == "LINK" || word == "DEVICES")
      keyword = word;
    else if (std::isupper(static_cast<unsigned char>(word[0])) != 0 && !word.starts_with(kCuda))
      refuse();  // another keyword
    else if (keyword == "ARCH")
      found.architectures.push_back(word);
    else if (keyword == "LINK" && word.starts_with(kCuda))
      found.libraries.push_back(word.substr(kCuda.size()));
    else if (keyword != "DEVICES")
      refuse();
  }
  return found;
}

}  // namespace kzoo::cli

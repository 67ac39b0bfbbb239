#include "cli/output_files.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"

#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

// Existing files stay.
void remove_files(const fs::path& folder, const file_texts& files) {
  std::error_code ignored;
  for (const auto& [path, text] : files)
    for (fs::path at = path; !at.empty(); at = at.parent_path()) fs::remove(folder / at, ignored);
}

void write_files(const fs::path& folder, const file_texts& files) {
  for (const auto& [path, text] : files) {
    std::error_code fault;
    fs::create_directories((folder / path).parent_path(), fault);
    if (fault) {
      input::refuse(folder.string(), "cannot be made: {}; choose another place with --out DIR",
                    fault.message());
    }
    write_file(folder / path, text);
  }
}

}  // namespace

void require_new_folder(const fs::path& folder) {
  std::error_code fault;
  const fs::file_status found = fs::status(folder, fault);
  if (!fs::exists(found) || (fs::is_directory(found) && fs::is_empty(folder, fault))) return;
  input::refuse(folder.string(),
                "is there already, and nothing in it is changed; choose another name, or another "
                "folder with --out");
}

void write_folder(const fs::path& folder, const file_texts& files) {
  const bool is_new = !fs::exists(folder);
  try {
    write_files(folder, files);
  } catch (...) {
    remove_files(folder, files);
    std::error_code ignored;
    if (is_new) fs::remove(folder, ignored);
    throw;
  }
}

source::build_settings zoo_settings(const fs::path& source) {
  source::build_settings found;
  const fs::path file = source.parent_path() / "CMakeLists.txt";
  if (!fs::exists(file)) return found;
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

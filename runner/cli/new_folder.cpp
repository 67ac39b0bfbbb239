#include "cli/new_folder.hpp"

#include "input/diagnostics.hpp"
#include "os/files.hpp"

#include <fmt/format.h>

#include <system_error>

namespace kzoo::cli {

namespace fs = std::filesystem;

void require_new_folder(const fs::path& folder) {
  std::error_code fault;
  const fs::file_status found = fs::status(folder, fault);
  if (!fs::exists(found) || (fs::is_directory(found) && fs::is_empty(folder, fault))) return;
  input::refuse(folder.string(),
                "is there already, and nothing in it is changed; choose another name, or another "
                "folder with --out");
}

void write_folder(const fs::path& folder, const file_texts& files) {
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

}  // namespace kzoo::cli

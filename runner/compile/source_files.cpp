#include "compile/source_files.hpp"

#include "compile/description.hpp"
#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <optional>
#include <regex>
#include <string>
#include <system_error>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code fault;
  return fs::is_regular_file(path, fault);
}

}  // namespace

void add_with_headers(const fs::path& file, const fs::path& to,
                      const std::vector<include_folder>& folders, copied_files& files) {
  if (const auto [known, is_new] = files.try_emplace(to, file); !is_new) {
    if (fs::equivalent(known->second, file)) return;
    input::refuse(file.string(),
                  fmt::format("would have the place of {} in a copy, {}", known->second.string(),
                              to.string()));
  }
  static const std::regex kInclude(R"re(\n[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"])re");
  const std::string text = '\n' + read_source(file, file.string());
  for (std::sregex_iterator at(text.begin(), text.end(), kInclude), end; at != end; ++at) {
    const fs::path name = (*at)[2].str();
    const fs::path beside = file.parent_path() / name;
    if ((*at)[1] == "\"" && is_file(beside)) {
      const fs::path place = (to.parent_path() / name).lexically_normal();
      if (name.is_absolute() || *place.begin() == "..") {
        input::refuse(file.string(),
                      fmt::format("includes {}, which is outside of its folder: move that into the "
                                  "folder of the source, so that both can be copied",
                                  input::in_quotes(name.string())));
      }
      add_with_headers(beside, place, folders, files);
      continue;
    }
    for (const include_folder& folder : folders) {
      if (!is_file(folder.from / name)) continue;
      add_with_headers(folder.from / name, (folder.to / name).lexically_normal(), folders, files);
      break;
    }
  }
}

}  // namespace kzoo::compile

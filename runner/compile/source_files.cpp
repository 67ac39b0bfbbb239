#include "compile/source_files.hpp"

#include "compile/description.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code fault;
  return fs::is_regular_file(path, fault);
}

}  // namespace

std::vector<included> includes_in(std::string_view source) {
  constexpr std::string_view kInclude = "include";
  std::vector<included> all;
  for (const std::string& line : lines_of(source)) {
    std::string_view words = trimmed(line);
    if (!words.starts_with('#')) continue;
    words = trimmed(words.substr(1));
    if (!words.starts_with(kInclude)) continue;
    words = trimmed(words.substr(kInclude.size()));
    if (!words.starts_with('<') && !words.starts_with('"')) continue;
    const std::size_t end = words.find_first_of(">\"", 1);
    if (end == words.npos || end == 1) continue;
    all.push_back({std::string(words.substr(1, end - 1)), words[0] == '"'});
  }
  return all;
}

bool add_file(const fs::path& file, const fs::path& to, copied_files& files) {
  const auto [known, is_new] = files.try_emplace(to, file);
  if (is_new || fs::equivalent(known->second, file)) return is_new;
  input::refuse(file.string(), fmt::format("would have the place of {} in a copy, {}",
                                           known->second.string(), to.string()));
}

file_texts texts_of(const copied_files& files) {
  file_texts texts;
  for (const auto& [to, from] : files) texts[to] = read_source(from, from.string());
  return texts;
}

void add_text(const fs::path& to, std::string text, file_texts& files) {
  if (files.try_emplace(to, std::move(text)).second) return;
  input::refuse(to.string(),
                "would be both a header of the source's and a file that is written for the copy: "
                "rename the header, or the copy");
}

void add_with_headers(const fs::path& file, const fs::path& to,
                      const std::vector<include_folder>& folders, copied_files& files) {
  if (!add_file(file, to, files)) return;
  for (const auto& [name, quoted] : includes_in(read_source(file, file.string()))) {
    const fs::path beside = file.parent_path() / name;
    if (quoted && is_file(beside)) {
      const fs::path place = (to.parent_path() / name).lexically_normal();
      if (fs::path(name).is_absolute() || *place.begin() == "..") {
        input::refuse(file.string(),
                      fmt::format("includes {}, which is outside of its folder: move that into the "
                                  "folder of the source, so that both can be copied",
                                  input::in_quotes(name)));
      }
      add_with_headers(beside, place, folders, files);
      continue;
    }
    const auto found = std::ranges::find_if(
        folders, [&, &n = name](const include_folder& f) { return is_file(f.from / n); });
    if (found != folders.end())
      add_with_headers(found->from / name, (found->to / name).lexically_normal(), folders, files);
  }
}

}  // namespace kzoo::compile

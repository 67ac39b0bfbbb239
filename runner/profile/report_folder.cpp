#include "profile/report_folder.hpp"

#include "profile/ncu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

namespace kzoo::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLong = "--export=";

}  // namespace

report_folder::report_folder(std::vector<std::string>& arguments) {
  replaces_ = std::ranges::any_of(arguments, [](const std::string& word) {
    return word == "-f" || word == "--force-overwrite";
  });
  const auto redirected = [&](const fs::path& name) {
    asked_ = fs::absolute(name);
    return (own_.path() / name.filename()).string();
  };
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (word->starts_with(kLong))
      *word = std::string(kLong) + redirected(word->substr(kLong.size()));
    const bool names_next = *word == "-o" || *word == "--export";
    if (names_next && word + 1 != arguments.end()) {
      ++word;
      *word = redirected(*word);
    }
  }
}

std::string report_folder::put_in_place(const std::string& report) const {
  if (asked_.empty()) return report;
  // The kernel wrote anything else in the folder.
  for (const char* ending : {"", ".ncu-rep"}) {
    const fs::path name = asked_.filename().string() + ending, written = own_.path() / name;
    if (fs::symlink_status(written).type() != fs::file_type::regular) continue;
    const fs::path place = asked_.parent_path() / name;
    if (fs::exists(fs::symlink_status(place)) && !replaces_) {
      throw no_counters(fmt::format(
          "{} is there already; give ncu -f to replace it, or another name", place.string()));
    }
    fs::remove(place);
    fs::copy_file(written, place);
  }
  const fs::path named = report;
  return named.parent_path() == own_.path() ? (asked_.parent_path() / named.filename()).string()
                                            : report;
}

}  // namespace kzoo::profile

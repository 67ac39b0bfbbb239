#include "compile/cache.hpp"

#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/sha256.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/stat.h>

#include <chrono>
#include <system_error>

namespace kzoo::compile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere =
    "set XDG_CACHE_HOME to a folder that is yours alone, or mend it with chown and chmod go-w";

constexpr const char* kHash = "sha256";

fs::path cache_home() {
  if (const auto folder = user_folder("XDG_CACHE_HOME", ".cache")) return *folder;
  input::refuse(
      "",
      "compiled plugins are kept in a folder of yours, and neither XDG_CACHE_HOME nor HOME "
      "names one");
}

}  // namespace

cache::cache() : folder_(cache_home() / "kernel-zoo" / "plugins") {
  std::error_code fault;
  fs::create_directories(folder_.parent_path().parent_path(), fault);
  for (const fs::path& each : {folder_.parent_path(), folder_}) mkdir(each.c_str(), 0700);
  if (!fs::is_directory(folder_, fault)) {
    input::refuse("", fmt::format("{}, where compiled plugins are kept, cannot be made; {}",
                                  folder_.string(), kElsewhere));
  }
  if (const std::string why = not_private_because(folder_); !why.empty()) {
    input::refuse(
        "", fmt::format("nothing is run from {}, where compiled plugins are kept, since {}; {}",
                        folder_.string(), why, kElsewhere));
  }
}

fs::path cache::entry(const std::string& key, const std::vector<std::string>& includes) const {
  std::string all = key;
  for (const std::string& file : includes) all += '\n' + file + ' ' + sha256_of(file);
  return folder_ / sha256(all);
}

std::optional<fs::path> cache::find(const std::string& key, const std::string& file) const {
  const std::vector<std::string> includes = lines_of(content_of(folder_ / (key + ".includes")));
  if (includes.empty()) return std::nullopt;
  const fs::path found = entry(key, includes);
  std::error_code fault;
  if (!fs::is_regular_file(found / file, fault)) return std::nullopt;
  if (content_of(found / kHash) != sha256_of(found / file) + '\n') {
    fs::remove_all(found, fault);
    return std::nullopt;
  }
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(found, now, fault);
  fs::last_write_time(folder_ / (key + ".includes"), now, fault);
  return found / file;
}

temporary_folder cache::begin() const { return temporary_folder(folder_ / "new."); }

fs::path cache::store(const fs::path& begun, const std::string& key, const std::string& file,
                      const std::vector<std::string>& includes) const {
  remove_old();
  const fs::path kept = entry(key, includes);
  replace_file(begun / kHash, sha256_of(begun / file) + '\n');
  replace_file(folder_ / (key + ".includes"), fmt::format("{}\n", fmt::join(includes, "\n")));
  std::error_code fault;
  fs::rename(begun, kept, fault);  // fails where another runner was faster
  if (!fs::is_regular_file(kept / file))
    throw std::system_error(fault, fmt::format("{} cannot be written", kept.string()));
  return kept / file;
}

void cache::remove_old() const {
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::days(30);
  std::error_code fault;
  for (const auto& each : fs::directory_iterator(folder_, fault))
    if (each.last_write_time(fault) < long_ago && !fault) fs::remove_all(each.path(), fault);
}

}  // namespace kzoo::compile

#include "os/files.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

namespace kzoo {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw not_written(fmt::format("{} cannot be written: {}", file.string(), why));
}

std::optional<std::string> others_who_can_write(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return "every user";
  const bool own_group = status.st_gid == geteuid() && status.st_uid == geteuid();
  if ((status.st_mode & S_IWGRP) != 0 && !own_group) return "its group";
  return std::nullopt;
}

constexpr const char* kPrefix = "kernel-zoo-";

// A process that could write in the folder may have removed the owner's rights.
void take_back(const fs::path& folder) {
  std::error_code ignored;
  const auto take = [&](const fs::path& each) {
    fs::permissions(each, fs::perms::owner_all, fs::perm_options::add, ignored);
  };
  take(folder);
  for (fs::recursive_directory_iterator each(folder, ignored), end; each != end;
       each.increment(ignored))
    if (each->symlink_status(ignored).type() == fs::file_type::directory) take(each->path());
}

void remove_folder(const fs::path& folder) {
  std::error_code fault;
  fs::remove_all(folder, fault);
  if (!fault) return;
  take_back(folder);
  fs::remove_all(folder, fault);
}

descriptor open_folder(const fs::path& folder) {
  return descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}
// Held until this process ends, however it ends. Returns false if another process holds it.
bool lock(const descriptor& folder) { return flock(folder.fd(), LOCK_EX | LOCK_NB) == 0; }

void remove_abandoned(const fs::path& parent) {
  constexpr std::chrono::minutes kMayNotBeLockedYet{1};
  for (const fs::path& each : paths_in(parent)) {
    if (!each.filename().string().starts_with(kPrefix)) continue;
    const descriptor folder = open_folder(each);
    struct stat status {};
    if (folder.fd() < 0 || fstat(folder.fd(), &status) != 0 || status.st_uid != geteuid()) continue;
    const auto changed = std::chrono::system_clock::from_time_t(status.st_mtime);
    if (std::chrono::system_clock::now() - changed > kMayNotBeLockedYet && lock(folder))
      remove_folder(each);
  }
}

[[noreturn]] void refuse_temporary(const std::string& folder, const std::error_code& why) {
  throw not_written("temporary files cannot be made in " + folder + ": " + why.message() +
                    "; set TMPDIR to a folder where you may write");
}

// Ends at the first fault.
template <class Iterator>
std::vector<fs::path> paths_of(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> paths;
  std::error_code fault;
  for (Iterator each(folder, fault), end; !fault && each != end; each.increment(fault))
    if (extension.empty() || each->path().extension() == extension) paths.push_back(each->path());
  std::ranges::sort(paths);
  return paths;
}

fs::path swept_parent() {
  fs::path parent = temporary_files();
  static std::once_flag once;
  std::call_once(once, remove_abandoned, parent);
  return parent;
}

}  // namespace

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(content).str();
}

std::vector<fs::path> paths_in(const fs::path& folder, std::string_view extension) {
  return paths_of<fs::directory_iterator>(folder, extension);
}

std::vector<fs::path> paths_below(const fs::path& folder) {
  return paths_of<fs::recursive_directory_iterator>(folder, "");
}

void write_file(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail(file, std::strerror(errno));
}

void replace_file(const fs::path& file, std::string_view text) {
  const fs::path part = fmt::format("{}.{}.part", file.string(), getpid());
  std::error_code fault, ignored;
  try {
    write_file(part, text);
  } catch (const not_written&) {
    fs::remove(part, ignored);
    throw;
  }
  fs::rename(part, file, fault);
  if (!fault) return;
  fs::remove(part, ignored);
  fail(file, fault.message());
}

std::optional<std::string> others_who_can_write(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return others_who_can_write(status);
}

std::optional<std::string> not_private_because(const fs::path& folder) {
  const fs::path real = fs::canonical(folder);
  for (fs::path at = real;; at = at.parent_path()) {
    struct stat status {};
    if (stat(at.c_str(), &status) != 0) return fmt::format("{} cannot be examined", at.string());
    if (status.st_uid != geteuid() && (at == real || status.st_uid != 0)) {
      return fmt::format("{} belongs to another user (uid {})", at.string(), status.st_uid);
    }
    const auto others = others_who_can_write(status);
    const bool only_their_own = at != real && (status.st_mode & S_ISVTX) != 0;
    if (others && !only_their_own) return fmt::format("{} can write to {}", *others, at.string());
    if (at == at.root_path()) return std::nullopt;
  }
}

fs::path temporary_files() {
  std::error_code fault;
  fs::path folder = fs::temp_directory_path(fault);
  if (!fault) return folder;
  const char* const given = std::getenv("TMPDIR");
  refuse_temporary(given != nullptr ? given : "/tmp", fault);
}

temporary_folder::temporary_folder() try : temporary_folder(swept_parent() / kPrefix) {
  in_use_ = open_folder(path_);
  lock(in_use_);
} catch (const std::system_error& e) {
  refuse_temporary(temporary_files().string(), e.code());
}

temporary_folder::temporary_folder(const std::filesystem::path& prefix) {
  std::string name = prefix.string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

temporary_folder::~temporary_folder() { remove_folder(path_); }

std::optional<std::filesystem::path> user_folder(const char* variable, const char* below_home) {
  if (const char* given = std::getenv(variable); given != nullptr && *given == '/') return given;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / below_home;
  return std::nullopt;
}

}  // namespace kzoo

#include "os/files.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace kzoo {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& why) {
  throw not_written(fmt::format("{} cannot be written: {}", file.string(), why));
}

std::string others_who_can_write(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return "every user";
  const bool own_group = status.st_gid == geteuid() && status.st_uid == geteuid();
  return (status.st_mode & S_IWGRP) != 0 && !own_group ? "its group" : "";
}

}  // namespace

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
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

std::string others_who_can_write(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? others_who_can_write(status) : "";
}

std::string not_private_because(const fs::path& folder) {
  const fs::path real = fs::canonical(folder);
  for (fs::path at = real;; at = at.parent_path()) {
    struct stat status {};
    if (stat(at.c_str(), &status) != 0) return fmt::format("{} cannot be examined", at.string());
    if (status.st_uid != geteuid() && (at == real || status.st_uid != 0)) {
      return fmt::format("{} belongs to another user (uid {})", at.string(), status.st_uid);
    }
    const std::string others = others_who_can_write(status);
    const bool only_their_own = at != real && (status.st_mode & S_ISVTX) != 0;
    if (!others.empty() && !only_their_own)
      return fmt::format("{} can write to {}", others, at.string());
    if (at == at.root_path()) return "";
  }
}

}  // namespace kzoo

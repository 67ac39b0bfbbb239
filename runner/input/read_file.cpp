#include "input/read_file.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace kzoo::input {

namespace {

invalid cannot_be_read(const std::filesystem::path& path) {
  return invalid(error_text(
      path.string(),
      errno == ENOENT ? "there is no such file"
                      : fmt::format("cannot be read: {}", std::generic_category().message(errno))));
}

void refuse_folder(const std::filesystem::path& path, const file_kind& kind) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return;
  refuse(path.string(), fmt::format("is a directory; name {} ({}) in it", kind.name, kind.suffix));
}

}  // namespace

std::ifstream open_file(const std::filesystem::path& path, const file_kind& kind) {
  refuse_folder(path, kind);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw cannot_be_read(path);
  return file;
}

std::string read_file(const std::filesystem::path& path, const file_kind& kind) {
  std::ifstream file = open_file(path, kind);
  constexpr std::size_t kMebibyte = 1 << 20;
  std::string text;
  for (std::size_t got = kMebibyte; got == kMebibyte;) {
    if (text.size() > kind.most_mebibytes * kMebibyte) break;
    const std::size_t before = text.size();
    text.resize(before + kMebibyte);
    file.read(text.data() + before, kMebibyte);
    got = static_cast<std::size_t>(file.gcount());
    text.resize(before + got);
  }
  if (file.bad()) throw cannot_be_read(path);
  if (text.size() > kind.most_mebibytes * kMebibyte) {
    refuse(path.string(),
           fmt::format("is larger than {} MiB, too large for {}", kind.most_mebibytes, kind.name));
  }
  return text;
}

}  // namespace kzoo::input

#include "input/read_file.hpp"

#include "input/diagnostics.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace kzoo::input {

std::string read_file(const std::filesystem::path& path, const file_kind& kind) {
  const auto refuse = [&](std::string_view why) -> invalid {
    return invalid(error_text(path.string(), why));
  };
  const auto cannot = [&] {
    return refuse(fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw refuse(fmt::format("is a directory; name {} ({}) in it", kind.name, kind.suffix));

  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    if (errno != ENOENT) throw cannot();
    throw refuse("there is no such file");
  }
  constexpr std::size_t kMebibyte = 1 << 20;
  std::string text;
  for (std::size_t got = kMebibyte; got == kMebibyte;) {
    if (text.size() > kind.most_mebibytes * kMebibyte) break;
    const std::size_t before = text.size();
    text.resize(before + kMebibyte);
    got = std::fread(text.data() + before, 1, kMebibyte, file.get());
    text.resize(before + got);
  }
  if (std::ferror(file.get())) throw cannot();
  if (text.size() > kind.most_mebibytes * kMebibyte) {
    throw refuse(
        fmt::format("is larger than {} MiB, too large for {}", kind.most_mebibytes, kind.name));
  }
  return text;
}

}  // namespace kzoo::input

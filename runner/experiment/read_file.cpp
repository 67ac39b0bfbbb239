#include "experiment/read_file.hpp"

#include "experiment/diagnostics.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace kzoo::experiment {

std::string read_file(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const auto refuse = [&](std::string_view why) -> invalid {
    return invalid(error_text(path.string(), why));
  };
  const auto cannot = [&] {
    return refuse(fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw refuse("is a directory; name an experiment file (.toml) in it");

  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    if (errno != ENOENT) throw cannot();
    throw refuse("there is no such file");
  }
  std::string text(kMostBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get())) throw cannot();
  if (text.size() > kMostBytes)
    throw refuse("is larger than 1 MiB, so it is hardly an experiment file");
  return text;
}

}  // namespace kzoo::experiment

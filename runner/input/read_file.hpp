#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace kzoo::input {

// A kind of file: its name and suffix in messages, and its largest size.
struct file_kind {
  std::string_view name, suffix;
  std::size_t most_mebibytes;
};
inline constexpr file_kind kExperimentFile{"an experiment file", ".toml", 1};

// Opens a file or a pipe of any size. Throws `invalid` if it cannot be read.
std::ifstream open_file(const std::filesystem::path& path, const file_kind& kind);

// The whole content of a file or a pipe. Throws `invalid` if it cannot be read or is too large.
std::string read_file(const std::filesystem::path& path, const file_kind& kind = kExperimentFile);

}  // namespace kzoo::input

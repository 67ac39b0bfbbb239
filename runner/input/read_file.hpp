#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo::input {

// What a file should be, in words, and how large it may be at most.
struct file_kind {
  std::string_view name, suffix;
  std::size_t most_mebibytes;
};
inline constexpr file_kind kExperimentFile{"an experiment file", ".toml", 1};

// The whole of a file. Throws `invalid` when it cannot be read or is too large. Pipes are fine.
std::string read_file(const std::filesystem::path& path, const file_kind& kind = kExperimentFile);

}  // namespace kzoo::input

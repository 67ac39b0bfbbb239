#pragma once
// SHA-256 of a text or a file, as `sha256sum` prints it.

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);
// Empty if the file cannot be read.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace kzoo

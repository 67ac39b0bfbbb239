#pragma once
// What tells whether a text or a file is still the same; `sha256sum` says the same of a file.

#include <filesystem>
#include <string>
#include <string_view>

namespace kzoo {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);
// "" when the file cannot be read.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace kzoo

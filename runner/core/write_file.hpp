#pragma once
// Writes whole files.

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace kzoo {

// An output could not be written: the disk is full, say. what() names the file and says why.
class not_written : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws not_written.
void write_file(const std::filesystem::path& file, std::string_view text);
// The same in one step: who reads the file finds all of the old text or all of the new one.
void replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace kzoo

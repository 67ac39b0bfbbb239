#pragma once
// Writes whole files, and finds out which other users can write to a file.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kzoo {

// An output could not be written, e.g. on a full disk. what() names the file and says why.
class not_written : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "" if it cannot be read.
std::string content_of(const std::filesystem::path& file);

// Throws not_written.
void write_file(const std::filesystem::path& file, std::string_view text);
// Like write_file(), but atomic: readers find the whole old or the whole new text.
void replace_file(const std::filesystem::path& file, std::string_view text);

// "every user", "its group", or "": only the owner. A group numbered as its user has no others.
std::string others_who_can_write(const std::filesystem::path& path);

// Why other users may control the folder's contents; "": they cannot. Then it and all folders above
// belong to this user or root, and others can write nothing, or only their own files (sticky bit).
std::string not_private_because(const std::filesystem::path& folder);

}  // namespace kzoo

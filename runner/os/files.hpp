#pragma once
// Writing whole files, and who else can write to one, and so decides what this user runs.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kzoo {

// An output could not be written: the disk is full, say. what() names the file and says why.
class not_written : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "" if it cannot be read.
std::string content_of(const std::filesystem::path& file);

// Throws not_written.
void write_file(const std::filesystem::path& file, std::string_view text);
// The same in one step: who reads the file finds all of the old text or all of the new one.
void replace_file(const std::filesystem::path& file, std::string_view text);

// "every user", "its group", or "": the owner alone. A group that is the user's own, whose number
// is the user's, has no other members.
std::string others_who_can_write(const std::filesystem::path& path);

// Why what is in the folder may be another user's, "" where it cannot be: it and each folder above
// it belongs to this user or to root, and others cannot write to it, or only to files of their own
// (the sticky bit).
std::string not_private_because(const std::filesystem::path& folder);

}  // namespace kzoo

#pragma once
// Who else can write to a file, and so decides what this user runs.

#include <filesystem>
#include <string>

namespace kzoo {

// "every user", "its group", or "": the owner alone. A group that is the user's own, whose number
// is the user's, has no other members.
std::string others_who_can_write(const std::filesystem::path& path);

// Why what is in the folder may be another user's, "" where it cannot be: it and each folder above
// it belongs to this user or to root, and others cannot write to it, or only to files of their own
// (the sticky bit).
std::string not_private_because(const std::filesystem::path& folder);

}  // namespace kzoo

#pragma once
// Compiled plugins, kept by what they were made of, under $XDG_CACHE_HOME/kernel-zoo/plugins:
//
//   KEY.includes     the files that the compiler read for a KEY, which is the hash of the
//                    command, the compiler and the source
//   HASH/NAME.so     HASH covers the KEY and the content of all those files
//   HASH/sha256      of NAME.so: a damaged entry, as a full disk leaves it, is made again
//
// An entry is written beside them and renamed, and never changed: runners at the same time use one
// another's or make the same. What was not used for a month is removed.

#include "os/folders.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::compile {

class cache {
 public:
  // Throws input::invalid where the folder cannot be made, is not the user's own, or can be written
  // by others, who could run code as this user.
  cache();

  // The entry of a file that is up to date.
  std::optional<std::filesystem::path> find(const std::string& key, const std::string& file) const;

  // A new folder for what will be an entry.
  temporary_folder begin() const;
  // Makes the folder an entry, which was made of these files. Returns where `file` is now.
  std::filesystem::path store(const std::filesystem::path& begun, const std::string& key,
                              const std::string& file,
                              const std::vector<std::string>& includes) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path entry(const std::string& key,
                              const std::vector<std::string>& includes) const;
  void remove_old() const;

  std::filesystem::path folder_;
};

}  // namespace kzoo::compile

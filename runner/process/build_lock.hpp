#pragma once

#include "os/posix.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>

namespace kzoo::process {

// Held while a build folder is built: Ninja does not expect a second one beside it. Waits for
// whoever holds it. Where the folder cannot be written there is no lock, and the build will say so.
class build_lock {
 public:
  explicit build_lock(const std::filesystem::path& folder)
      : file_(open((folder / "kzoo.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (file_.fd() >= 0) flock(file_.fd(), LOCK_EX);
  }

 private:
  descriptor file_;
};

}  // namespace kzoo::process

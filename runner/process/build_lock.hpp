#pragma once

#include "os/posix.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>

namespace kzoo::process {

// Locks a build folder, since two Ninja processes in one folder conflict. Waits for the current
// holder. Takes no lock in a folder that cannot be written: the build reports it.
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

#pragma once

#include <filesystem>

namespace kzoo::cli {

// A folder whose files are being edited (inotify). Editors write a file, or put another in its
// place.
class watched_folder {
 public:
  explicit watched_folder(const std::filesystem::path& folder);
  ~watched_folder();
  watched_folder(const watched_folder&) = delete;
  watched_folder& operator=(const watched_folder&) = delete;

  // Returns when a file was saved since the constructor or the last call, and none for a moment.
  // Throws interrupt::interrupted.
  void wait();

 private:
  // Whether something happens within so many milliseconds; -1: sometime.
  bool happens_within(int milliseconds);

  int fd_;
};

}  // namespace kzoo::cli

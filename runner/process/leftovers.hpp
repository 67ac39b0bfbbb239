#pragma once
// Shared memory segments that outlive their creators.

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace kzoo::process {

// Segments of a child process and its descendants. A segment in /dev/shm does not name its creator.
// It is removed if look() found it open or mapped in one of these processes, and if it is newer
// than they are. A System V segment names its creator.
class leftovers {
 public:
  // Construct it before the process is started.
  leftovers();

  // Records the segments of the process and its descendants.
  void look(pid_t process);
  // Like look(), but cheap while nothing in /dev/shm has come or gone.
  void look_if_changed(pid_t process);
  // Removes the segments, once the processes have ended.
  void remove();

 private:
  struct segment {
    std::uint64_t device, inode;
    auto operator<=>(const segment&) const = default;
  };
  void record(pid_t process);
  void record(const std::filesystem::path& file);

  std::time_t started_;
  timespec changed_{};        // of /dev/shm, when it was last read
  std::set<segment> before_;  // in /dev/shm
  std::map<segment, std::string> of_child_;
  std::set<pid_t> makers_;
};

}  // namespace kzoo::process

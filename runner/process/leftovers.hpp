#pragma once
// Shared memory segments that outlive the processes that made them.

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace kzoo::process {

// Of a child process and its descendants. A segment in /dev/shm does not tell who made it: one is
// removed if look() found it open or mapped in one of these processes, and it did not exist before
// them. A System V segment names its maker.
class leftovers {
 public:
  // To be constructed before the process is started.
  leftovers();

  // Records the segments of the process and its descendants.
  void look(pid_t process);
  // The same, at little cost as long as nothing in /dev/shm has come or gone.
  void look_if_changed(pid_t process);
  // Removes them, once the processes have ended.
  void remove();

 private:
  struct segment {
    std::uint64_t device, inode;
    auto operator<=>(const segment&) const = default;
  };
  void record(pid_t process);
  void record(const std::filesystem::path& file);

  std::time_t started_;
  timespec changed_{};        // /dev/shm, when it was last read
  std::set<segment> before_;  // in /dev/shm
  std::map<segment, std::string> of_child_;
  std::set<pid_t> makers_;
};

}  // namespace kzoo::process

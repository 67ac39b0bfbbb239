#pragma once
// A process of this executable, started with a hidden first argument: a worker or a rank.

#include "os/files.hpp"
#include "os/posix.hpp"
#include "process/messages.hpp"
#include "process/process_table.hpp"

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kzoo::process {

// Starts every child process of this program.

struct confinement;

// Descriptor `from` of this process becomes `to` in the child.
struct given_descriptor {
  int from, to;
};

// Starts a program, looked up in PATH, as the leader of a new session without a terminal. Its stdin
// is /dev/null. It inherits only the given descriptors. `settings` ("NAME=value") replace variables
// of the same name. It is tracked (process_table.hpp). `confined` applies before it runs; null is
// only for programs without an author's code. Throws std::system_error.
pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors, const std::vector<std::string>& settings,
            const confinement* confined);

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
  timespec changed_{};        // /dev/shm's time of change when it was last read
  std::set<segment> before_;  // in /dev/shm
  std::map<segment, std::string> of_child_;
  std::set<pid_t> makers_;
};

// A child's descriptors: its end of the channel and, in a worker, results and matrices.
inline constexpr int kControlFd = 3;
inline constexpr int kSharedMemoryFd = 4;
inline constexpr int kMatricesFd = 5;

// Called in a child. Ends it when its parent ends, in whatever way. Ignores SIGTERM, which a batch
// system sends to all processes of a job: the child would seem to have crashed.
void follow_parent();

// The destructor kills the process and everything that it has started.
class child {
 public:
  // `arguments` begin with the hidden argument. The child gets its end of control() at kControlFd,
  // and `given`. Its output goes to `log`. Its TMPDIR is a private folder, unless a profiler works
  // in it. `confined` may be null only if the child runs nothing of an author's. `settings` are
  // variables, "NAME=value".
  child(std::vector<std::string> arguments, const output_log& log, const confinement* confined,
        const std::vector<given_descriptor>& given = {}, std::vector<std::string> settings = {});
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  channel& control() { return *control_; }

  enum class event { message, ended, deadline };

  // Waits for a message or for the end of the process. Both are watched, since a forked process can
  // keep the channel open after the worker has ended.
  event wait(double seconds);
  // Whether the process ends within `seconds`.
  bool wait_for_end(double seconds);

  // Stops the process and all its descendants until resume(). Returns whether they have stopped or
  // ended; false if a system call takes seconds.
  bool hold();
  // Whether nothing has continued the process since hold().
  bool stood_still() const;
  void resume();
  // Records its limits, and the scheduling and processors of its threads. set_back() restores what
  // others have changed since, and returns whether it could.
  void note_settings() { noted_ = settings::of(pid_); }
  bool set_back() const { return !noted_ || noted_->restore().all; }
  // Whether a signal has stopped it, so that no message will come.
  bool is_stopped() const;
  // Records its shared memory that would outlive it.
  void watch_memory() { leftovers_.look_if_changed(pid_); }
  pid_t pid() const { return pid_; }

  // Kills the process without waiting, so that many can end at the same time.
  void kill();
  // Kills the process, its group and all descendants. Removes their temporary files and shared
  // memory segments. Returns waitpid()'s status if the process had already ended by itself.
  std::optional<int> end();

 private:
  std::optional<channel> control_;
  pid_t pid_ = 0;
  descriptor pidfd_;
  leftovers leftovers_;
  std::optional<temporary_folder> temporary_;
  std::optional<settings> noted_;
};

}  // namespace kzoo::process

#pragma once
// A process of this same executable, started with a hidden first argument: a worker, or a rank of
// a run.

#include "os/folders.hpp"
#include "os/posix.hpp"
#include "process/channel.hpp"
#include "process/leftovers.hpp"
#include "process/output_log.hpp"
#include "process/settings.hpp"
#include "process/spawn.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kzoo::process {

struct confinement;

// The descriptors that a child inherits: its end of the channel, and of a worker the memory for
// results and that for matrices.
inline constexpr int kControlFd = 3;
inline constexpr int kSharedMemoryFd = 4;
inline constexpr int kMatricesFd = 5;

// Called in a child: it ends when its parent does, however that ends, and not by the signal that a
// batch system sends to all processes of a job, after which it would seem to have crashed.
void follow_parent();

// The destructor kills the process and everything that it has started.
class child {
 public:
  // `arguments` begin with the hidden one. The child has its end of control() at kControlFd, and
  // `given`. What it prints goes to `log`. Its TMPDIR is a folder of its own, unless a profiler
  // works in it. `confined`: nothing of what is an author's runs in it where there is none.
  // `setting` is "NAME=value" of its environment; "": none.
  child(std::vector<std::string> arguments, const output_log& log, const confinement* confined,
        const std::vector<given_descriptor>& given = {}, const std::string& setting = "");
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  channel& control() { return *control_; }

  enum class event { message, ended, deadline };

  // Waits for a message or for the end of the process. A process that a plugin has forked may keep
  // the channel open after the worker has ended, so both are watched.
  event wait(double seconds);
  // Whether the process has ended by then.
  bool wait_for_end(double seconds);

  // Stops it, with all that it has started, so that they do nothing until resume(). When this
  // returns they have stopped, or ended; false: a call into the kernel takes seconds.
  bool hold();
  // Whether they have, since then.
  bool stood_still() const;
  void resume();
  // Takes down its limits, and when and where its threads run: what set_back() sets back if others
  // have changed it since. Returns whether it could.
  void note_settings() { noted_ = settings::of(pid_); }
  bool set_back() const { return !noted_ || noted_->restore().all; }
  // Whether a signal has stopped it, so that no message will come.
  bool is_stopped() const;
  // Records what it holds of memory that would outlive it.
  void watch_memory() { leftovers_.look_if_changed(pid_); }
  pid_t pid() const { return pid_; }

  // Kills the process, and does not wait for its end, as end() does: many end at the same time.
  void kill();
  // Kills the process, its group and all descendants, and removes the temporary files and shared
  // memory segments that they leave. Returns the status that waitpid() reports if the process had
  // already ended by itself.
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

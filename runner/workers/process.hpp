#pragma once
// A process of this same executable, started with a hidden first argument: a worker, or a part of
// a run.

#include "core/descriptor.hpp"
#include "workers/channel.hpp"
#include "workers/output_log.hpp"

#include <optional>
#include <string_view>

#include <sys/types.h>

namespace kzoo::workers {

// Killed, with all it started, when this goes away.
class process {
 public:
  // It finds its end of control() at kControlFd, `window_fd` at kWindowFd if there is one, and what
  // it prints goes to `log`.
  process(std::string_view command, const output_log& log, std::optional<int> window_fd = {});
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  channel& control() { return *control_; }

  enum class event { message, ended, deadline };

  // Waits until the process has something to say, or is gone. A child that a plugin has forked may
  // keep the channel open after the worker's end, so both are watched.
  event wait(double seconds);
  void wait_for_end(double seconds);

  // Kills the whole group and what has left it; the status, as waitpid() has it, of a process that
  // had ended by itself.
  std::optional<int> end();

 private:
  std::optional<channel> control_;
  pid_t pid_ = 0;
  descriptor pidfd_;
};

}  // namespace kzoo::workers

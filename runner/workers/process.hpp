#pragma once
// A worker process that runs.

#include "workers/channel.hpp"
#include "workers/output_log.hpp"
#include "workers/window.hpp"

#include <optional>
#include <string>

#include <sys/types.h>

namespace kzoo::workers {

// Killed, with all it started, when this goes away.
class process {
 public:
  process(window& output, output_log& log);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  channel& control() { return *control_; }

  enum class event { message, ended, deadline };

  // Waits until the worker has something to say, or is gone. A child that a plugin has forked may
  // keep the channel open after the worker's end, so both are watched.
  event wait(double seconds);
  void wait_for_end(double seconds);

  // Kills the whole group and what has left it, and says how the worker ended if it was the first
  // to end.
  std::string end();

 private:
  void spawn(int control_fd, int window_fd, int log_fd);

  std::optional<channel> control_;
  pid_t pid_ = 0;
  int pidfd_ = -1;
};

}  // namespace kzoo::workers

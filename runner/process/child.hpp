#pragma once
// A process of this same executable, started with a hidden first argument: a worker, or a part of
// a run.

#include "core/descriptor.hpp"
#include "process/channel.hpp"
#include "process/output_log.hpp"

#include <optional>
#include <string_view>

#include <sys/types.h>

namespace kzoo::process {

// The descriptors that a child inherits.
inline constexpr int kControlFd = 3;
inline constexpr int kWindowFd = 4;

// Killed, with all it started, when this goes away.
class child {
 public:
  // It finds its end of control() at kControlFd, `window_fd` at kWindowFd if there is one, and what
  // it prints goes to `log`.
  child(std::string_view command, const output_log& log, std::optional<int> window_fd = {});
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

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

}  // namespace kzoo::process

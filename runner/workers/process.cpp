#include "workers/process.hpp"

#include "core/interrupt.hpp"
#include "core/throw_errno.hpp"
#include "workers/offspring.hpp"
#include "workers/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <span>
#include <string>
#include <vector>

// glibc 2.36 declares it without C linkage.
extern "C" {
#include <sys/pidfd.h>
}

extern char** environ;

namespace kzoo::workers {
namespace {

// False at the deadline.
bool poll_until(std::span<pollfd> watched, double seconds) {
  using namespace std::chrono;
  const auto deadline = steady_clock::now() + duration<double>(seconds);
  for (;;) {
    const auto left = ceil<milliseconds>(deadline - steady_clock::now()).count();
    constexpr std::int64_t kHour = 3600000;  // poll counts in int
    const int ready = poll(watched.data(), watched.size(),
                           static_cast<int>(std::clamp<std::int64_t>(left, 0, kHour)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) throw_errno("poll");
  }
}

int raised(int fd) {
  constexpr int kAboveTargets = 16;
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kAboveTargets);
  if (high < 0) throw_errno("duplicating a descriptor");
  return high;
}

}  // namespace

process::process(std::string_view command, const output_log& log, std::optional<int> window_fd) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_errno("socketpair");
  }
  control_.emplace(ends[0]);
  spawn(command, ends[1], window_fd, log.fd());
}

process::~process() {
  if (pid_ > 0) end();
}

process::event process::wait(double seconds) {
  std::array<pollfd, 3> watched{pollfd{control_->fd(), POLLIN, 0}, pollfd{pidfd_, POLLIN, 0},
                                pollfd{interrupt::fd(), POLLIN, 0}};
  if (!poll_until(watched, seconds)) return event::deadline;
  interrupt::check();
  return watched[0].revents != 0 ? event::message : event::ended;
}

void process::wait_for_end(double seconds) {
  std::array<pollfd, 1> watched{pollfd{pidfd_, POLLIN, 0}};
  poll_until(watched, seconds);
}

std::optional<int> process::end() {
  siginfo_t info{};
  // Leaves it a zombie, so that its number stays its own until the group has been killed.
  const bool ended =
      waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == pid_;
  killpg(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  offspring::gone(pid_);
  offspring::kill_strays();
  close(pidfd_);
  pid_ = 0;
  return ended ? std::optional(status) : std::nullopt;
}

void process::spawn(std::string_view command, int control_fd, std::optional<int> window_fd,
                    int log_fd) {
  offspring::adopt();
  // Sources above every target, so that no dup2 overwrites what a later one needs.
  struct given {
    int from, to;
  };
  std::vector<given> fds{{raised(control_fd), kControlFd},
                         {raised(log_fd), STDOUT_FILENO},
                         {raised(log_fd), STDERR_FILENO}};
  if (window_fd) fds.push_back({raised(*window_fd), kWindowFd});
  close(control_fd);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const given& fd : fds) posix_spawn_file_actions_adddup2(&actions, fd.from, fd.to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::string name = "runner", word(command);
  std::array<char*, 3> argv{name.data(), word.data(), nullptr};
  const int error =
      posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (const given& fd : fds) close(fd.from);
  if (error != 0) {
    pid_ = 0;
    throw_errno("starting a process", error);
  }
  offspring::ours(pid_);
  pidfd_ = pidfd_open(pid_, 0);
  if (pidfd_ < 0) throw_errno("pidfd_open");
}

}  // namespace kzoo::workers

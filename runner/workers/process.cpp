#include "workers/process.hpp"

#include "core/interrupt.hpp"
#include "core/throw_errno.hpp"
#include "workers/offspring.hpp"
#include "workers/worker.hpp"

#include <fmt/format.h>

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
#include <cstring>
#include <span>

// glibc 2.36 declares it without C linkage.
extern "C" {
#include <sys/pidfd.h>
}

extern char** environ;

namespace kzoo::workers {
namespace {

// What a signal means to somebody who wrote a kernel.
std::string signal_words(int number) {
  const char* meaning = "";
  switch (number) {
    case SIGSEGV:
      meaning = ", an access to memory that is not there";
      break;
    case SIGBUS:
      meaning = ", an access to memory that is not there or not aligned";
      break;
    case SIGABRT:
      meaning = ", the plugin called abort() or a failed assert did";
      break;
    case SIGFPE:
      meaning = ", an integer division by zero";
      break;
    case SIGILL:
      meaning = ", a trap, or an instruction that this processor does not have";
      break;
    case SIGKILL:
      meaning = ", killed from outside, perhaps for want of memory";
      break;
    default:
      break;
  }
  return fmt::format("SIG{}{}", sigabbrev_np(number), meaning);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return signal_words(WTERMSIG(status));
  return fmt::format("the plugin ended its process with exit code {}", WEXITSTATUS(status));
}

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

process::process(window& output, output_log& log) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_errno("socketpair");
  }
  control_.emplace(ends[0]);
  spawn(ends[1], output.fd(), log.fd());
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

std::string process::end() {
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
  return ended ? how_it_ended(status) : "";
}

void process::spawn(int control_fd, int window_fd, int log_fd) {
  offspring::adopt();
  // Sources above every target, so that no dup2 overwrites what a later one needs.
  const std::array<int, 4> from{raised(control_fd), raised(window_fd), raised(log_fd),
                                raised(log_fd)};
  constexpr std::array<int, 4> kTo{kControlFd, kWindowFd, STDOUT_FILENO, STDERR_FILENO};
  close(control_fd);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, from[i], kTo[i]);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::string name = "runner", command(kWorkerCommand);
  std::array<char*, 3> argv{name.data(), command.data(), nullptr};
  const int error =
      posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (const int fd : from) close(fd);
  if (error != 0) {
    pid_ = 0;
    throw_errno("starting a worker process", error);
  }
  offspring::ours(pid_);
  pidfd_ = pidfd_open(pid_, 0);
  if (pidfd_ < 0) throw_errno("pidfd_open");
}

}  // namespace kzoo::workers

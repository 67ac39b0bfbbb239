#include "os/posix.hpp"

#include <sys/eventfd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

namespace kzoo::interrupt {
namespace {

std::atomic<int> received{0};
std::atomic<int> event_fd{-1};
std::atomic<bool> requested{false};
static_assert(std::atomic<int>::is_always_lock_free);  // used in a signal handler

void wake_poll() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event_fd, &one, sizeof one);
}

void on_signal(int number) {
  const int saved = errno;
  received = number;
  wake_poll();
  errno = saved;
}

}  // namespace

void catch_signals() {
  event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_fd < 0) throw_errno("eventfd");
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal has its default action
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    // A shell script ignores SIGINT for its background jobs; they keep ignoring it.
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
}

int signal_number() { return received; }

void request() {
  requested = true;
  wake_poll();
}

void check() {
  if (received != 0 || requested) throw interrupted{};
}

int fd() { return event_fd; }

}  // namespace kzoo::interrupt

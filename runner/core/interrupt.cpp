#include "core/interrupt.hpp"

#include "core/throw_errno.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace kzoo::interrupt {
namespace {

std::atomic<int> came{0};
std::atomic<int> event{-1};
static_assert(std::atomic<int>::is_always_lock_free);  // used in a signal handler

void note(int number) {
  const int saved = errno;
  came = number;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event, &one, sizeof one);
  errno = saved;
}

}  // namespace

void catch_signals() {
  event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) throw_errno("eventfd");
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second time it is as ever
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    // As scripts have it for what they start in the background.
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

int signal_number() { return came; }

void check() {
  if (came != 0) throw interrupted{};
}

int fd() { return event; }

}  // namespace kzoo::interrupt

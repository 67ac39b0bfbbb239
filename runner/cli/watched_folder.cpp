#include "cli/watched_folder.hpp"

#include "os/interrupt.hpp"
#include "os/posix.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>

namespace kzoo::cli {

watched_folder::watched_folder(const std::filesystem::path& folder)
    : fd_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (fd_ < 0) throw_errno("inotify");
  if (inotify_add_watch(fd_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    close(fd_);
    throw_errno("watching the source's folder");
  }
}

watched_folder::~watched_folder() { close(fd_); }

bool watched_folder::happens_within(int milliseconds) {
  std::array<pollfd, 2> ends{pollfd{fd_, POLLIN, 0}, pollfd{interrupt::fd(), POLLIN, 0}};
  const int ready = poll(ends.data(), ends.size(), milliseconds);
  interrupt::check();
  if (ready <= 0) return false;
  std::array<char, 4096> events;  // that something happened is enough
  while (read(fd_, events.data(), events.size()) > 0) continue;
  return true;
}

void watched_folder::wait() {
  constexpr int kQuietMs = 50;  // an editor may write more than once
  while (!happens_within(-1)) continue;
  while (happens_within(kQuietMs)) continue;
}

}  // namespace kzoo::cli

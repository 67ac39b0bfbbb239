#include "process/output_log.hpp"

#include "os/posix.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace kzoo::process {

output_log::output_log() : fd_(memfd_create("kzoo-log", MFD_CLOEXEC)) {
  if (fd_ < 0) throw_errno("memfd_create");
  // O_APPEND: stdout, stderr and the next worker do not overwrite each other.
  fcntl(fd_, F_SETFL, O_APPEND);
}

output_log::~output_log() { close(fd_); }

long output_log::size() const {
  struct stat status {};
  return fstat(fd_, &status) == 0 ? status.st_size : 0;
}

std::string output_log::read(long offset, long bytes) const {
  std::string text(static_cast<std::size_t>(std::max(0L, bytes)), '\0');
  const ssize_t got = pread(fd_, text.data(), text.size(), offset);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::string output_log::text(std::size_t most) const {
  const long all = size(), kept = static_cast<long>(most);
  if (all <= kept) return read(0, all);
  return fmt::format("{}\n[{} bytes are left out]\n{}", read(0, kept / 2), all - kept,
                     read(all - kept / 2, kept / 2));
}

std::string output_log::last_line() {
  const long now = size();
  if (now <= reported_) return "";
  constexpr long kTail = 400;
  const long from = std::max(reported_, now - kTail);
  reported_ = now;
  return last_line_of(read(from, now - from));
}

std::string last_line_of(std::string tail) {
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.pop_back();
  if (const auto line = tail.rfind('\n'); line != std::string::npos) tail.erase(0, line + 1);
  return tail.empty() ? "" : fmt::format("; it printed: \"{}\"", printable(tail, kLongestText));
}

}  // namespace kzoo::process

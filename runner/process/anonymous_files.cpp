#include "process/anonymous_files.hpp"
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

shared_memory::shared_memory() : fd_(memfd_create("kzoo-output", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (fd_ < 0) throw_errno("memfd_create");
  // A plugin that finds the descriptor must not truncate memory mapped by the supervisor.
  if (fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) throw_errno("sealing shared memory");
}

shared_memory::shared_memory(int fd) : fd_(fd) {}

shared_memory::~shared_memory() {
  if (mapped_ != nullptr) munmap(mapped_, size_);
  close(fd_);
}

void shared_memory::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  reserve_bytes(fd_, 0, bytes, "shared memory for a result");
  view(bytes);
}

std::span<std::byte> shared_memory::view(std::size_t bytes) {
  if (bytes > size_) {
    if (mapped_ != nullptr) munmap(mapped_, size_);
    mapped_ = nullptr;
    size_ = 0;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory == MAP_FAILED) throw_errno("mapping shared memory");
    mapped_ = static_cast<std::byte*>(memory);
    size_ = bytes;
  }
  return {mapped_, bytes};
}

shared_pages::shared_pages() : fd_(memfd_create("kzoo-matrices", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (fd_ < 0) throw_errno("memfd_create");
  // F_SEAL_SEAL: no process can add F_SEAL_GROW, which would prevent growing the file.
  if (fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    throw_errno("sealing shared pages");
}

shared_pages::~shared_pages() { close(fd_); }

shared_pages::part shared_pages::take(std::size_t bytes) {
  const auto unused = free_.find(bytes);
  part p{unused == free_.end() ? end_ : unused->second, bytes, nullptr};
  reserve_bytes(fd_, p.offset, bytes, "memory for matrices");
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(p.offset));
  if (memory == MAP_FAILED) throw_errno("mapping matrices");
  p.here = static_cast<std::byte*>(memory);
  if (unused == free_.end())
    end_ += bytes;
  else
    free_.erase(unused);
  bytes_ += bytes;
  return p;
}

void shared_pages::give_back(const part& p) {
  munmap(p.here, p.bytes);
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(p.offset),
            static_cast<off_t>(p.bytes));
  free_.emplace(p.bytes, p.offset);
  bytes_ -= p.bytes;
}

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

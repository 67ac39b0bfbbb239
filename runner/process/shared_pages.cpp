#include "process/shared_pages.hpp"

#include "os/posix.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace kzoo::process {

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

}  // namespace kzoo::process

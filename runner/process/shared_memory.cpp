#include "process/shared_memory.hpp"

#include "os/posix.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

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

}  // namespace kzoo::process

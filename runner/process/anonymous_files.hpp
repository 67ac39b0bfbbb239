#pragma once
// Anonymous files shared by the supervisor and a child: its results, its matrices, its output.

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace kzoo::process {

// An anonymous file. The supervisor creates and sizes it; a worker inherits and maps it.
class shared_memory {
 public:
  shared_memory();                 // creates the file
  explicit shared_memory(int fd);  // takes ownership of an inherited descriptor
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  int fd() const { return fd_; }
  // Bytes that are mapped here.
  std::size_t size() const { return size_; }
  // Grows it to at least `bytes`. Throws std::system_error if memory runs out.
  void reserve(std::size_t bytes);
  // The first `bytes`; maps again if the other side has grown the file.
  std::span<std::byte> view(std::size_t bytes);

 private:
  int fd_;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0;
};

// Matrices of a kernel on the CPU, in an anonymous file shared by the supervisor and one worker,
// which inherits its descriptor. Sealed against shrinking, which would break mappings.
class shared_pages {
 public:
  struct part {
    std::size_t offset = 0, bytes = 0;  // in the file
    std::byte* here = nullptr;          // mapping in this process
  };

  shared_pages();
  ~shared_pages();
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;

  int fd() const { return fd_; }
  // Size of all parts together.
  std::size_t bytes() const { return bytes_; }
  // A part filled with zeros. `bytes`: whole pages. Throws std::system_error if memory runs out.
  part take(std::size_t bytes);
  // Frees the part's memory. Other processes may still have it mapped.
  void give_back(const part& p);

 private:
  int fd_;
  std::size_t end_ = 0, bytes_ = 0;
  std::multimap<std::size_t, std::size_t> free_;  // offsets, by size
};

// An anonymous file for a worker's stdout and stderr: plugin output neither disturbs the report nor
// leaves a file behind.
class output_log {
 public:
  output_log();
  ~output_log();
  output_log(const output_log&) = delete;
  output_log& operator=(const output_log&) = delete;

  int fd() const { return fd_; }
  // Everything printed so far. Beyond `most` bytes, the beginning and the end, with a line between
  // them that says how much is left out.
  std::string text(std::size_t most) const;
  // The last line printed since the previous call.
  std::string last_line();

 private:
  long size() const;
  std::string read(long offset, long bytes) const;

  int fd_;
  long reported_ = 0;  // bytes
};

// `; it printed: "…"` with the last line of an output, or "" if there is none.
std::string last_line_of(std::string output);

}  // namespace kzoo::process

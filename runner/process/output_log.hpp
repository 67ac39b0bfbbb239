#pragma once
// An anonymous file for a worker's stdout and stderr: plugin output neither disturbs the report nor
// leaves a file behind.

#include <string>

namespace kzoo::process {

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

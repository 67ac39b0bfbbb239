#pragma once
// Where a worker's stdout and stderr go: an anonymous file, so that a plugin's printing neither
// disturbs the report nor leaves anything behind.

#include <string>

namespace kzoo::process {

class output_log {
 public:
  output_log();
  ~output_log();
  output_log(const output_log&) = delete;
  output_log& operator=(const output_log&) = delete;

  int fd() const { return fd_; }
  // All that was printed.
  std::string text() const;
  // `; it printed: "…"` with the last line there is, and "" when nothing was printed. Each line is
  // reported once.
  std::string last_words();

 private:
  long size() const;
  std::string read_from(long offset) const;

  int fd_;
  long reported_ = 0;  // bytes
};

}  // namespace kzoo::process

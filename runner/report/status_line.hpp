#pragma once
// A line that tells how far something is, on a terminal that can rewrite it.

#include <cstdio>
#include <string_view>

namespace kzoo::report {

class status_line {
 public:
  explicit status_line(std::FILE* to);
  ~status_line() { clear(); }
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;

  // Whether it is shown at all.
  bool is_live() const { return live_; }
  // In the place of what is shown.
  void show(std::string_view text);
  void clear();

 private:
  std::FILE* to_;
  bool live_, shown_ = false;
};

}  // namespace kzoo::report

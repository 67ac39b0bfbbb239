#pragma once
// How far something is, and how long the rest will take.

#include "results/document.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::report {

// "1:30", "2:00:00".
std::string clock_text(double seconds);

// Judging a cell counts as half of its work and timing it as the other half. A problem weighs as
// much as the square root of its operations: timing takes the same for all but the largest, and
// judging grows with them.
class progress {
 public:
  void begin(const results::document& d);
  // A kernel is about to be judged on the problem; all are timed in that round, from 0.
  void judges(const problem& p);
  void times(const problem& p, int round);
  // A cell that an earlier run finished.
  void skip(const problem& p);

  double done() const;  // from 0 to 1
  // "0:12, about 1:30 left"; without the latter until that can be told.
  std::string times_text(double elapsed_seconds) const;

 private:
  struct part {
    problem of;
    double weight = 0;
    double judged = 0, timed = 0;  // shares
    bool begun = false;
  };
  part& find(const problem& p);

  std::vector<part> parts_;
  double per_problem_ = 0;  // cells
  int rounds_ = 0;          // 0: nothing is timed
  double skipped_ = 0;      // share of all work
};

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

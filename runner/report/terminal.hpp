#pragma once
// A run's output while it goes on: tables as problems finish, or a line for each check, and the
// progress.

#include "report/page.hpp"
#include "results/document.hpp"
#include "results/finding.hpp"
#include "run/observer.hpp"
#include "run/plan.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::report {

// Options of every report.
struct shown_options {
  bool wide = false;             // tables as wide and as long as they are
  bool simulator_times = false;  // times of the simulator too
  sort_key sort = sort_key::none;
};

struct terminal_options {
  std::FILE* out = stdout;       // tables
  std::FILE* progress = stderr;  // one line, overwritten, on a terminal; else one line per problem
  bool quiet = false;            // only what did not pass, and the closing line
  shown_options shown;
};

std::unique_ptr<run::observer> make_terminal(const terminal_options& options);

// After the last problem: pivot tables, agreement, the closing line.
void print_closing(const results::document& d, const terminal_options& options);

// The last thing that tuning prints: the fastest kernels.
void print_tuned(const results::document& d, const terminal_options& options);

// True on a terminal (os/output.hpp), unless NO_COLOR is set (no-color.org).
bool wants_colour(std::FILE* file);
medium medium_of(std::FILE* file);
// Lines fit the terminal unless wide lines are allowed; lines of files and pipes are never cut.
view view_of(std::FILE* file, const shown_options& shown);

// The report of `runner validate`: one line for each check, as it finishes.
class validation_text {
 public:
  explicit validation_text(std::FILE* out);

  void begins(const std::vector<run::loaded_plugin>& plugins, const results::device& device,
              tier t);
  void starts(const results::validated_variant& v);
  void takes(const results::validated_variant& v);  // problems of this kind
  void found(const results::finding& f);
  void ends(const results::validation& v);
  void is_interrupted();

 private:
  // The finding's sentence, or a reference to the check for which the same sentence was printed.
  std::string sentence(const results::finding& f);

  std::FILE* out_;
  bool colour_;
  std::size_t columns_;
  std::string kernel_;                       // whose findings follow
  std::map<std::string, std::string> said_;  // reasons of failures, and the check they were said of
};

// Progress, and the estimated time left.

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
  // Shows the text in place of the current one.
  void show(std::string_view text);
  void clear();

 private:
  std::FILE* to_;
  bool live_, shown_ = false;
};

}  // namespace kzoo::report

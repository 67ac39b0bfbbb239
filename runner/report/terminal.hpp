#pragma once
// The report of a run in progress: tables as problems finish, and a progress line with what is
// at hand, how long it has taken and about how long it will.

#include "report/page.hpp"
#include "run/execution.hpp"

#include <cstdio>
#include <memory>

namespace kzoo::report {

// What users ask for of any report.
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
// Lines fit the terminal, unless they may be wide; those of files and pipes are never cut.
view view_of(std::FILE* file, const shown_options& shown);

}  // namespace kzoo::report

#pragma once
// The report that a person watches: tables as problems finish, and one line of progress.

#include "report/page.hpp"
#include "run/execution.hpp"

#include <cstdio>
#include <memory>

namespace kzoo::report {

struct terminal_options {
  std::FILE* out = stdout;  // tables
  std::FILE* progress =
      stderr;          // one line that is overwritten on a terminal, else a line a problem
  bool quiet = false;  // only what did not pass, and the closing line
};

std::unique_ptr<run::observer> make_terminal(const terminal_options& options);

// What comes after the last problem: pivot tables, agreement, the closing line.
void print_closing(const results::document& d, const terminal_options& options);

// Colours are for terminals, and not where NO_COLOR is set (no-color.org).
bool wants_colour(std::FILE* file);
medium medium_of(std::FILE* file);

}  // namespace kzoo::report

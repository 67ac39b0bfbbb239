#pragma once
// What a run shows while it goes on: tables as problems finish, or a line for each check, and how
// far it is.

#include "report/page.hpp"
#include "results/finding.hpp"
#include "run/execution.hpp"
#include "run/plan.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <string>

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
  // The finding's sentence; one that was said of another check refers to that.
  std::string sentence(const results::finding& f);

  std::FILE* out_;
  bool colour_;
  std::size_t columns_;
  std::string kernel_;                       // whose findings follow
  std::map<std::string, std::string> said_;  // reasons of failures, and the check they were said of
};

}  // namespace kzoo::report

#pragma once
// The sections of a report, for a run in progress and for stored results; comparisons and rankings
// as text; results as CSV and as JUnit XML.

#include "compare/compare.hpp"
#include "os/output.hpp"
#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kzoo::report {

// The cells that did not pass: one entry for each reason, with all kernels that share it. Plugins
// that could not be loaded are left out: the report's head names them.
struct reason {
  kzoo::verdict verdict;
  std::vector<std::string> kernels;
  std::string text;
  std::optional<reference::error_map> errors;  // the first kernel's
};
std::vector<reason> reasons(const results::document& d, std::size_t problem);
// "a:1, a:2, b:1" where there is room, else "3 kernels of a, b".
std::string names_of(const std::vector<std::string>& kernels, std::size_t room);

// The failures that a report has already shown.
class told_failures {
 public:
  // Leaves out kernels that failed for the same reason on a problem before. One with a map of its
  // errors stays.
  void remove_from(std::vector<reason>& reasons);
  // Whether a finding on a kernel was not told on a problem before.
  bool is_new(const results::cell& c, const results::finding& f);

 private:
  std::set<std::tuple<kzoo::verdict, std::string, std::string>> told_;  // reason, kernel
  std::set<std::tuple<std::string, std::string, std::string>> found_;   // check, its words, kernel
};

// The experiment's title; without one its file's name.
std::string title_of(const results::experiment& e);
// The experiment and the device; `d` need not have any cells yet.
void add_head(page& p, const results::document& d);
// The libraries that exist but cannot be used.
void add_broken(page& p, const results::document& d);
// The cells of one problem that failed, for reasons that are not told yet.
void add_failures(page& p, const results::document& d, std::size_t problem, told_failures& told);
// The table of one problem, then what did not pass. With a [pivot] the table is left out.
void add_problem(page& p, const results::document& d, std::size_t problem, told_failures& told);
// After the last problem: pivot tables and the agreement matrix.
void add_overview(page& p, const results::document& d);
// The failures that several problems share, and the closing line: how many cells have which
// verdict.
void add_closing(page& p, const results::document& d);

// The first words of a report's last line. "ok" is for runs in which every check was made and
// nothing failed.
struct closing_words {
  std::string_view words;
  style look;
};
closing_words closing_words_for(bool right, const results::coverage& covered);

// The complete report, including how it was measured.
std::string full_report(const results::document& d, const view& v);

// Tables with one axis of the experiment down and another across, as in [pivot] of an experiment
// file: one for each combination of the values that are on neither axis.
void add_pivot(page& out, const results::document& d, const results::pivot& p);

// Tuning's outcome: the fastest kernel of each problem, and the cost of finding it.
void add_tuned(page& p, const results::document& d);

// One plugin's changes: a row for each of its kernels on each problem that both runs have.
table change_table(const compare::comparison& c, const std::string& plugin);
std::string comparison_text(const compare::comparison& c, const view& v);
std::string ranking_text(const results::document& d, const std::string& baseline,
                         const std::vector<compare::ranking>& rankings, const view& v);

// "mine: 4 pass, 1 unsupported; 256x256x256 f32 12.1 ms, 16.0 % less time than before". `before`
// may be null. The time is the longest problem's; the change is the geometric mean over cells timed
// in both. Simulated kernels have no change.
std::string change_line(const results::document& now, const results::document* before,
                        const std::string& plugin);

// Whether no cell of the plugin failed, and one passed.
bool all_right(const results::document& d, const std::string& plugin);

// Writes CSV (RFC 4180, with \n as line end): a line with the columns' names, then a line for each
// cell, in `order` within each problem. Unknown values are empty.
void write_csv(const results::document& d, sort_key order, const text_sink& out);

// The verdicts in JUnit's XML, as CI services read it: a suite for each problem, a case for each
// kernel. A kernel that declined is skipped. Cells that an interrupted run left are an error of
// their own.
void write_junit(const results::document& d, const text_sink& out);

}  // namespace kzoo::report

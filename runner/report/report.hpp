#pragma once
// The sections of a report, for a run in progress and for stored results.

#include "report/page.hpp"
#include "report/reasons.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace kzoo::report {

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

// The first words of a report's last line: what it comes to.
struct closing_words {
  std::string_view words;
  style look;
};
// "ok" is for runs in which every check was made and nothing failed.
closing_words closing_words_for(bool right, const results::coverage& covered);

// The complete report, including how it was measured.
std::string full_report(const results::document& d, const view& v);

}  // namespace kzoo::report

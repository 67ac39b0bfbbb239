#pragma once
// A report, part by part: while a run goes on, or of results that were stored.

#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <string>

namespace kzoo::report {

// What was asked for and where it ran; `d` need not have any cells yet.
void add_head(page& p, const results::document& d);
// The libraries that are there and cannot be used.
void add_broken(page& p, const results::document& d);
// The cells of one problem that failed.
void add_failures(page& p, const results::document& d, std::size_t problem);
// All that did not pass, below a table; the table is left out where the experiment has a [pivot].
void add_problem(page& p, const results::document& d, std::size_t problem);
// What comes after the last problem: tables over several problems, and the agreement.
void add_overview(page& p, const results::document& d);
// How many of what, in a line.
void add_closing(page& p, const results::document& d);

// All of it, and how it was measured.
std::string whole(const results::document& d, medium m);

}  // namespace kzoo::report

#pragma once
// One problem's results: a row for each variant.

#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kzoo::report {

// "pass"; "pass, bf16" where the kernel computes in a lower precision than the baseline, or than is
// usual for the element types.
std::string verdict_text(const results::document& d, const results::cell& c);
// The precision to append to a figure: " (bf16)"; empty if verdict_text() shows none.
std::string lower_mark(const results::document& d, const results::cell& c);
// "1.05x", "0.998x tie", "4.70x (bf16 vs fp32)": the baseline's time over the cell's, with both
// precisions if the baseline's is higher; empty without a baseline.
std::string speedup_text(const results::document& d, const results::cell& c);
// The last part of speedup_text(), for any two cells of a problem: " (bf16 vs fp32)".
std::string lower_than(const results::document& d, const results::cell& c,
                       const results::cell* baseline);

// Whether the cells ran on several devices.
bool is_divided(std::span<const results::cell> of_one_problem);

// Shared memory per block, static and dynamic together: "33.0 KiB".
std::string shared_text(const results::launch& l);

// The cells of a problem, in the order that a user asks for.
std::vector<const results::cell*> sorted_cells(const results::document& d, std::size_t problem,
                                               sort_key key);

struct problem_rows {
  table times;
  std::size_t folded = 0;  // cells that it leaves out
};
// The table of a problem; without rows if there is no cell to show. On a terminal, a long table
// shows each plugin's fastest variant (in tuning the fastest variants) and failed cells. For the
// simulator, verdict, error and agreement come first.
problem_rows problem_table(const results::document& d, std::size_t problem, const view& v);
// End-to-end times, by phase: a row for each kernel that has them; no rows if the experiment does
// not ask for them.
table end_to_end_table(const results::document& d, std::size_t problem, const view& v);
// The title of problem_table's column of rounding errors, and the cell's error.
inline constexpr const char* kErrorTitle = "error/√K";
std::string accuracy_text(const results::document& d, const results::cell& c);
// Whether a cell's time is shown. Simulator times are shown only on request.
bool shows_time(const results::cell& c, const view& v);

// The roofline floor, the least time that the problem can take: one line for each precision that
// was timed; none if no peaks were measured.
std::vector<std::string> floors(const results::document& d, std::size_t problem);

style style_of(verdict v);

}  // namespace kzoo::report

#pragma once
// The kernels that a run's reader looks for first, and sentences about them.

#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kzoo::report {

// The fastest timed variant of each plugin on a problem, in the order of the plugins. Of a plugin
// without one it is the first variant that failed, else the first that passed; plugins that
// declined are left out.
std::vector<const results::cell*> best_of_each(const results::document& d, std::size_t problem);
// The fastest timed cell for which `counts` holds; null if there is none.
const results::cell* fastest_of(const results::document& d, std::size_t problem,
                                const std::function<bool(const results::cell&)>& counts);
// The cell of one plugin; null if the plugin declined, or is not in the run.
const results::cell* best_of(const results::document& d, std::size_t problem,
                             const std::string& plugin);
// A plugin's rank on a problem: the number of plugins with a faster variant, by the same clock,
// plus one; and the number of all.
struct standing {
  std::size_t place = 1, of = 1;
  bool mixed = false;  // some compute in a lower precision than others

  std::string text() const;  // "3 of 5", from three plugins on
};
standing standing_of(const results::document& d, const results::cell& c);
// Whether one of two cells of a problem declares a lower precision than the other.
bool have_different_precision(const results::document& d, const results::cell& a,
                              const results::cell& b);

struct focus {
  // The authors' plugins except the baseline, including those that declined every problem.
  std::vector<std::string> own;
  // The plugin that the report is about: the author's only one, or the only one except the
  // baseline; empty if there are several.
  std::string subject;
  std::string baseline;  // its plugin; empty if none was timed

  bool is_own(const std::string& plugin) const;
  // The plugins that sentences are about: the subject, or the authors'; empty: all plugins.
  std::vector<std::string> talked_of() const;
};
focus focus_of(const results::document& d);

// The problem for a sentence about speed: the largest on which most of `plugins` (without any, most
// of all plugins) were timed. Returns the number of problems if there is none.
std::size_t main_problem(const results::document& d, const std::vector<std::string>& plugins);

// "cublas:fp32", or the plugin's name for all its variants; empty without a baseline.
std::string baseline_name(const results::document& d);

struct answer {
  bool right = false;    // nothing failed, and something passed
  std::string verdicts;  // "27 pass, 1 wrong: mine:16x16 on 64x64x64 f32"
  // Faults of the first kernels that failed; then the sources that declined every problem.
  std::vector<std::string> failures;
  std::string speed;       // the fastest kernel, or the subject's place, and by how much
  std::string conditions;  // the device, and how it was measured
};
answer answer_of(const results::document& d, const focus& f);

// "27 pass, 1 wrong, 2 of 30 cells not run".
std::string verdict_counts(const results::document& d);

// "1.05x to 1.07x"; empty without an interval.
std::string interval_text(const timing::ratio& r);

// Sentences on the limits of a timed kernel's speed: its share of the roofline, the clock and the
// power, and the resources that bound how many warps an SM holds.
std::vector<std::string> limits_of(const results::document& d, const results::cell& c);

// The table of the focus: with a subject, a row for each problem; with one problem, a row for each
// plugin; else plugins down and problems across, with the speedup over the baseline, or GFLOP/s.
// Without times, it shows the checks' findings.
table focus_table(const results::document& d, const focus& f, const view& v);

}  // namespace kzoo::report

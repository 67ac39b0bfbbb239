#pragma once
// Which kernels of a run its reader looks for first.

#include "results/document.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kzoo::report {

// Timed, and not by the simulator, whose times say nothing of a kernel.
bool is_timed(const results::cell& c);

// The fastest timed variant of each plugin on a problem, in the order of the plugins. Of a plugin
// without one it is the first variant that failed, else the first that passed; plugins that
// declined are left out.
std::vector<const results::cell*> best_of_each(const results::document& d, std::size_t problem);
// The fastest of them that was timed and that `counts` holds for; null: there is none.
const results::cell* fastest_of(const results::document& d, std::size_t problem,
                                const std::function<bool(const results::cell&)>& counts);
// One of them; null: it declined, or is not in the run.
const results::cell* best_of(const results::document& d, std::size_t problem,
                             const std::string& plugin);
// How many plugins have a faster variant on the problem, by the same clock, plus one; and of how
// many.
struct standing {
  std::size_t place = 1, of = 1;
  bool mixed = false;  // some compute in a lower precision than others

  std::string text() const;  // "3 of 5"; "" among two or fewer
};
standing standing_of(const results::document& d, const results::cell& c);
// Whether one of two cells of a problem declares a lower precision than the other.
bool have_different_precision(const results::document& d, const results::cell& a,
                              const results::cell& b);

struct focus {
  // The plugins of authors, but for the baseline, also those that declined every problem.
  std::vector<std::string> own;
  // The one plugin that everything is about: the only one of an author, or the only one beside the
  // baseline; "" where there are several.
  std::string subject;
  std::string baseline;  // its plugin; "": none was timed

  bool is_own(const std::string& plugin) const;
  // The plugins that sentences are about: the subject, or the authors'; none: all.
  std::vector<std::string> talked_of() const;
};
focus focus_of(const results::document& d);

// The problem that a sentence about speed is about: the largest of those on which the most of
// `plugins` were timed; without any, the most of all. The number of problems if there is none.
std::size_t main_problem(const results::document& d, const std::vector<std::string>& plugins);

// "cublas:fp32"; of all variants of a plugin its name; "" without a baseline.
std::string baseline_name(const results::document& d);

}  // namespace kzoo::report

#pragma once
// Runs a plan: for each problem, every variant is judged and compared with the others; then those
// with right results are timed in rounds.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::run {

// Notified of every step as it happens, on the thread that runs the plan.
class observer {
 public:
  virtual ~observer() = default;
  // Called before anything runs.
  virtual void begins(const results::document&) {}
  // `kernel` is about to be judged on this problem.
  virtual void starts(const problem&, const std::string& /*kernel*/) {}
  // `kernel`, judged before, is about to be timed in this round.
  virtual void times(const problem&, const std::string& /*kernel*/, int /*round*/) {}
  // A cell is finished, the last of these; before it are the other cells of its problem.
  virtual void finished(const results::document&, std::span<const results::cell>) {}
  // The interrupted run that is resumed had finished this cell.
  virtual void taken_over(const results::document&, const results::cell&) {}
  // A problem is finished: all its cells are in the document.
  virtual void finished(const results::document&, std::size_t /*problem*/) {}
  // One of several devices is lost; the problem that it was running stays unfinished.
  virtual void loses_device(const std::string& /*why*/) {}
};

// Runs the plan and returns `head` with the results. Cells that `head` has taken over are
// not run again. When a signal interrupts it, returns what is finished.
results::document execute(plan& p, results::document head, observer& watch);

// The cells that a problem has already: the first ones of the plan, in its order.
using resumed_cells = std::map<std::size_t, std::vector<results::cell>>;
// The same for the problems whose indices `next` returns, until it returns none; the cells of each
// that are known then are not run again.
results::document execute(plan& p, results::document head, resumed_cells& resumed, observer& watch,
                          const std::function<std::optional<std::size_t>()>& next);

}  // namespace kzoo::run

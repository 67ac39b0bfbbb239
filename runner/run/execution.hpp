#pragma once
// Runs a plan: for each problem, every variant is judged and compared with the others; then those
// with right results are timed in rounds.

#include "results/document.hpp"
#include "run/finished_cells.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

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
  // A cell is finished, with its comparisons with other results of the problem. The cells of a
  // problem finish in the order of the document.
  virtual void finished(const results::document&, const results::cell&,
                        std::span<const results::agreement>) {}
  // The interrupted run that is resumed had finished this cell.
  virtual void taken_over(const results::document&, const results::cell&) {}
  // A problem is finished: all its cells and agreements are in the document.
  virtual void finished(const results::document&, std::size_t /*problem*/) {}
  // One of several devices is lost; the problem that it was running stays unfinished.
  virtual void loses_device(const std::string& /*why*/) {}
};

// The head of the results: what is known before anything runs.
results::document head_of(const plan& p);

// Runs the plan and returns `head` with the results. Cells in `before` are taken over, not run
// again. When a signal interrupts it, returns what is finished.
results::document execute(plan& p, results::document head, const finished_cells& before,
                          observer& watch);

// The same for the problems whose indices `next` returns, until it returns none. `next` may update
// what `before` contains for the problem that it returns.
results::document execute(plan& p, results::document head, const finished_cells& before,
                          observer& watch, const std::function<std::optional<std::size_t>()>& next);

// The current time as results store it: ISO 8601.
std::string utc_now();

}  // namespace kzoo::run

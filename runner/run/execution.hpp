#pragma once
// Runs a plan: for each problem, each variant is judged and compared with the others; then those
// that are right are timed in rounds.

#include "results/document.hpp"
#include "run/finished_cells.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace kzoo::run {

// Told of everything as it happens, on the thread that runs the plan.
class observer {
 public:
  virtual ~observer() = default;
  // Nothing has run yet.
  virtual void begins(const results::document&) {}
  // `kernel` on this problem is judged next.
  virtual void starts(const problem&, const std::string& /*kernel*/) {}
  // It has been, and takes its turn in this round.
  virtual void times(const problem&, const std::string& /*kernel*/, int /*round*/) {}
  // With what the comparison with the other results of the problem gave. The cells of a problem
  // finish in the order of the document.
  virtual void finished(const results::document&, const results::cell&,
                        std::span<const results::agreement>) {}
  // An interrupted run had finished this cell.
  virtual void taken_over(const results::document&, const results::cell&) {}
  // All cells and agreements of the problem are in the document.
  virtual void finished(const results::document&, std::size_t /*problem*/) {}
  // One of several devices takes no further part, and what it was at is not finished.
  virtual void loses_device(const std::string& /*why*/) {}
};

// What is known before anything runs.
results::document head_of(const plan& p);

// Adds to `head` what comes of the plan; cells of `before` are taken over and not run. When a
// signal interrupts it, what is finished is given back.
results::document execute(plan& p, results::document head, const finished_cells& before,
                          observer& watch);

// The same for the problems that `next` gives, by their numbers, until it gives none. What `before`
// says of a problem may come about while `next` is asked for it.
results::document execute(plan& p, results::document head, const finished_cells& before,
                          observer& watch, const std::function<std::optional<std::size_t>()>& next);

// As results have it: ISO 8601.
std::string utc_now();

}  // namespace kzoo::run

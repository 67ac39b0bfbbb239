#pragma once
// Runs a plan: for each problem, each variant is verified, then timed; then all are compared.

#include "results/results.hpp"
#include "run/plan.hpp"

#include <cstddef>

namespace kzoo::run {

// Told of everything as it happens, on the thread that runs the plan.
class observer {
 public:
  virtual ~observer() = default;
  virtual void begins(const results::document&, std::size_t /*cells*/) {}
  // `kernel` on this problem is next.
  virtual void starts(const problem&, const std::string& /*kernel*/) {}
  virtual void finished(const results::document&, const results::cell&) {}
  // All cells and agreements of the problem are in the document.
  virtual void finished(const results::document&, std::size_t /*problem*/) {}
};

results::document execute(plan& p, observer& watch);

}  // namespace kzoo::run

#pragma once
// Runs a plan: judges and compares all variants of a problem, then times the right ones in rounds.

#include "results/document.hpp"
#include "run/observer.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace kzoo::run {

// Runs the plan and returns `head` with the results. Skips cells that `head` already has. When a
// signal interrupts it, returns the finished cells.
results::document execute(plan& p, results::document head, observer& watch);

// Cells that a problem already has: the first cells of the plan, in its order.
using resumed_cells = std::map<std::size_t, std::vector<results::cell>>;

// The cells of a problem that one device runs: those of the baseline, and every `count`-th of the
// others, from number `index` on.
struct share {
  std::size_t problem = 0, index = 0, count = 1;
};
// Runs the shares that `next` returns, except for the cells in `resumed`.
results::document execute(plan& p, results::document head, resumed_cells& resumed, observer& watch,
                          const std::function<std::optional<share>()>& next);

}  // namespace kzoo::run

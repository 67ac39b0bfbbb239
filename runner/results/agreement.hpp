#pragma once
// Which results of a problem agree, pair by pair: what follows from the classes in its cells.

#include "results/cell.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace kzoo::results {

// Two results, by the positions of their cells among those of the problem, a before b.
struct compared_pair {
  std::size_t a = 0, b = 0;
  reference::comparison difference;
};

// Calls f for each pair of results that were compared, in the order of b, then of a.
void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f);

}  // namespace kzoo::results

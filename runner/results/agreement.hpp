#pragma once
// Which results of a problem agree, pair by pair: what follows from the classes in its cells.

#include "results/cell.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace kzoo::results {

// Two results, by the positions of their cells among those of the problem, a before b.
struct compared_pair {
  std::size_t a = 0, b = 0;
  reference::comparison difference;
};

// Calls f for each pair of results that were compared, in the order of b, then of a.
void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f);

// The other way round: forms the classes from pairs, of which for_each_pair() then makes the same
// ones. A pair with a position beyond the cells is not allowed.
void form_classes(std::span<cell> of_one_problem, const std::vector<compared_pair>& pairs);

}  // namespace kzoo::results

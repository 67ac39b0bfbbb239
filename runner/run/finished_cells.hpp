#pragma once
// What an interrupted run had finished: it is taken over and not run again.

#include "results/document.hpp"

#include <map>
#include <utility>
#include <vector>

namespace kzoo::run {

class finished_cells {
 public:
  finished_cells() = default;
  explicit finished_cells(const results::document& d);

  // Null when the cell was not finished.
  const results::cell* find(const problem& p, const kernel_id& kernel) const;
  // With `problem` of each as it was then.
  std::vector<results::agreement> agreements_on(const problem& p) const;

 private:
  std::map<std::pair<problem, kernel_id>, results::cell> cells_;
  std::map<problem, std::vector<results::agreement>> agreements_;
};

}  // namespace kzoo::run

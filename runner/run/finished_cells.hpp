#pragma once
// The cells that an interrupted run had finished: they are taken over, not run again.

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
  // `problem` of each is the index in the interrupted run.
  std::vector<results::agreement> agreements_on(const problem& p) const;

 private:
  std::map<std::pair<problem, kernel_id>, results::cell> cells_;
  std::map<problem, std::vector<results::agreement>> agreements_;
};

}  // namespace kzoo::run

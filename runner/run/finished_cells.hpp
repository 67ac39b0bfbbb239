#pragma once
// The cells that an interrupted run had finished: they are taken over, not run again.

#include "results/document.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::run {

class finished_cells {
 public:
  finished_cells() = default;
  explicit finished_cells(const results::document& d);

  // Null when the cell was not finished.
  const results::cell* find(const problem& p, const std::string& plugin,
                            const std::string& variant) const;
  // `problem` of each is the index in the interrupted run.
  std::vector<results::agreement> agreements_on(const problem& p) const;

 private:
  std::map<std::tuple<problem, std::string, std::string>, results::cell> cells_;
  std::map<problem, std::vector<results::agreement>> agreements_;
};

}  // namespace kzoo::run

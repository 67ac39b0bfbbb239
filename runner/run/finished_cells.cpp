#include "run/finished_cells.hpp"

namespace kzoo::run {

finished_cells::finished_cells(const results::document& d) {
  for (const results::cell& c : d.cells) {
    cells_.emplace(std::pair(d.problem_of(c), c.kernel), c);
  }
  for (const results::agreement& a : d.agreements) {
    agreements_[d.experiment.problems[a.problem]].push_back(a);
  }
}

const results::cell* finished_cells::find(const problem& p, const kernel_id& kernel) const {
  const auto found = cells_.find({p, kernel});
  return found == cells_.end() ? nullptr : &found->second;
}

std::vector<results::agreement> finished_cells::agreements_on(const problem& p) const {
  const auto found = agreements_.find(p);
  return found == agreements_.end() ? std::vector<results::agreement>{} : found->second;
}

}  // namespace kzoo::run

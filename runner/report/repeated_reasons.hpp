#pragma once
// Why cells did not pass, over all problems: a reason that many cells share is told once.

#include "report/problem_table.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::report {

// The kernels that have a reason, each with the problems on which it has it.
struct shared_reason {
  kzoo::verdict verdict;
  std::string text;
  std::vector<std::string> kernels;  // in order
  std::map<std::string, std::vector<std::size_t>> problems;

  std::size_t cells() const;
  bool is_repeated() const { return cells() > kernels.size(); }  // by one kernel, elsewhere
};
std::vector<shared_reason> shared_reasons(const results::document& d);

// The failures that a report has told so far.
class told_failures {
 public:
  // Leaves out kernels that failed for the same reason on a problem before. One with a map of its
  // errors stays.
  void remove_from(std::vector<reason>& reasons);

 private:
  std::set<std::tuple<kzoo::verdict, std::string, std::string>> told_;  // reason, kernel
};

}  // namespace kzoo::report

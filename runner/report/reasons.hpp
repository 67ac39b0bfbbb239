#pragma once
// Why cells did not pass. A reason that many cells share is told once.

#include "results/document.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::report {

// The cells that did not pass: one entry for each reason, with all kernels that share it. Plugins
// that could not be loaded are left out: the report's head names them.
struct reason {
  kzoo::verdict verdict;
  std::vector<std::string> kernels;
  std::string text;
  std::optional<reference::error_map> errors;  // of the first kernel
};
std::vector<reason> reasons(const results::document& d, std::size_t problem);
// "a:1, a:2, b:1" where there is room, else "3 kernels of a, b".
std::string names_of(const std::vector<std::string>& kernels, std::size_t room);

// Over all problems: the kernels that have a reason, each with the problems on which it has it.
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
  // Whether a finding on a kernel was not told on a problem before.
  bool is_new(const results::cell& c, const results::finding& f);

 private:
  std::set<std::tuple<kzoo::verdict, std::string, std::string>> told_;  // reason, kernel
  std::set<std::tuple<std::string, std::string, std::string>> found_;   // check, its words, kernel
};

}  // namespace kzoo::report

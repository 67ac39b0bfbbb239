#pragma once
// What an interrupted run had finished: it is taken over and not run again.

#include "results/document.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::run {

class earlier {
 public:
  earlier() = default;
  explicit earlier(const results::document& d);

  // Null when the cell was not finished.
  const results::cell* find(const problem& p, const std::string& plugin,
                            const std::string& variant) const;
  // With `problem` of each as it was then.
  std::vector<results::agreement> agreements_on(const problem& p) const;

 private:
  std::map<std::tuple<problem, std::string, std::string>, results::cell> cells_;
  std::map<problem, std::vector<results::agreement>> agreements_;
};

}  // namespace kzoo::run

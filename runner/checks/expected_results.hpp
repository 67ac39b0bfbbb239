#pragma once
// Caches expected results, so that each is computed once.

#include "core/problem.hpp"
#include "reference/expected_result.hpp"
#include "reference/freivalds.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace kzoo::checks {

class expected_results {
 public:
  // Which rows are computed of a result that is too large, and how rows are weighted when they are
  // summed, is random, so that no kernel can know it.
  std::uint64_t key() const { return key_; }

  std::shared_ptr<const reference::expected_result> of(const problem& p);
  // Of a problem that a check makes: fewer rows of it, so that it takes less than a second.
  std::shared_ptr<const reference::expected_result> few_rows_of(const problem& p);
  std::shared_ptr<const std::vector<std::uint64_t>> exact_sums(const problem& p);
  std::shared_ptr<const std::vector<reference::row_sum>> rounded_sums(const problem& p);
  // Called before the next problem: keeps only the small ones, which the checks use for every
  // kernel.
  void forget_large();

 private:
  std::uint64_t key_ = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
  std::map<problem, std::shared_ptr<const reference::expected_result>> known_, few_rows_;
  std::map<problem, std::shared_ptr<const std::vector<std::uint64_t>>> exact_sums_;
  std::map<problem, std::shared_ptr<const std::vector<reference::row_sum>>> rounded_sums_;
};

}  // namespace kzoo::checks

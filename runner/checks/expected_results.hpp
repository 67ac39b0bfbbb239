#pragma once
// Caches expected results, so that each is computed once. Several threads may ask: of two that ask
// for the same, one computes it. begin() and forget_large() are for a caller without other threads.

#include "core/problem.hpp"
#include "reference/expected_result.hpp"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

namespace kzoo::checks {

class expected_results {
 public:
  std::shared_ptr<const reference::expected_result> of(const problem& p);
  // Computes it in a thread of its own, if it can be computed whole. When of() is asked next, for
  // this or another problem, the thread has ended.
  void begin(const problem& p);
  // Of a problem that a check makes: fewer rows of it, so that it takes less than a second.
  std::shared_ptr<const reference::expected_result> few_rows_of(const problem& p);
  // Of a run on fresh numbers, in which this row is wrong, or -1: not kept.
  std::shared_ptr<const reference::expected_result> with_row(const problem& p,
                                                             std::int64_t row) const;
  // Called before the next problem: keeps only the small ones, which the checks use for every
  // kernel.
  void forget_large();

 private:
  // Which rows are computed of a result that is too large is random, so that no kernel can know it.
  std::uint64_t key_ = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
  using shared_result = std::shared_ptr<const reference::expected_result>;
  using result_map = std::map<problem, std::shared_future<shared_result>>;
  // What the map holds for the problem; computed where it holds nothing.
  shared_result find(result_map& in, const problem& p,
                     std::function<reference::expected_result()> compute);

  std::mutex mutex_;
  result_map known_, few_rows_;
  std::optional<std::pair<problem, std::future<reference::expected_result>>> begun_;
};

}  // namespace kzoo::checks

#pragma once
// Caches expected results. Several threads may ask; each result is computed once. begin() and
// forget_large() need a caller without other threads.

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
  // Starts a thread that computes it, if all rows can be computed. The next of() waits for it.
  void begin(const problem& p);
  // For a problem that a check makes: so few rows that it takes less than a second.
  std::shared_ptr<const reference::expected_result> few_rows_of(const problem& p);
  // For a run on fresh numbers in which this row is wrong (-1: none). Not cached.
  std::shared_ptr<const reference::expected_result> with_row(const problem& p,
                                                             std::int64_t row) const;
  // Call it before the next problem. Keeps only small results, which all kernels need.
  void forget_large();

 private:
  // Selects the computed rows of large results; random, so that no kernel can know them.
  std::uint64_t key_ = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32;
  using shared_result = std::shared_ptr<const reference::expected_result>;
  using result_map = std::map<problem, std::shared_future<shared_result>>;
  // Returns the map's entry for the problem; computes it if missing.
  shared_result find(result_map& in, const problem& p,
                     std::function<reference::expected_result()> compute);

  std::mutex mutex_;
  result_map known_, few_rows_;
  std::optional<std::pair<problem, std::future<reference::expected_result>>> begun_;
};

}  // namespace kzoo::checks

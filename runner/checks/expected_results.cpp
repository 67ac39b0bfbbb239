#include "checks/expected_results.hpp"

namespace kzoo::checks {
namespace {

using reference::expected_result;

// For results that checks compare in part: less than a second.
constexpr double kFewProducts = 4e9;

expected_result whole(const problem& p, std::uint64_t key) {
  return expected_result(p, expected_result::kMaxProducts, key);
}

double elements(const reference::expected_result& t) {
  return static_cast<double>(t.rows().size()) * static_cast<double>(t.of().n);
}

}  // namespace

expected_results::shared_result expected_results::find(result_map& in, const problem& p,
                                                       std::function<expected_result()> compute) {
  std::shared_future<shared_result> result;
  {
    const std::scoped_lock lock(mutex_);
    const auto [known, is_new] = in.try_emplace(p);
    if (is_new) {
      known->second = std::async(std::launch::deferred, [compute = std::move(compute)] {
        return std::make_shared<const expected_result>(compute());
      });
    }
    result = known->second;
  }
  return result.get();
}

std::shared_ptr<const reference::expected_result> expected_results::of(const problem& p) {
  return find(known_, p, [this, p] {
    std::unique_lock lock(mutex_);
    auto begun = std::exchange(begun_, {});
    lock.unlock();
    return begun && begun->first == p ? begun->second.get() : whole(p, key_);
  });
}

void expected_results::begin(const problem& p) {
  if (expected_result::rows_of(p) < p.all_rows()) return;
  begun_.emplace(p, std::async(std::launch::async, whole, p, key_));
}

std::shared_ptr<const reference::expected_result> expected_results::few_rows_of(const problem& p) {
  return find(few_rows_, p,
              [this, p] { return reference::expected_result(p, kFewProducts, key_); });
}

std::shared_ptr<const reference::expected_result> expected_results::with_row(
    const problem& p, std::int64_t row) const {
  return std::make_shared<const reference::expected_result>(p, kFewProducts, key_, row);
}

void expected_results::forget_large() {
  const double small = 1e5;
  for (auto* results : {&known_, &few_rows_})
    std::erase_if(*results, [&](const auto& e) { return elements(*e.second.get()) > small; });
}

}  // namespace kzoo::checks

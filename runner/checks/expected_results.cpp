#include "checks/expected_results.hpp"

namespace kzoo::checks {
namespace {

using reference::expected_result;

// Of a result that checks compare in part, so that it takes less than a second.
constexpr double kFewProducts = 4e9;

expected_result whole(const problem& p, std::uint64_t key) {
  return expected_result(p, expected_result::kMaxProducts, key);
}

double elements(const reference::expected_result& t) {
  return static_cast<double>(t.rows().size()) * static_cast<double>(t.of().n);
}

// What the map holds for the problem; computed where it holds nothing.
template <class T, class Compute>
std::shared_ptr<const T> find(std::map<problem, std::shared_ptr<const T>>& in, const problem& p,
                              const Compute& compute) {
  if (const auto known = in.find(p); known != in.end()) return known->second;
  return in.emplace(p, std::make_shared<const T>(compute())).first->second;
}

}  // namespace

std::shared_ptr<const reference::expected_result> expected_results::of(const problem& p) {
  return find(known_, p, [&] {
    auto begun = std::exchange(begun_, {});
    return begun && begun->first == p ? begun->second.get() : whole(p, key_);
  });
}

void expected_results::begin(const problem& p) {
  if (expected_result::rows_of(p) < p.all_rows()) return;
  begun_.emplace(p, std::async(std::launch::async, whole, p, key_));
}

std::shared_ptr<const reference::expected_result> expected_results::few_rows_of(const problem& p) {
  return find(few_rows_, p, [&] { return reference::expected_result(p, kFewProducts, key_); });
}

std::shared_ptr<const reference::expected_result> expected_results::with_row(
    const problem& p, std::int64_t row) const {
  return std::make_shared<const reference::expected_result>(p, kFewProducts, key_, row);
}

void expected_results::forget_large() {
  const double small = 1e5;
  for (auto* results : {&known_, &few_rows_})
    std::erase_if(*results, [&](const auto& entry) { return elements(*entry.second) > small; });
}

}  // namespace kzoo::checks

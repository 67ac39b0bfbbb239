#include "checks/expected_results.hpp"

namespace kzoo::checks {
namespace {

// Of a result that checks compare in part, so that it takes less than a second.
constexpr double kFewProducts = 4e9;

double elements(const reference::expected_result& t) {
  return static_cast<double>(t.rows().size()) * static_cast<double>(t.of().n);
}

// What the map holds for the problem; computed where it holds nothing.
template <class T, class Compute>
std::shared_ptr<const T> find(std::map<problem, std::shared_ptr<const T>>& in, const problem& p,
                              const Compute& compute) {
  std::shared_ptr<const T>& known = in[p];
  if (!known) known = std::make_shared<const T>(compute());
  return known;
}

}  // namespace

std::shared_ptr<const reference::expected_result> expected_results::of(const problem& p) {
  using reference::expected_result;
  return find(known_, p, [&] { return expected_result(p, expected_result::kMaxProducts, key_); });
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

#include "checks/expected_results.hpp"

namespace kzoo::checks {
namespace {

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
  constexpr double kMaxProducts = 4e9;
  return find(few_rows_, p, [&] { return reference::expected_result(p, kMaxProducts, key_); });
}

std::shared_ptr<const std::vector<std::uint64_t>> expected_results::exact_sums(const problem& p) {
  return find(exact_sums_, p, [&] { return reference::exact_sums(p, key_); });
}

std::shared_ptr<const std::vector<reference::row_sum>> expected_results::rounded_sums(
    const problem& p) {
  return find(rounded_sums_, p, [&] { return reference::rounded_sums(p, key_); });
}

void expected_results::forget_large() {
  const double small = 1e5;
  for (auto* results : {&known_, &few_rows_})
    std::erase_if(*results, [&](const auto& entry) { return elements(*entry.second) > small; });
  exact_sums_.clear();
  rounded_sums_.clear();
}

}  // namespace kzoo::checks

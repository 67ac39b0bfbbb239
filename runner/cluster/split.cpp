#include "cluster/split.hpp"

#include <algorithm>
#include <numeric>

namespace kzoo::cluster {

double estimated_work(const problem& p) {
  // Judging and timing rounds take a while even for the smallest problem.
  constexpr double kEach = 2.0 * 512 * 512 * 512;
  return kEach + p.flops();
}

std::vector<std::vector<std::size_t>> split(std::span<const problem> problems, std::size_t shards) {
  std::vector<std::size_t> longest_first(problems.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::ranges::greater{},
                           [&](std::size_t i) { return estimated_work(problems[i]); });
  shards = std::min(shards, problems.size());
  std::vector<std::vector<std::size_t>> numbers(shards);
  std::vector<double> work(shards);
  for (const std::size_t i : longest_first) {
    const auto least = std::ranges::min_element(work);
    numbers[static_cast<std::size_t>(least - work.begin())].push_back(i);
    *least += estimated_work(problems[i]);
  }
  for (auto& each : numbers) std::ranges::sort(each);
  return numbers;
}

std::string numbers_text(std::span<const std::size_t> ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t end = i + 1;
    while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[i]);
    if (end - i > 1) text += '-' + std::to_string(ascending[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace kzoo::cluster

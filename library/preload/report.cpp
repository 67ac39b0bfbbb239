#include "report.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kzoo::preload {
namespace {

// "kzoo_blas: 7 calls TITLE", and a line for each kind, the most frequent first.
std::string section(const std::map<std::string, std::uint64_t>& counts, const char* title) {
  std::vector<std::pair<std::string, std::uint64_t>> lines(counts.begin(), counts.end());
  std::ranges::stable_sort(lines, [](const auto& x, const auto& y) { return x.second > y.second; });
  std::uint64_t all = 0;
  std::string text;
  for (const auto& [what, times] : lines) {
    all += times;
    text += "kzoo_blas:   " + std::to_string(times) + " " + what + "\n";
  }
  return "kzoo_blas: " + std::to_string(all) + " calls " + title + "\n" + text;
}

}  // namespace

std::string report::text() const {
  const std::lock_guard lock(mutex_);
  if (taken_.empty() && passed_.empty()) return "";
  return section(taken_, "computed by kernels of the zoo") +
         section(passed_, "passed on to cuBLAS");
}

}  // namespace kzoo::preload

// Asynchronous operations of a thread, in groups that it commits and waits for.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace kzoo::sim {

// Oldest first. Those after the last commit are in no group yet.
template <class Operation>
struct in_flight {
  std::vector<Operation> operations;
  std::vector<std::size_t> groups;  // operations in each
  std::size_t grouped = 0;

  void commit() {
    groups.push_back(operations.size() - grouped);
    grouped = operations.size();
  }
  // Calls finish(operation) for all groups but the youngest `pending`.
  template <class Finish>
  void wait(std::size_t pending, const Finish& finish) {
    if (groups.size() <= pending) return;
    const auto done = static_cast<std::ptrdiff_t>(groups.size() - pending);
    const std::size_t count = std::accumulate(groups.begin(), groups.begin() + done, std::size_t{});
    for (std::size_t i = 0; i < count; ++i) finish(operations[i]);
    operations.erase(operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(count));
    groups.erase(groups.begin(), groups.begin() + done);
    grouped -= count;
  }
  void clear() {
    operations.clear();
    groups.clear();
    grouped = 0;
  }
};

}  // namespace kzoo::sim

// Asynchronous operations of a thread, in groups that it commits and waits for.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace kzoo::sim {

template <class Operation>
class in_flight {
 public:
  void add(const Operation& operation) { operations_.push_back(operation); }
  // Groups the operations since the last group.
  void commit() {
    groups_.push_back(operations_.size() - grouped_);
    grouped_ = operations_.size();
  }
  // Calls finish(operation) for all groups but the youngest `pending`.
  template <class Finish>
  void wait(std::size_t pending, const Finish& finish) {
    if (groups_.size() <= pending) return;
    const auto done = groups_.begin() + static_cast<std::ptrdiff_t>(groups_.size() - pending);
    const std::size_t end = std::accumulate(groups_.begin(), done, first_);
    for (; first_ < end; ++first_) finish(operations_[first_]);
    groups_.erase(groups_.begin(), done);
    // The finished operations are kept until they are the larger part.
    if (2 * first_ < operations_.size()) return;
    operations_.erase(operations_.begin(),
                      operations_.begin() + static_cast<std::ptrdiff_t>(first_));
    grouped_ -= first_;
    first_ = 0;
  }
  // Oldest first.
  std::span<const Operation> all() const { return std::span(operations_).subspan(first_); }
  bool has_groups() const { return !groups_.empty(); }
  void clear() {
    operations_.clear();
    groups_.clear();
    first_ = grouped_ = 0;
  }

 private:
  std::vector<Operation> operations_;
  std::vector<std::size_t> groups_;  // operations in each, oldest first
  std::size_t first_ = 0;            // that is not finished
  std::size_t grouped_ = 0;          // earlier operations are in a group, or were
};

}  // namespace kzoo::sim

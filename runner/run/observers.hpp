#pragma once
// Observers of a run: one that notifies several others, and one that writes the journal.

#include "run/execution.hpp"
#include "storage/journal.hpp"

#include <vector>

namespace kzoo::run {

// Notifies each in turn.
class observers final : public observer {
 public:
  explicit observers(std::vector<observer*> all) : all_(std::move(all)) {}

  void begins(const results::document& d) override {
    for (observer* o : all_) o->begins(d);
  }
  void starts(const problem& p, const std::string& kernel) override {
    for (observer* o : all_) o->starts(p, kernel);
  }
  void times(const problem& p, const std::string& kernel, int round) override {
    for (observer* o : all_) o->times(p, kernel, round);
  }
  void finished(const results::document& d, const results::cell& c,
                std::span<const results::agreement> with_others) override {
    for (observer* o : all_) o->finished(d, c, with_others);
  }
  void taken_over(const results::document& d, const results::cell& c) override {
    for (observer* o : all_) o->taken_over(d, c);
  }
  void finished(const results::document& d, std::size_t problem) override {
    for (observer* o : all_) o->finished(d, problem);
  }
  void loses_device(const std::string& why) override {
    for (observer* o : all_) o->loses_device(why);
  }

 private:
  std::vector<observer*> all_;
};

// The journal's head must have been written.
class recorder final : public observer {
 public:
  explicit recorder(storage::journal& j) : journal_(j) {}

  void finished(const results::document& d, const results::cell& c,
                std::span<const results::agreement> with_others) override {
    journal_.add(d, c, with_others);
  }
  using observer::finished;

 private:
  storage::journal& journal_;
};

}  // namespace kzoo::run

#pragma once
// Observers of a run: a list of observers, and the journal's writer.

#include "os/interrupt.hpp"
#include "run/execution.hpp"
#include "storage/journal.hpp"

#include <string>
#include <vector>

namespace kzoo::run {

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
  void finished(const results::document& d, std::span<const results::cell> so_far) override {
    for (observer* o : all_) o->finished(d, so_far);
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

// Writes cells to a journal that has its head. Ends the run if a cell cannot be stored.
class recorder final : public observer {
 public:
  explicit recorder(storage::journal& j) : journal_(j) {}

  void finished(const results::document& d, std::span<const results::cell> so_far) override {
    if (!failure_.empty()) return;
    try {
      journal_.add(d, so_far);
    } catch (const storage::not_stored& e) {
      failure_ = e.what();
      interrupt::request();
    }
  }
  using observer::finished;

  // Why a cell could not be stored; "" if all were.
  const std::string& failure() const { return failure_; }

 private:
  storage::journal& journal_;
  std::string failure_;
};

}  // namespace kzoo::run

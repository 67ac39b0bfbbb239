#pragma once
// Whoever follows a run: the terminal, and the recorder, which writes the journal.

#include "os/posix.hpp"
#include "reference/expected_result.hpp"
#include "reference/judge.hpp"
#include "results/document.hpp"
#include "storage/journal.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::run {

// A judged result. Bit-identical results of a problem are copied and judged once.
struct judged_result {
  std::uint64_t digest;
  kzoo_precision declared;
  bool right;
  reference::accuracy accuracy;
  reference::result result;
};

// Computes the expected result, unless it is known. Throws as expected_results::of().
using expected_on_demand = std::function<std::shared_ptr<const reference::expected_result>()>;

// Notified of every step as it happens, on the thread that runs the plan.
class observer {
 public:
  virtual ~observer() = default;
  // Called before anything runs.
  virtual void begins(const results::document&) {}
  // `kernel` is about to be judged on this problem.
  virtual void starts(const problem&, const std::string& /*kernel*/) {}
  // A cell is judged whose result differs from all earlier results of its problem.
  virtual void judged(const results::cell&, const judged_result&, const expected_on_demand&) {}
  // `kernel` passed and is about to be timed in this round.
  virtual void times(const problem&, const std::string& /*kernel*/, int /*round*/) {}
  // The last cell of the span is finished. The cells before it belong to the same problem.
  virtual void finished(const results::document&, std::span<const results::cell>) {}
  // The interrupted run had finished this cell.
  virtual void taken_over(const results::document&, const results::cell&) {}
  // A problem is finished: all its cells are in the document.
  virtual void finished(const results::document&, std::size_t /*problem*/) {}
  // A device of several is lost. The problem that it was running stays unfinished.
  virtual void loses_device(const std::string& /*why*/) {}
};

// Several observers as one.
class observers final : public observer {
 public:
  explicit observers(std::vector<observer*> all) : all_(std::move(all)) {}

  void begins(const results::document& d) override {
    for (observer* o : all_) o->begins(d);
  }
  void starts(const problem& p, const std::string& kernel) override {
    for (observer* o : all_) o->starts(p, kernel);
  }
  void judged(const results::cell& c, const judged_result& r,
              const expected_on_demand& expected) override {
    for (observer* o : all_) o->judged(c, r, expected);
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

  // Why a cell could not be stored; empty: all were.
  const std::string& failure() const { return failure_; }

 private:
  storage::journal& journal_;
  std::string failure_;
};

}  // namespace kzoo::run

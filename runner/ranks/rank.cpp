// The process of one rank, which judges and times on its device.
#include "checks/result_judge.hpp"
#include "os/output.hpp"
#include "process/child.hpp"
#include "process/messages.hpp"
#include "ranks/dispatch.hpp"
#include "reference/expected_result.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"
#include "worker/worker.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::ranks {
namespace {

using nlohmann::json;
using results::document;

// Returns nothing when the other end has closed.
std::optional<json> next_message(process::channel& from) {
  for (bool closed = false; !closed;)
    if (auto message = from.receive(closed)) return message;
  return std::nullopt;
}

// Pins this process and its workers to the `index`-th of `ranks` equal sets of CPUs: judging uses
// every allowed CPU and must not disturb timing in other ranks.
void pin_to_share(std::size_t index, std::size_t ranks) {
  cpu_set_t all, mine;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  const auto count = static_cast<std::size_t>(CPU_COUNT(&all));
  if (count < ranks) return;
  CPU_ZERO(&mine);
  for (std::size_t cpu = 0, seen = 0; seen < count; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    if (seen++ * ranks / count == index) CPU_SET(cpu, &mine);
  }
  sched_setaffinity(0, sizeof mine, &mine);
}

class reporter final : public run::observer {
 public:
  reporter(process::channel& to, const results::experiment& e) : to_(to), experiment_(e) {}

  void takes(const run::share& s) {
    is_divided_ = s.count > 1;
    mine_.emplace();
    end_ = 0;
    theirs_.clear();
    others_.clear();
    relations_.clear();
  }
  void judged(const results::cell& c, const run::judged_result& r,
              const run::expected_on_demand& expected) override {
    if (!is_divided_) return;
    if (experiment_.is_baseline(c.kernel.plugin, c.kernel.variant)) {
      // Every rank of the problem has a result of it.
      to_.send({{"op", "baseline"},
                {"kernel", c.kernel.name()},
                {"digest", r.digest},
                {"right", r.right}});
      return;
    }
    exchange(c.kernel.name(), r);
    results::cell& mine = relations_[c.kernel.name()];
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const json& other = others_[i];
      const kzoo_precision declared = other.at("declared");
      if (r.right && other.at("right") && other.at("digest") == r.digest &&
          declared == r.declared) {
        mine.same_as = i;
        mine.differences.clear();  // the other rank has compared it
        return;
      }
      mine.differences.push_back(
          {i, reference::compare(*expected(), read(other), declared, r.result, r.declared)});
    }
  }
  void starts(const problem&, const std::string& kernel) override {
    to_.send({{"op", "starts"}, {"kernel", kernel}});
  }
  void times(const problem&, const std::string& kernel, int round) override {
    to_.send({{"op", "times"}, {"kernel", kernel}, {"round", round}});
  }
  void finished(const document& d, std::span<const results::cell> so_far) override {
    to_.send({{"op", "cell"}, {"line", storage::journal_line(d, with_others(so_far))}});
  }
  using observer::finished;

 private:
  // Tells the other ranks of a result, and adds theirs to others_.
  void exchange(const std::string& kernel, const run::judged_result& r) {
    const std::size_t begin = std::exchange(end_, end_ + r.result.elements.size());
    mine_->reserve(end_);
    std::ranges::copy(r.result.elements, mine_->view(end_).subspan(begin).begin());
    to_.send({{"op", "judged"},
              {"kernel", kernel},
              {"digest", r.digest},
              {"declared", r.declared},
              {"right", r.right},
              {"begin", begin},
              {"end", end_},
              {"process", getpid()},
              {"fd", mine_->fd()}});
    const auto reply = next_message(to_);
    if (!reply) throw std::runtime_error("the run has ended");
    for (const json& each : reply->at("results")) others_.push_back(each);
  }

  reference::result read(const json& other) {
    auto& file = theirs_[other.at("fd").get<int>()];
    if (!file) file = std::make_unique<process::shared_memory>(open_results(other));
    const auto bytes = file->view(other.at("end")).subspan(other.at("begin"));
    return {{bytes.begin(), bytes.end()}};
  }

  // The names of the cells before the last, those of other ranks, and the last with its relations
  // to all of them.
  std::vector<results::cell> with_others(std::span<const results::cell> so_far) const {
    std::vector<results::cell> all;
    for (const results::cell& c : so_far.first(so_far.size() - 1))
      all.emplace_back().kernel = c.kernel;
    const std::size_t before = all.size();
    for (const json& other : others_) all.emplace_back().kernel.plugin = other.at("kernel");
    results::cell& last = all.emplace_back(so_far.back());
    const auto mine = relations_.find(last.kernel.name());
    if (mine == relations_.end()) return all;
    if (mine->second.same_as) last.same_as = before + *mine->second.same_as;
    for (const results::difference& d : mine->second.differences)
      last.differences.push_back({before + d.from, d.by});
    return all;
  }

  process::channel& to_;
  const results::experiment& experiment_;
  bool is_divided_ = false;
  std::optional<process::shared_memory> mine_;                     // the results of the share
  std::size_t end_ = 0;                                            // of them in the file
  std::map<int, std::unique_ptr<process::shared_memory>> theirs_;  // by the run's descriptor
  std::vector<json> others_;                                       // messages on their results
  std::map<std::string, results::cell> relations_;  // to others_, by kernel; nothing else is set
};

// Asks for a share; puts its finished cells into `known`.
std::optional<run::share> ask(process::channel& control, run::resumed_cells& known) {
  control.send({{"op", "next"}});
  std::vector<json> lines;
  while (const auto message = next_message(control)) {
    if (message->at("op") == "known") {
      lines.push_back(message->at("line"));
      continue;
    }
    const run::share s{message->at("problem"), message->at("index"), message->at("count")};
    std::vector<results::cell>& finished = known[s.problem];
    for (const json& line : lines)
      finished.push_back(storage::read_line(line, s.problem, finished, kFromRank));
    return s;
  }
  return std::nullopt;
}

void run_rank(process::channel& control, const plan_factory& make_plan) {
  const auto task = next_message(control);
  if (!task) return;
  const auto ranks = task->at("parts").get<std::size_t>();
  setenv(worker::kRanksVariable, std::to_string(ranks).c_str(), 1);
  pin_to_share(task->at("index").get<std::size_t>(), ranks);
  document head = storage::read_head(task->at("document"), "the task of a rank");
  run::plan plan = make_plan(head, task->at("device").get<std::string>());
  if (plan.cells() != head.planned) {
    throw std::runtime_error(
        "the plugins changed after the run was planned: they have other variants now");
  }
  plan.experiment.verify.show_errors = task->at("show_errors").get<bool>();
  head.experiment = plan.experiment;  // includes the problems, which a head does not hold
  plan.expected_results =
      std::make_unique<checks::expected_results>(task->at("key").get<std::uint64_t>());
  reporter watch(control, plan.experiment);
  run::resumed_cells known;
  run::execute(plan, std::move(head), known, watch, [&] {
    const auto next = ask(control, known);
    if (next) watch.takes(*next);
    return next;
  });
}

}  // namespace

int rank_main(const plan_factory& make_plan) try {
  process::follow_parent();
  fcntl(process::kControlFd, F_SETFD, FD_CLOEXEC);
  process::channel control(process::kControlFd);
  run_rank(control, make_plan);
  return 0;
} catch (const std::exception& e) {
  print_to(stderr, "error: {}\n", e.what());
  return 1;
}

}  // namespace kzoo::ranks

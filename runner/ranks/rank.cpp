#include "ranks/rank.hpp"

#include "os/output.hpp"
#include "process/child.hpp"
#include "process/messages.hpp"
#include "run/execution.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

namespace kzoo::ranks {
namespace {

using nlohmann::json;
using results::document;

// Nothing when the other end has closed.
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
  explicit reporter(process::channel& to) : to_(to) {}

  void starts(const problem&, const std::string& kernel) override {
    to_.send({{"op", "starts"}, {"kernel", kernel}});
  }
  void times(const problem&, const std::string& kernel, int round) override {
    to_.send({{"op", "times"}, {"kernel", kernel}, {"round", round}});
  }
  void finished(const document& d, std::span<const results::cell> so_far) override {
    to_.send({{"op", "cell"}, {"line", storage::journal_line(d, so_far)}});
  }
  using observer::finished;

 private:
  process::channel& to_;
};

// Asks for a problem; puts its finished cells into `known`.
std::optional<std::size_t> ask(process::channel& control, run::resumed_cells& known) {
  control.send({{"op", "next"}});
  std::vector<json> lines;
  while (const auto message = next_message(control)) {
    if (message->at("op") == "known") {
      lines.push_back(message->at("line"));
      continue;
    }
    const auto problem = message->at("index").get<std::size_t>();
    for (const json& line : lines) add_line(known[problem], line, problem);
    return problem;
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
  reporter watch(control);
  run::resumed_cells known;
  run::execute(plan, std::move(head), known, watch, [&] { return ask(control, known); });
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

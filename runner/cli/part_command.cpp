#include "cli/setup.hpp"
#include "parts/messages.hpp"
#include "results/journal.hpp"
#include "run/earlier.hpp"
#include "run/execute.hpp"
#include "workers/channel.hpp"
#include "workers/worker.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

namespace kzoo::cli {
namespace {

using nlohmann::json;
using results::document;

// Nothing when the other end is gone.
std::optional<json> next_message(workers::channel& from) {
  for (bool closed = false; !closed;) {
    if (auto message = from.receive(closed)) return message;
  }
  return std::nullopt;
}

// Keeps this process and its workers to the `index`-th of `parts` shares of the processors: while
// one part judges, which takes all that there are, the others time kernels.
void keep_to_share(std::size_t index, std::size_t parts) {
  cpu_set_t all, mine;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  const auto count = static_cast<std::size_t>(CPU_COUNT(&all));
  if (count < parts) return;
  CPU_ZERO(&mine);
  for (std::size_t cpu = 0, seen = 0; seen < count; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    if (seen++ * parts / count == index) CPU_SET(cpu, &mine);
  }
  sched_setaffinity(0, sizeof mine, &mine);
}

class reporter final : public run::observer {
 public:
  explicit reporter(workers::channel& to) : to_(to) {}

  void starts(const problem&, const std::string& kernel) override {
    to_.send({{"op", "starts"}, {"kernel", kernel}});
  }
  void times(const problem&, const std::string& kernel, int round) override {
    to_.send({{"op", "times"}, {"kernel", kernel}, {"round", round}});
  }
  void finished(const document& d, const results::cell& c,
                std::span<const results::agreement> with_others) override {
    to_.send({{"op", "cell"}, {"line", results::journal_line(d, c, with_others)}});
  }
  using observer::finished;

 private:
  workers::channel& to_;
};

// Asks for a problem; `before` gets what is known of it.
std::optional<std::size_t> ask(workers::channel& control, document known, run::earlier& before) {
  control.send({{"op", "next"}});
  std::vector<json> lines;
  while (const auto message = next_message(control)) {
    if (message->at("op") == "known") {
      lines.push_back(message->at("line"));
      continue;
    }
    const auto problem = message->at("index").get<std::size_t>();
    for (const json& line : lines) {
      parts::finished_cell read = parts::read_line(line, problem);
      known.cells.push_back(std::move(read.cell));
      known.agreements.insert(known.agreements.end(), read.agreements.begin(),
                              read.agreements.end());
    }
    before = run::earlier(known);
    return problem;
  }
  return std::nullopt;
}

// The head's experiment, on the device of this part.
run::plan plan_for(const document& head, const json& task) {
  const auto& told = head.experiment;
  experiment::experiment e = experiment::load_text(told.file, told.text, told.overridden);
  e.verify.show_errors = task.at("show_errors").get<bool>();
  common_options options;
  options.plugin_folders = head.invoked.plugin_folders;
  const double timeout = e.verify.timeout_seconds;
  run::plan plan = run::make_plan(std::move(e), devices::find(task.at("device").get<std::string>()),
                                  open_catalogue(options), hosts_for(options, timeout));
  if (plan.cells() != head.planned) {
    throw std::runtime_error("the plugins have other variants than a moment ago");
  }
  return plan;
}

void carry_out(workers::channel& control) {
  const auto task = next_message(control);
  if (!task) return;
  const auto parts = task->at("parts").get<std::size_t>();
  setenv(workers::kPartsVariable, std::to_string(parts).c_str(), 1);
  keep_to_share(task->at("index").get<std::size_t>(), parts);
  const nlohmann::ordered_json said = task->at("document");
  document head = results::from_json(said, "the task of a part");
  run::plan plan = plan_for(head, *task);
  head.experiment = plan.experiment;  // with its problems, which a head does not say
  reporter watch(control);
  run::earlier before;
  run::execute(plan, head, before, watch, [&] { return ask(control, head, before); });
}

}  // namespace

int part() try {
  // Whatever happens to the run, no part of it outlives it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fcntl(workers::kControlFd, F_SETFD, FD_CLOEXEC);
  workers::channel control(workers::kControlFd);
  carry_out(control);
  return kOk;
} catch (const std::exception& e) {
  fmt::print(stderr, "error: {}\n", e.what());
  return kSomeCellFailed;
}

}  // namespace kzoo::cli

#include "ranks/dispatch.hpp"

#include "os/output.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "process/child.hpp"
#include "process/messages.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"
#include "worker/worker.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kzoo::ranks {
namespace {

using nlohmann::json;
using results::document;

// Adds the cell of a line to the problem's finished cells.
void add_line(std::vector<results::cell>& finished, const json& line, std::size_t problem) {
  finished.push_back(storage::read_line(line, problem, finished, "a message from a rank"));
}

struct rank {
  std::string device;
  process::output_log log{};
  process::child process{{std::string(kRankCommand)}, log, nullptr};
  std::optional<std::size_t> problem{};  // the problem that it is running
};

std::string how_it_ended(const std::optional<int>& status) {
  if (!status) return "closed its channel";
  if (WIFSIGNALED(*status))
    return fmt::format("was killed by SIG{}", sigabbrev_np(WTERMSIG(*status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(*status));
}

class dispatching {
 public:
  dispatching(run::plan& p, document head, run::observer& watch)
      : plan_(p),
        problems_(p.experiment.problems),
        document_(std::move(head)),
        watch_(watch),
        seconds_before_(document_.wall_seconds),
        cells_(problems_.size()),
        done_(problems_.size()) {
    for (run::loaded_plugin& c : plan_.plugins) c.client.reset();
    watch_.begins(document_);
    for (results::cell& c : std::exchange(document_.cells, {})) take_over(std::move(c));
    const std::size_t cells_each = plan_.cells() / problems_.size();
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      done_[i] = cells_[i].size() == cells_each;
      if (!done_[i]) waiting_.push_back(i);
    }
    std::ranges::stable_sort(waiting_, {}, [&](std::size_t i) { return problems_[i].flops(); });
  }

  document run() {
    try {
      start_ranks();
      report_finished();
      while (!waiting_.empty() || std::ranges::any_of(ranks_, &is_busy)) {
        if (ranks_.empty()) break;
        handle_messages();
      }
    } catch (const interrupt::interrupted&) {
    }
    ranks_.clear();
    for (; reported_ < problems_.size(); ++reported_)
      if (!cells_[reported_].empty()) report(reported_);
    return std::move(document_);
  }

 private:
  static bool is_busy(const std::unique_ptr<rank>& r) { return r->problem.has_value(); }

  // Adds a cell that the interrupted run finished.
  void take_over(results::cell c) {
    watch_.taken_over(document_, c);
    cells_[c.problem].push_back(std::move(c));
  }

  void start_ranks() {
    const json head_json = storage::head_json(document_);
    const std::size_t count = std::min(plan_.devices.size(), waiting_.size());
    for (std::size_t i = 0; i < count; ++i) {
      ranks_.push_back(std::unique_ptr<rank>(new rank{plan_.devices[i].id}));
      ranks_.back()->process.control().send({{"op", "task"},
                                             {"document", head_json},
                                             {"device", ranks_.back()->device},
                                             {"index", i},
                                             {"parts", count},
                                             {"show_errors", plan_.experiment.verify.show_errors}});
    }
  }

  // Waits for a message from any rank, then handles all that have arrived. Throws after a signal.
  void handle_messages() {
    std::vector<pollfd> watched;
    for (const auto& r : ranks_) watched.push_back({r->process.control().fd(), POLLIN, 0});
    watched.push_back({interrupt::fd(), POLLIN, 0});
    constexpr int kWatchMs = 1000;  // a stopped rank sends nothing
    if (poll(watched.data(), watched.size(), kWatchMs) < 0) {
      if (errno != EINTR) throw_errno("poll");
      return;
    }
    for (std::size_t i = ranks_.size(); i-- > 0;) {
      const bool ended = watched[i].revents != 0 && !receive(*ranks_[i]);
      if (ended || ranks_[i]->process.is_stopped()) drop_device(i);
    }
    interrupt::check();
  }

  // Handles the messages that have arrived. Returns false if the rank has ended.
  bool receive(rank& r) {
    process::channel& control = r.process.control();
    do {
      bool closed = false;
      const auto message = control.receive(closed);
      if (closed) return false;
      if (message) handle(r, *message);
    } while (control.has_message());
    return true;
  }

  void handle(rank& r, const json& message) {
    const auto op = message.at("op").get<std::string>();
    if (op == "next") {
      if (r.problem) finish(*std::exchange(r.problem, {}));
      return assign_problem(r);
    }
    const problem& at = problems_[r.problem.value()];
    if (op == "cell") return add(*r.problem, message.at("line"));
    const auto kernel = message.at("kernel").get<std::string>();
    if (op == "times") return watch_.times(at, kernel, message.at("round").get<int>());
    watch_.starts(at, kernel);
  }

  void assign_problem(rank& r) {
    if (waiting_.empty()) return;
    r.problem = waiting_.back();
    waiting_.pop_back();
    process::channel& to = r.process.control();
    const std::span<const results::cell> known = cells_[*r.problem];
    for (std::size_t count = 1; count <= known.size(); ++count)
      to.send({{"op", "known"}, {"line", storage::journal_line(document_, known.first(count))}});
    to.send({{"op", "problem"}, {"index", *r.problem}});
  }

  void add(std::size_t problem, const json& line) {
    document_.wall_seconds = seconds_before_ + steady_seconds() - start_;
    add_line(cells_[problem], line, problem);
    watch_.finished(document_, cells_[problem]);
  }

  void finish(std::size_t problem) {
    done_[problem] = true;
    report_finished();
  }

  void report_finished() {
    for (; reported_ < problems_.size() && done_[reported_]; ++reported_) report(reported_);
  }

  void report(std::size_t problem) {
    std::vector<results::cell> cells = std::exchange(cells_[problem], {});
    document_.cells.insert(document_.cells.end(), std::move_iterator(cells.begin()),
                           std::move_iterator(cells.end()));
    watch_.finished(document_, problem);
  }

  void drop_device(std::size_t index) {
    rank& r = *ranks_[index];
    // The channel closes shortly before the process can be waited for.
    constexpr double kMomentSeconds = 1.0;
    const bool stopped = r.process.is_stopped();
    if (!stopped) r.process.wait_for_end(kMomentSeconds);
    const std::optional<int> status = r.process.end();
    std::string why =
        fmt::format("{} is lost: its process {}{}", r.device,
                    stopped ? "was stopped by a signal" : how_it_ended(status), r.log.last_line());
    if (r.problem) why += fmt::format("; {} is not finished", problem_name(problems_[*r.problem]));
    const auto problem = r.problem;
    ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(index));
    if (ranks_.empty() && !waiting_.empty())
      why += "; no device is left for " + counted(waiting_.size(), "more problem");
    watch_.loses_device(why);
    if (problem) finish(*problem);
  }

  run::plan& plan_;
  const std::vector<problem>& problems_;
  document document_;
  run::observer& watch_;
  double seconds_before_;
  double start_ = steady_seconds();
  std::vector<std::vector<results::cell>> cells_;  // by problem: not in the document yet
  std::vector<bool> done_;                         // by problem: finished, or lost with its device
  std::vector<std::size_t> waiting_;               // problems without a device, the largest last
  std::size_t reported_ = 0;                       // problems reported to the observer
  std::vector<std::unique_ptr<rank>> ranks_;
};

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

document dispatch(run::plan& p, document head, run::observer& watch) {
  return dispatching(p, std::move(head), watch).run();
}

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

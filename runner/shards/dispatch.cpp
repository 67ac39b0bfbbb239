#include "shards/dispatch.hpp"

#include "os/interrupt.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "process/child.hpp"
#include "shards/messages.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kzoo::shards {
namespace {

using nlohmann::json;
using results::document;

struct shard {
  std::string device;
  process::output_log log{};
  process::child process{{std::string(kShardCommand)}, log};
  std::optional<std::size_t> problem{};  // that it is running
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
      start_shards();
      report_finished();
      while (!waiting_.empty() || std::ranges::any_of(shards_, &is_busy)) {
        if (shards_.empty()) break;
        handle_messages();
      }
    } catch (const interrupt::interrupted&) {
      // Finished cells are kept.
    }
    shards_.clear();
    for (; reported_ < problems_.size(); ++reported_)
      if (!cells_[reported_].empty()) report(reported_);
    return std::move(document_);
  }

 private:
  static bool is_busy(const std::unique_ptr<shard>& s) { return s->problem.has_value(); }

  // A cell that the interrupted run has finished.
  void take_over(results::cell c) {
    watch_.taken_over(document_, c);
    cells_[c.problem].push_back(std::move(c));
  }

  void start_shards() {
    const json head_json = storage::head_json(document_);
    const std::size_t count = std::min(plan_.devices.size(), waiting_.size());
    for (std::size_t i = 0; i < count; ++i) {
      shards_.push_back(std::unique_ptr<shard>(new shard{plan_.devices[i].id}));
      shards_.back()->process.control().send(
          {{"op", "task"},
           {"document", head_json},
           {"device", shards_.back()->device},
           {"index", i},
           {"parts", count},
           {"show_errors", plan_.experiment.verify.show_errors}});
    }
  }

  // Handles the messages that have arrived from any shard, after a wait for the first. Throws when
  // a signal arrives.
  void handle_messages() {
    std::vector<pollfd> watched;
    for (const auto& s : shards_) watched.push_back({s->process.control().fd(), POLLIN, 0});
    watched.push_back({interrupt::fd(), POLLIN, 0});
    constexpr int kWatchMs = 1000;  // a shard that is stopped sends nothing
    if (poll(watched.data(), watched.size(), kWatchMs) < 0) {
      if (errno != EINTR) throw_errno("poll");
      return;
    }
    for (std::size_t i = shards_.size(); i-- > 0;) {
      const bool ended = watched[i].revents != 0 && !receive(*shards_[i]);
      if (ended || shards_[i]->process.is_stopped()) drop_device(i);
    }
    interrupt::check();
  }

  // Handles the messages that have arrived. Returns false if the shard has ended.
  bool receive(shard& s) {
    process::channel& control = s.process.control();
    do {
      bool closed = false;
      const auto message = control.receive(closed);
      if (closed) return false;
      if (message) handle(s, *message);
    } while (control.has_message());
    return true;
  }

  void handle(shard& s, const json& message) {
    const auto op = message.at("op").get<std::string>();
    if (op == "next") {
      if (s.problem) finish(*std::exchange(s.problem, {}));
      return assign_problem(s);
    }
    const problem& at = problems_[s.problem.value()];
    if (op == "cell") return add(*s.problem, message.at("line"));
    const auto kernel = message.at("kernel").get<std::string>();
    if (op == "times") return watch_.times(at, kernel, message.at("round").get<int>());
    watch_.starts(at, kernel);
  }

  void assign_problem(shard& s) {
    if (waiting_.empty()) return;
    s.problem = waiting_.back();
    waiting_.pop_back();
    process::channel& to = s.process.control();
    const std::span<const results::cell> known = cells_[*s.problem];
    for (std::size_t count = 1; count <= known.size(); ++count)
      to.send({{"op", "known"}, {"line", storage::journal_line(document_, known.first(count))}});
    to.send({{"op", "problem"}, {"index", *s.problem}});
  }

  void add(std::size_t problem, const json& line) {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - start_;
    document_.wall_seconds = seconds_before_ + now.count();
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
    shard& s = *shards_[index];
    // The channel closes shortly before the process can be waited for.
    constexpr double kMomentSeconds = 1.0;
    const bool stopped = s.process.is_stopped();
    if (!stopped) s.process.wait_for_end(kMomentSeconds);
    const std::optional<int> status = s.process.end();
    std::string why =
        fmt::format("{} is lost: its process {}{}", s.device,
                    stopped ? "was stopped by a signal" : how_it_ended(status), s.log.last_line());
    if (s.problem) why += fmt::format("; {} is not finished", problem_name(problems_[*s.problem]));
    const auto problem = s.problem;
    shards_.erase(shards_.begin() + static_cast<std::ptrdiff_t>(index));
    if (shards_.empty() && !waiting_.empty())
      why += "; no device is left for " + counted(waiting_.size(), "more problem");
    watch_.loses_device(why);
    if (problem) finish(*problem);
  }

  run::plan& plan_;
  const std::vector<problem>& problems_;
  document document_;
  run::observer& watch_;
  double seconds_before_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::vector<results::cell>> cells_;  // by problem: not in the document yet
  std::vector<bool> done_;                         // by problem: finished, or lost with its device
  std::vector<std::size_t> waiting_;               // problems without a device, the largest last
  std::size_t reported_ = 0;                       // problems reported to the observer
  std::vector<std::unique_ptr<shard>> shards_;
};

}  // namespace

document dispatch(run::plan& p, document head, run::observer& watch) {
  return dispatching(p, std::move(head), watch).run();
}

}  // namespace kzoo::shards

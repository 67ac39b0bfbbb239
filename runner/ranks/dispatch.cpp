#include "ranks/dispatch.hpp"

#include "checks/result_judge.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "process/child.hpp"
#include "process/messages.hpp"
#include "ranks/schedule.hpp"
#include "reference/expected_result.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace kzoo::ranks {
namespace {

using nlohmann::json;
using results::document;

struct rank {
  std::string device;
  process::output_log log{};
  process::child process{{std::string(kRankCommand)}, log, nullptr};
  std::optional<run::share> at{};  // the share that it is running
  std::size_t told = 0;            // results of its problem that it has been told of
};

// A result of a divided problem, for the other ranks: the message that tells of it.
struct shared_result {
  std::size_t share;
  json message;
};

// A problem whose cells are not in the document yet.
struct open_problem {
  std::vector<results::cell> cells{};  // in the plan's order
  std::size_t shares = 0;              // that are not finished, or lost with their device
  // If it is divided:
  std::multimap<std::size_t, results::cell> came{};  // by position; the baseline's from each share
  // Results of baselines, by kernel: digests, and whether they are right.
  std::map<std::string, std::set<std::pair<std::uint64_t, bool>>> baselines{};
  std::vector<shared_result> shared{};
  std::map<std::size_t, descriptor> files{};  // with the results, by share
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
        open_(problems_.size()) {
    for (run::loaded_plugin& c : plan_.plugins) c.client.reset();
    watch_.begins(document_);
    for (results::cell& c : std::exchange(document_.cells, {})) take_over(std::move(c));
    for (const run::loaded_plugin& plugin : plan_.plugins) {
      for (const run::selected_variant& v : plugin.variants)
        kernels_.emplace_back().kernel = {plugin.record.name, v.description.id};
    }
    const auto baselines = static_cast<std::size_t>(std::ranges::count_if(
        kernels_, [&](const kernel_id& k) { return p.experiment.is_baseline(k.plugin, k.variant); },
        &results::cell::kernel));
    std::vector<job> jobs;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const std::size_t known = open_[i].cells.size();
      if (known < kernels_.size())
        jobs.push_back({i, problems_[i].flops(), known > 0 ? 0 : baselines,
                        kernels_.size() - (known > 0 ? known : baselines)});
    }
    if (jobs.empty()) return;
    waiting_ = schedule(jobs, plan_.devices.size());
    for (const run::share& s : waiting_) open_[s.problem].shares = s.count;
    std::ranges::reverse(waiting_);
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
    // Closing a GPU takes a while, so all begin at once.
    for (const auto& r : ranks_) r->process.kill();
    ranks_.clear();
    for (; reported_ < problems_.size(); ++reported_) {
      settle(reported_);
      if (!open_[reported_].cells.empty()) report(reported_);
    }
    return std::move(document_);
  }

 private:
  static bool is_busy(const std::unique_ptr<rank>& r) { return r->at.has_value(); }

  // Adds a cell that the interrupted run finished.
  void take_over(results::cell c) {
    watch_.taken_over(document_, c);
    open_[c.problem].cells.push_back(std::move(c));
  }

  void start_ranks() {
    const json head_json = storage::head_json(document_);
    const std::uint64_t key = checks::expected_results().key();
    const std::size_t count = std::min(plan_.devices.size(), waiting_.size());
    for (std::size_t i = 0; i < count; ++i) {
      ranks_.push_back(std::unique_ptr<rank>(new rank{plan_.devices[i].id}));
      ranks_.back()->process.control().send({{"op", "task"},
                                             {"document", head_json},
                                             {"device", ranks_.back()->device},
                                             {"index", i},
                                             {"parts", count},
                                             {"key", key},
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
      if (r.at) finish(std::exchange(r.at, {})->problem);
      return assign_share(r);
    }
    const problem& at = problems_[r.at.value().problem];
    if (op == "cell") return add(*r.at, message.at("line"));
    if (op == "judged") return share_result(r, message);
    const auto kernel = message.at("kernel").get<std::string>();
    if (op == "baseline") {
      open_[r.at->problem].baselines[kernel].emplace(message.at("digest"), message.at("right"));
      return;
    }
    if (op == "times") return watch_.times(at, kernel, message.at("round").get<int>());
    watch_.starts(at, kernel);
  }

  void assign_share(rank& r) {
    if (waiting_.empty()) return;
    r.at = waiting_.back();
    r.told = 0;
    waiting_.pop_back();
    process::channel& to = r.process.control();
    const std::span<const results::cell> known = open_[r.at->problem].cells;
    for (std::size_t count = 1; count <= known.size(); ++count)
      to.send({{"op", "known"}, {"line", storage::journal_line(document_, known.first(count))}});
    to.send({{"op", "share"},
             {"problem", r.at->problem},
             {"index", r.at->index},
             {"count", r.at->count}});
  }

  // Keeps a rank's result for the other ranks, and tells it theirs.
  void share_result(rank& r, json message) {
    std::vector<shared_result>& shared = open_[r.at->problem].shared;
    descriptor& file = open_[r.at->problem].files[r.at->index];
    if (file.fd() < 0) file = descriptor(open_results(message));
    if (file.fd() < 0) return;
    json others = json::array();
    for (; r.told < shared.size(); ++r.told)
      if (shared[r.told].share != r.at->index) others.push_back(shared[r.told].message);
    message["process"] = getpid();
    message["fd"] = file.fd();
    shared.push_back({r.at->index, std::move(message)});
    r.process.control().send({{"op", "others"}, {"results", others}});
  }

  void add(const run::share& s, const json& line) {
    open_problem& at = open_[s.problem];
    results::cell c = storage::read_line(line, s.problem, kernels_, kFromRank);
    if (s.count == 1) return append(at, std::move(c));
    const auto found = std::ranges::find(kernels_, c.kernel, &results::cell::kernel);
    at.came.emplace(static_cast<std::size_t>(found - kernels_.begin()), std::move(c));
  }

  void append(open_problem& to, results::cell c) {
    document_.wall_seconds = seconds_before_ + steady_seconds() - start_;
    to.cells.push_back(std::move(c));
    watch_.finished(document_, to.cells);
  }

  // Appends the cells of a divided problem, up to the first that is missing, and names its classes
  // of equal results by their first cells.
  void settle(std::size_t problem) {
    open_problem& at = open_[problem];
    std::vector<std::size_t> classes(kernels_.size());
    std::iota(classes.begin(), classes.end(), std::size_t{0});
    // What equals a baseline's result on one device may differ from its result on another. It has
    // not been compared with kernels of other devices.
    const auto varies = [&](std::size_t position) {
      const auto seen = at.baselines.find(kernels_[position].kernel.name());
      return seen != at.baselines.end() && seen->second.size() > 1;
    };
    for (const auto& [position, c] : at.came) {
      if (!c.same_as || varies(*c.same_as) || varies(position)) continue;
      const std::size_t one = classes[position], other = classes[*c.same_as];
      std::ranges::replace(classes, one, other);
    }
    std::map<std::pair<std::size_t, std::size_t>, reference::comparison> known;
    for (const auto& [position, c] : at.came) {
      for (const results::difference& d : c.differences) {
        known.emplace(std::pair{classes[position], classes[d.from]}, d.by);
        known.emplace(std::pair{classes[d.from], classes[position]}, d.by);
      }
    }
    std::vector<std::size_t> firsts;  // of each class
    for (auto next = at.came.begin(); next != at.came.end() && next->first == at.cells.size();) {
      const auto end = at.came.upper_bound(next->first);
      const std::size_t position = next->first;
      // A baseline fails if it fails on any device.
      auto chosen =
          std::find_if(next, end, [](const auto& each) { return is_failure(each.second.verdict); });
      results::cell c = std::move((chosen == end ? next : chosen)->second);
      next = end;
      const auto first =
          std::ranges::find(firsts, classes[position], [&](std::size_t i) { return classes[i]; });
      c.same_as = first == firsts.end() ? std::nullopt : std::optional(*first);
      c.differences.clear();
      if (first == firsts.end()) {
        for (const std::size_t i : firsts) {
          const auto by = known.find({classes[position], classes[i]});
          if (by != known.end()) c.differences.push_back({i, by->second});
        }
        firsts.push_back(position);
      }
      append(at, std::move(c));
    }
    at.came.clear();
    at.baselines.clear();
    at.shared.clear();
    at.files.clear();
  }

  // A share is finished, or lost.
  void finish(std::size_t problem) {
    if (--open_[problem].shares > 0) return;
    settle(problem);
    report_finished();
  }

  void report_finished() {
    for (; reported_ < problems_.size() && open_[reported_].shares == 0; ++reported_)
      report(reported_);
  }

  void report(std::size_t problem) {
    std::vector<results::cell> cells = std::exchange(open_[problem].cells, {});
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
    if (r.at) why += fmt::format("; {} is not finished", problem_name(problems_[r.at->problem]));
    const auto lost = r.at;
    ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(index));
    std::set<std::size_t> left;
    for (const run::share& s : waiting_)
      if (!lost || s.problem != lost->problem) left.insert(s.problem);
    if (ranks_.empty() && !left.empty())
      why += "; no device is left for " + counted(left.size(), "more problem");
    watch_.loses_device(why);
    if (lost) finish(lost->problem);
  }

  run::plan& plan_;
  const std::vector<problem>& problems_;
  document document_;
  run::observer& watch_;
  double seconds_before_;
  double start_ = steady_seconds();
  std::vector<results::cell> kernels_;  // of a problem, in the plan's order; nothing else is set
  std::vector<open_problem> open_;      // by problem
  std::vector<run::share> waiting_;     // without a device, the longest last
  std::size_t reported_ = 0;            // problems reported to the observer
  std::vector<std::unique_ptr<rank>> ranks_;
};

}  // namespace

document dispatch(run::plan& p, document head, run::observer& watch) {
  return dispatching(p, std::move(head), watch).run();
}

int open_results(const json& message) {
  const std::string path =
      fmt::format("/proc/{}/fd/{}", message.at("process").get<int>(), message.at("fd").get<int>());
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT) throw_errno("opening the results of another process");
  return fd;
}

}  // namespace kzoo::ranks

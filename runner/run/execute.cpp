#include "run/execute.hpp"

#include "core/interrupt.hpp"
#include "referee/referee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>

namespace kzoo::run {
namespace {

using results::cell;
using results::document;

// What the entry promises for the problem's type; 0 when it has no such type.
kzoo_precision declared_precision(const entry& e, kzoo_type dtype) {
  const auto found = std::ranges::find(e.signatures, dtype, &workers::signature_description::dtype);
  return found == e.signatures.end() ? 0 : found->compute;
}

// A result that was judged, kept for the comparison with the others.
struct kept {
  std::string kernel;
  kzoo_precision declared;
  referee::result result;
};

// One problem, from the first kernel to the agreement of all.
class round {
 public:
  round(plan& p, document& d, std::size_t index, std::map<std::string, std::string>& hung)
      : plan_(p),
        document_(d),
        index_(index),
        problem_(p.experiment.problems[index]),
        hung_(hung) {}

  cell run(contestant& who, const entry& what) {
    cell c;
    c.problem = index_;
    c.plugin = who.record.name;
    c.variant = what.id;
    c.declared = declared_precision(what, problem_.dtype);
    if (!who.host) {
      c.verdict = who.obstacle;
      c.reason = who.record.problem;
      return c;
    }
    // A timeout is long; one per variant is enough to know.
    if (const auto earlier = hung_.find(c.kernel()); earlier != hung_.end()) {
      c.verdict = verdict::hung;
      c.reason = "not tried again: it hung at " + earlier->second;
      return c;
    }
    try {
      who.host->prepare(plan_.device.id, what.index, problem_);
      if (verify(who, c) && plan_.experiment.timing.enabled) measure(who, c);
      who.host->finish();
    } catch (const setback& s) {
      fail(c, s.verdict, s.what());
      if (s.verdict == verdict::hung) hung_[c.kernel()] = problem_name(problem_);
    } catch (const std::exception& e) {
      fail(c, verdict::error, e.what());
    }
    return c;
  }

  // The newest result with all before it. Done after each cell, so that an interruption loses none.
  void compare_newest() {
    for (; compared_ < kept_.size(); ++compared_) {
      const kept& b = kept_[compared_];
      for (std::size_t i = 0; i < compared_; ++i) {
        const kept& a = kept_[i];
        document_.agreements.push_back(
            {index_, a.kernel, b.kernel,
             referee::compare(truth(), a.result, a.declared, b.result, b.declared)});
      }
    }
  }

 private:
  static void fail(cell& c, verdict v, const std::string& reason) {
    c.verdict = v;
    c.reason = reason;
    c.time.reset();
  }

  // Computed when the first result is there to be judged.
  const referee::truth& truth() {
    if (!truth_) truth_.emplace(problem_);
    return *truth_;
  }

  bool verify(contestant& who, cell& c) {
    const workers::run_report ran = who.host->run();
    referee::judgement j = referee::judge(truth(), c.declared, who.host->output());
    check_inputs(ran.changed, j);
    kept_.push_back({c.kernel(), c.declared, referee::keep(truth(), who.host->output())});
    c.launches = ran.launches;
    c.accuracy = j.accuracy;
    c.verdict = j.right ? verdict::pass : verdict::wrong;
    c.reason = j.reason;
    return j.right;
  }

  static void check_inputs(const workers::changes& changed, referee::judgement& j) {
    for (const auto& [matrix, count] : {std::pair{'A', changed.a}, {'B', changed.b}}) {
      if (count == 0 || !j.right) continue;
      j.right = false;
      j.reason =
          fmt::format("the kernel wrote to its input {}: {} elements changed", matrix, count);
    }
  }

  void measure(contestant& who, cell& c) {
    const experiment::timing_options& t = plan_.experiment.timing;
    const workers::sample_report report = who.host->sample(t.warmup, t.samples, t.max_seconds);
    // The time of a result that is wrong is no time.
    referee::judgement j = referee::judge(truth(), c.declared, who.host->output());
    check_inputs(report.changed, j);
    if (!j.right) {
      c.verdict = verdict::wrong;
      c.reason = "right when it ran once, wrong after it was timed: " + j.reason;
      return;
    }
    c.time = timing::summarise(report.samples_ms);
    c.time->cold_cache = report.cold_cache;
    c.time->out_of_time = report.out_of_time;
    c.time->clock = plan_.device.abi.kind == KZOO_CUDA ? timing::clock::gpu
                    : who.record.description->native   ? timing::clock::cpu
                                                       : timing::clock::simulator;
  }

  plan& plan_;
  document& document_;
  std::size_t index_;
  const problem& problem_;
  std::map<std::string, std::string>& hung_;  // kernel -> the problem at which it hung
  std::optional<referee::truth> truth_;
  std::vector<kept> kept_;
  std::size_t compared_ = 0;  // of kept_
};

class execution {
 public:
  execution(plan& p, document head, const earlier& before, observer& watch)
      : plan_(p),
        document_(std::move(head)),
        before_(before),
        watch_(watch),
        seconds_before_(document_.wall_seconds) {}

  document run() {
    watch_.begins(document_);
    for (std::size_t i = 0; i < plan_.experiment.problems.size(); ++i) {
      const bool interrupted = !run_problem(i);
      watch_.finished(document_, i);
      if (interrupted) break;  // what is finished stands
    }
    return std::move(document_);
  }

 private:
  // False when a signal interrupts it.
  bool run_problem(std::size_t index) try {
    round r(plan_, document_, index, hung_);
    for (results::agreement& a : before_.agreements_on(plan_.experiment.problems[index])) {
      a.problem = index;
      document_.agreements.push_back(std::move(a));
    }
    for (contestant& c : plan_.contestants) {
      for (const entry& e : c.entries) run_cell(r, index, c, e);
      if (!c.host) continue;
      try {
        c.host->release();
      } catch (const setback&) {
        // Memory could not be freed: the next prepare() starts a new worker.
      }
    }
    return true;
  } catch (const interrupt::interrupted&) {
    return false;
  }

  void run_cell(round& r, std::size_t index, contestant& c, const entry& e) {
    const problem& p = plan_.experiment.problems[index];
    if (const cell* old = before_.find(p, c.record.name, e.id)) {
      document_.cells.push_back(*old);
      document_.cells.back().problem = index;
      if (old->verdict == verdict::hung) hung_.emplace(old->kernel(), problem_name(p));
      watch_.taken_over(document_, document_.cells.back());
      return;
    }
    interrupt::check();
    watch_.starts(p, e.id.empty() ? c.record.name : c.record.name + ":" + e.id);
    const std::size_t compared = document_.agreements.size();
    document_.cells.push_back(r.run(c, e));
    r.compare_newest();
    count_time();
    watch_.finished(document_, document_.cells.back(),
                    std::span(document_.agreements).subspan(compared));
  }

  void count_time() {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - start_;
    document_.wall_seconds = seconds_before_ + now.count();
  }

  plan& plan_;
  document document_;
  const earlier& before_;
  observer& watch_;
  double seconds_before_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::map<std::string, std::string> hung_;  // kernel -> the problem at which it hung
};

}  // namespace

document execute(plan& p, document head, const earlier& before, observer& watch) {
  return execution(p, std::move(head), before, watch).run();
}

}  // namespace kzoo::run

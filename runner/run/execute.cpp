#include "run/execute.hpp"

#include "core/interrupt.hpp"
#include "referee/referee.hpp"
#include "verify/check.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <utility>

namespace kzoo::run {
namespace {

using results::cell;
using results::document;

// A result that was judged, kept for the comparison with the others.
struct kept {
  std::string kernel;
  kzoo_precision declared;
  referee::result result;
};

// What later problems need to know of earlier ones.
struct memory {
  std::map<std::string, std::string> hung;  // kernel -> the problem at which it hung
  // By kernel and element type: the checks that are not about one problem.
  std::map<std::pair<std::string, kzoo_type>, std::vector<verify::finding>> findings;
  verify::truths truths;
};

// One problem, from the first kernel to the agreement of all.
class round {
 public:
  round(plan& p, document& d, std::size_t index, memory& m)
      : plan_(p), document_(d), index_(index), problem_(p.experiment.problems[index]), memory_(m) {}

  cell run(contestant& who, const entry& what) {
    cell c;
    c.problem = index_;
    c.plugin = who.record.name;
    c.variant = what.description.id;
    c.declared = what.description.declared(problem_.dtype);
    if (!who.host) {
      c.verdict = who.obstacle;
      c.reason = who.record.problem;
      return c;
    }
    // A timeout is long; one per variant is enough to know.
    if (const auto before = memory_.hung.find(c.kernel()); before != memory_.hung.end()) {
      c.verdict = verdict::hung;
      c.reason = "not tried again: it hung at " + before->second;
      return c;
    }
    verify::subject subject(*who.host,
                            {who.record.file, plan_.device.id, what.index, what.description,
                             problem_, plan_.experiment.verify.show_errors},
                            memory_.truths);
    try {
      subject.prepare(problem_);
      const std::uint64_t digest = verify(subject, c);
      const bool checked = c.verdict == verdict::pass && make_checks(subject, c);
      if (checked && c.verdict != verdict::pass) return remember(c);  // nothing is prepared now
      if (checked) subject.prepare(problem_);
      if (c.verdict == verdict::pass && plan_.experiment.timing.enabled) {
        measure(subject, digest, who.record.description->native, c);
      }
      subject.finish();
    } catch (const setback& s) {
      fail(c, s.verdict, s.what());
    } catch (const std::exception& e) {
      fail(c, verdict::error, e.what());
    }
    return remember(c);
  }

  // The newest result with all before it. Done after each cell, so that an interruption loses none.
  void compare_newest() {
    for (; compared_ < kept_.size(); ++compared_) {
      const kept& b = kept_[compared_];
      for (std::size_t i = 0; i < compared_; ++i) {
        const kept& a = kept_[i];
        document_.agreements.push_back({index_, a.kernel, b.kernel,
                                        referee::compare(*memory_.truths.of(problem_), a.result,
                                                         a.declared, b.result, b.declared)});
      }
    }
  }

 private:
  static void fail(cell& c, verdict v, const std::string& reason) {
    c.verdict = v;
    c.reason = reason;
    c.time.reset();
  }

  const cell& remember(const cell& c) {
    if (c.verdict == verdict::hung) memory_.hung[c.kernel()] = problem_name(problem_);
    return c;
  }

  // Gives back the digest of C.
  std::uint64_t verify(verify::subject& subject, cell& c) {
    const verify::judged_run first = subject.run();
    kept_.push_back({c.kernel(), c.declared, subject.kept()});
    c.launches = first.report.launches;
    c.accuracy = first.judgement.accuracy;
    c.verdict = first.judgement.right ? verdict::pass : verdict::wrong;
    c.reason = first.judgement.reason;
    c.errors = first.judgement.errors;
    return first.report.output.digest;
  }

  // Whether there were any; then the subject is as no prepare() had been.
  bool make_checks(verify::subject& subject, cell& c) {
    const tier t = plan_.experiment.verify.tier;
    const std::pair about_type{c.kernel(), problem_.dtype};
    if (!memory_.findings.contains(about_type)) {
      memory_.findings.emplace(about_type, verify::make_checks(t, false, subject));
    }
    c.findings = memory_.findings.at(about_type);
    const auto stop = [&] { return std::ranges::find_if(c.findings, verify::is_bad); };
    if (stop() == c.findings.end()) {
      const auto more = verify::make_checks(t, true, subject);
      c.findings.insert(c.findings.end(), more.begin(), more.end());
    }
    if (const auto bad = stop(); bad != c.findings.end()) {
      fail(c,
           bad->outcome == verify::outcome::crashed ? verdict::crashed
           : bad->outcome == verify::outcome::hung  ? verdict::hung
                                                    : verdict::wrong,
           bad->check + ": " + bad->detail);
      c.errors = bad->errors;
    }
    return !c.findings.empty();
  }

  void measure(verify::subject& subject, std::uint64_t digest, bool native, cell& c) {
    const verify::judged_samples timed = subject.sample(plan_.experiment.timing, digest);
    // The time of a result that is wrong is no time.
    if (!timed.judgement.right) {
      c.verdict = verdict::wrong;
      c.reason = "right when it ran once, wrong when it was timed: " + timed.judgement.reason;
      c.errors = timed.judgement.errors;
      return;
    }
    c.time = timing::summarise(timed.samples_ms);
    c.time->cold_cache = timed.cold_cache;
    c.time->out_of_time = timed.out_of_time;
    c.time->clock = plan_.device.abi.kind == KZOO_CUDA ? timing::clock::gpu
                    : native                           ? timing::clock::cpu
                                                       : timing::clock::simulator;
    refuse_impossible(c);
  }

  // Of a time that nothing can take there is none.
  void refuse_impossible(cell& c) const {
    using experiment::impossible_time;
    const auto floor = document_.floor_of(c);
    if (!floor || plan_.experiment.verify.impossible_time == impossible_time::report) return;
    if (const double ms = c.time->median_ms; roofline::is_below(ms, *floor)) {
      fail(c, verdict::impossible_time, roofline::why_impossible(ms, *floor, c.declared));
    }
  }

  plan& plan_;
  document& document_;
  std::size_t index_;
  const problem& problem_;
  memory& memory_;
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
    round r(plan_, document_, index, memory_);
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
    memory_.truths.forget_large();
    return true;
  } catch (const interrupt::interrupted&) {
    return false;
  }

  void run_cell(round& r, std::size_t index, contestant& c, const entry& e) {
    const problem& p = plan_.experiment.problems[index];
    const std::string& variant = e.description.id;
    if (const cell* old = before_.find(p, c.record.name, variant)) {
      document_.cells.push_back(*old);
      document_.cells.back().problem = index;
      if (old->verdict == verdict::hung) memory_.hung.emplace(old->kernel(), problem_name(p));
      watch_.taken_over(document_, document_.cells.back());
      return;
    }
    interrupt::check();
    watch_.starts(p, variant.empty() ? c.record.name : c.record.name + ":" + variant);
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
  memory memory_;
};

}  // namespace

document execute(plan& p, document head, const earlier& before, observer& watch) {
  return execution(p, std::move(head), before, watch).run();
}

}  // namespace kzoo::run

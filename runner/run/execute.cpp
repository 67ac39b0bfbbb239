#include "run/execute.hpp"

#include "referee/referee.hpp"
#include "verify/check.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
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
  round(plan& p, document& d, std::size_t index, memory& earlier)
      : plan_(p),
        document_(d),
        index_(index),
        problem_(p.experiment.problems[index]),
        earlier_(earlier) {}

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
    if (const auto before = earlier_.hung.find(c.kernel()); before != earlier_.hung.end()) {
      c.verdict = verdict::hung;
      c.reason = "not tried again: it hung at " + before->second;
      return c;
    }
    verify::subject subject(*who.host,
                            {who.record.file, plan_.device.id, what.index, what.description,
                             problem_, plan_.experiment.verify.show_errors},
                            earlier_.truths);
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

  void compare_all() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      for (std::size_t j = i + 1; j < kept_.size(); ++j) {
        const kept &a = kept_[i], &b = kept_[j];
        document_.agreements.push_back({index_, a.kernel, b.kernel,
                                        referee::compare(*earlier_.truths.of(problem_), a.result,
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
    if (c.verdict == verdict::hung) earlier_.hung[c.kernel()] = problem_name(problem_);
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
    const auto [known, is_new] =
        earlier_.findings.try_emplace({c.kernel(), problem_.dtype}, std::vector<verify::finding>{});
    if (is_new) known->second = verify::make_checks(t, false, subject);
    c.findings = known->second;
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
  }

  plan& plan_;
  document& document_;
  std::size_t index_;
  const problem& problem_;
  memory& earlier_;
  std::vector<kept> kept_;
};

std::vector<std::string> notes_on(const plan& p) {
  std::vector<std::string> notes;
  const auto& e = p.experiment;
  if (!e.intended_device.empty() && p.device.name.find(e.intended_device) == std::string::npos) {
    notes.push_back(fmt::format("this experiment is written for {}; the device here is {}",
                                e.intended_device, p.device.name));
  }
  const auto is_baseline = [&](const contestant& c) {
    return c.host && std::ranges::any_of(c.entries, [&](const entry& v) {
             return experiment::matches(e.baseline->text, c.record.name, v.description.id);
           });
  };
  if (e.baseline && std::ranges::none_of(p.contestants, is_baseline)) {
    notes.push_back(fmt::format("no comparison with the baseline {}: it does not take part here",
                                e.baseline->text));
  }
  for (const problem& q : e.problems) {
    const std::int64_t rows = referee::truth::rows_of(q);
    if (rows == q.m) continue;
    notes.push_back(fmt::format(
        "{} is too large to compare every element: {} of {} rows are, and all of C is checked "
        "exactly on whole numbers (Freivalds)",
        problem_name(q), rows, q.m));
  }
  const bool simulated = std::ranges::any_of(p.contestants, [](const contestant& c) {
    return c.record.description && c.record.description->device == KZOO_CPU &&
           !c.record.description->native;
  });
  if (simulated && e.timing.enabled) {
    notes.push_back(
        "times marked `simulator` are how long the simulation took, not what a GPU would take");
  }
  return notes;
}

}  // namespace

document execute(plan& p, observer& watch) {
  const auto start = std::chrono::steady_clock::now();
  document d;
  d.experiment = p.experiment;
  d.device = p.device;
  d.started = fmt::format(
      "{:%FT%TZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  for (const contestant& c : p.contestants) d.plugins.push_back(c.record);
  d.notes = notes_on(p);
  watch.begins(d, p.cells());

  memory earlier;
  for (std::size_t i = 0; i < p.experiment.problems.size(); ++i) {
    round r(p, d, i, earlier);
    for (contestant& c : p.contestants) {
      for (const entry& e : c.entries) {
        const std::string& id = e.description.id;
        watch.starts(p.experiment.problems[i],
                     id.empty() ? c.record.name : c.record.name + ":" + id);
        d.cells.push_back(r.run(c, e));
        watch.finished(d, d.cells.back());
      }
      if (!c.host) continue;
      try {
        c.host->release();
      } catch (const setback&) {
        // Memory could not be freed: the next prepare() starts a new worker.
      }
    }
    r.compare_all();
    earlier.truths.forget_large();
    watch.finished(d, i);
  }
  d.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return d;
}

}  // namespace kzoo::run

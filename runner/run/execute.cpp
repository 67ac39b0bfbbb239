#include "run/execute.hpp"

#include "core/version.hpp"
#include "referee/referee.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

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

  void compare_all() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      for (std::size_t j = i + 1; j < kept_.size(); ++j) {
        const kept &a = kept_[i], &b = kept_[j];
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
             return experiment::matches(e.baseline->text, c.record.name, v.id);
           });
  };
  if (e.baseline && std::ranges::none_of(p.contestants, is_baseline)) {
    notes.push_back(fmt::format("no comparison with the baseline {}: it does not take part here",
                                e.baseline->text));
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
  d.version = kVersion;
  d.started = fmt::format(
      "{:%FT%TZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  for (const contestant& c : p.contestants) d.plugins.push_back(c.record);
  d.notes = notes_on(p);
  watch.begins(d, p.cells());

  std::map<std::string, std::string> hung;
  for (std::size_t i = 0; i < p.experiment.problems.size(); ++i) {
    round r(p, d, i, hung);
    for (contestant& c : p.contestants) {
      for (const entry& e : c.entries) {
        watch.starts(p.experiment.problems[i],
                     e.id.empty() ? c.record.name : c.record.name + ":" + e.id);
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
    watch.finished(d, i);
  }
  d.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return d;
}

}  // namespace kzoo::run

#include "run/judging.hpp"

#include <algorithm>

namespace kzoo::run {
namespace {

using results::cell;

void fail(cell& c, verdict v, const std::string& reason) {
  c.verdict = v;
  c.reason = reason;
}

}  // namespace

cell judging::judge(contestant& who, const entry& what) {
  cell c;
  c.problem = index_;
  c.device = plan_.device.id;
  c.plugin = who.record.name;
  c.variant = what.description.id;
  c.declared = what.description.declared(problem_.dtype);
  if (!who.host) {
    fail(c, who.obstacle, who.record.problem);
    return c;
  }
  // A timeout is long; one per variant is enough to know.
  if (const auto before = memory_.hung.find(c.kernel()); before != memory_.hung.end()) {
    fail(c, verdict::hung, "not tried again: it hung at " + before->second);
    return c;
  }
  verify::subject subject = subject_of(who, what);
  try {
    subject.prepare(problem_);
    verify(subject, c);
    subject.finish();
    if (c.verdict == verdict::pass) make_checks(subject, c);
  } catch (const setback& s) {
    fail(c, s.verdict, s.what());
  } catch (const std::exception& e) {
    fail(c, verdict::error, e.what());
  }
  // What a kernel that fails has left behind, a thread or a spoilt heap, is not the next one's.
  if (is_failure(c.verdict)) who.host->leave();
  return c;
}

std::vector<results::agreement> judging::compare_newest() {
  std::vector<results::agreement> found;
  for (; compared_ < kept_.size(); ++compared_) {
    const kept& b = kept_[compared_];
    for (std::size_t i = 0; i < compared_; ++i) {
      const kept& a = kept_[i];
      found.push_back({index_, a.kernel, b.kernel, difference(*a.of, *b.of)});
    }
  }
  return found;
}

racer judging::racer_for(contestant& who, const entry& what, cell& c) {
  const auto mine = std::ranges::find(kept_, c.kernel(), &kept::kernel);
  const bool native = who.record.description->native;
  const auto& baseline = plan_.experiment.baseline;
  return {&c,
          who.host.get(),
          std::make_unique<verify::subject>(subject_of(who, what)),
          plan_.device.abi.kind == KZOO_CUDA ? timing::clock::gpu
          : native                           ? timing::clock::cpu
                                             : timing::clock::simulator,
          plan_.device.highest_mhz,
          {mine->of->digest},
          baseline && experiment::matches(baseline->text, c.plugin, c.variant)};
}

verify::subject judging::subject_of(contestant& who, const entry& what) {
  return verify::subject(*who.host,
                         {who.record.file, plan_.device.id, what.index, what.description, problem_,
                          plan_.experiment.verify.show_errors, &monitor_},
                         memory_.truths);
}

void judging::verify(verify::subject& subject, cell& c) {
  std::vector<std::uint64_t> right;
  for (const kept& k : kept_)
    if (k.of->right && k.of->declared == c.declared) right.push_back(k.of->digest);
  const verify::judged_run run = subject.run(0, right);
  kept_.push_back({c.kernel(), outcome_of(subject, run, c.declared)});
  c.launches = run.report.launches;
  c.accuracy = kept_.back().of->accuracy;
  c.verdict = run.judgement.right ? verdict::pass : verdict::wrong;
  c.reason = run.judgement.reason;
  c.errors = run.judgement.errors;
}

std::shared_ptr<const judging::outcome> judging::outcome_of(const verify::subject& subject,
                                                            const verify::judged_run& run,
                                                            kzoo_precision declared) {
  const workers::output_report& output = run.report.output;
  if (output.known) {
    const auto same = std::ranges::find_if(kept_, [&](const kept& k) {
      return k.of->right && k.of->declared == declared && k.of->digest == output.digest;
    });
    return same->of;
  }
  return std::make_shared<outcome>(output.digest, declared, run.judgement.right,
                                   run.judgement.accuracy, subject.kept());
}

void judging::make_checks(verify::subject& subject, cell& c) {
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
}

const referee::comparison& judging::difference(const outcome& a, const outcome& b) {
  const auto [known, added] = differences_.try_emplace({&a, &b});
  if (added) {
    known->second =
        referee::compare(*memory_.truths.of(problem_), a.result, a.declared, b.result, b.declared);
  }
  return known->second;
}

}  // namespace kzoo::run

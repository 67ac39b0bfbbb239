#include "report/report.hpp"

#include "os/text.hpp"
#include "reference/places.hpp"
#include "report/agreement.hpp"
#include "report/focus.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

// How the times were measured.
std::string timing_text(const document& d) {
  std::set<std::string> ways;
  for (const cell& c : d.cells) {
    if (!c.time) continue;
    ways.insert(c.time->caches == timing::caches::cold   ? "L2 flushed before each sample"
                : c.time->caches == timing::caches::warm ? "warm caches"
                                                         : "caches as an identical run left them");
  }
  if (ways.empty()) return "no times";
  const auto& timing = d.experiment.timing;
  return fmt::format("times: medians of {} rounds{} in up to {:g} s, {}{}", timing.rounds,
                     timing.fresh_processes ? "" : " or more", timing.max_seconds,
                     fmt::join(ways, " or "),
                     timing.fresh_processes ? ", each turn in a new process" : "");
}

std::string device_text(const document& d) {
  std::string text;
  for (const auto& [name, value] : d.device.facts) add_item(text, with_spaces(name) + ' ' + value);
  return text;
}

std::string peaks_text(const roofline::peaks& c) {
  std::string text;
  for (const auto r : kAllOf<roofline::resource>) {
    const roofline::measured_peak* peak = c.find(r);
    if (peak == nullptr) continue;
    add_item(text, fmt::format("{} {}", name_of(r), rate_text(r, peak->best.rate)));
  }
  return fmt::format("peaks, measured {}: {}", c.measured, text);
}

void add_measured(page& p, const document& d) {
  p.item(fmt::format("measured {}: {}", d.started, device_text(d)));
  p.item(timing_text(d));
  if (d.peaks) p.item(peaks_text(*d.peaks));
}

// The experiment's [pivot]; without one, if there are several sizes, kernel by shape.
std::optional<results::pivot> pivot_of(const document& d) {
  if (d.experiment.pivot_table) return d.experiment.pivot_table;
  std::set<std::string> shapes;
  for (const problem& p : d.experiment.problems) shapes.insert(shape_name(p));
  if (shapes.size() < 2) return std::nullopt;
  return results::pivot{results::pivot_axis::kernel, results::pivot_axis::shape,
                        results::pivot_value::gflops};
}

// " on cuda:1", where the problems ran on several devices; nothing for a divided problem, whose
// table has a column for them.
std::string where(const document& d, std::size_t problem) {
  const auto cells = d.cells_of(problem);
  return d.devices.size() < 2 || cells.empty() || is_divided(cells) ? ""
                                                                    : " on " + cells.front().device;
}

void add_slow_devices(page& p, const document& d) {
  for (const results::slow_device& s : d.slow_devices())
    p.item("slow", style::bad,
           " {}: {} takes {:.1f} % longer there than on the fastest device ({})", s.device,
           d.experiment.baseline->text, 100 * (s.slowdown - 1),
           s.problems == 1 ? "1 problem" : fmt::format("median of {} problems", s.problems));
}

// A note on a kernel, which may have passed.
struct remark {
  std::string_view word;
  std::string text;
};

// The contents of one problem's section, in order.
struct section {
  table times;
  std::size_t folded;  // cells that it leaves out
  std::vector<remark> remarks;
  table end_to_end;
};

// On a terminal, the plugin's name stands for its kernels where that saves a line, except for
// kernels that failed here.
void add_reason(page& p, verdict v, std::string_view before,
                const std::vector<std::string>& kernels, const std::string& after, bool fold) {
  const std::string_view words = name_of(v);
  const std::size_t taken = 2 + width(words) + 1 + width(before) + width(after);
  const std::size_t room =
      !p.is_narrow() || !fold ? kNoLimit : p.view().columns - std::min(p.view().columns, taken);
  p.item(words, style_of(v), " {}{}{}", before, names_of(kernels, room), after);
}

std::vector<remark> remarks(const document& d, std::size_t problem, told_failures& told) {
  std::vector<remark> all;
  for (const cell& c : d.cells_of(problem)) {
    for (const results::finding& f : c.findings) {
      for (const auto& [check, word] : {std::pair{results::kOwnWorker, "suspect"},
                                        {results::kMemory, "leak"},
                                        {results::kLimits, "limits"},
                                        {results::kWorkerEnded, "worker"},
                                        {results::kRunner, "hinders"},
                                        {results::kLibrary, "library"},
                                        {results::kSlowChecks, "slow"},
                                        {results::kSkippedChecks, "skipped"}}) {
        if (f.check == check && told.is_new(c, f))
          all.push_back({word, fmt::format(" {}: {}", c.kernel.name(), f.detail)});
      }
    }
  }
  return all;
}

// The cells for which samples were discarded because the device was throttled.
void add_throttled(std::vector<remark>& all, const document& d, std::size_t problem) {
  for (const cell& c : d.cells_of(problem)) {
    if (!c.time || (c.time->throttled == 0 && !c.time->low_clock)) continue;
    std::string text = counted(c.time->throttled, "sample") + " discarded";
    if (c.time->low_clock) text += ", the others kept although the clock did not recover";
    if (const auto& reasons = c.conditions.clock_reasons; !reasons.empty())
      text += fmt::format(" ({})", fmt::join(reasons, ", "));
    all.push_back({"throttled", fmt::format(" {}: {}", c.kernel.name(), text)});
  }
}

void add_section(page& p, const document& d, std::size_t problem, const section& what,
                 const std::vector<reason>& why) {
  if (what.times.rows() == 0 && what.remarks.empty() && what.end_to_end.rows() == 0 && why.empty())
    return;
  p.line(problem_name(d.experiment.problems[problem]) + where(d, problem), style::bold);
  p.add(what.times);
  if (what.folded > 0) p.item(counted(what.folded, "more variant") + ": --wide");
  if (what.times.rows() > 0)
    for (const std::string& line : floors(d, problem)) p.item(line);
  for (const reason& r : why) {
    add_reason(p, r.verdict, "", r.kernels, ": " + r.text, is_declined(r.verdict));
    if (r.errors) p.verbatim(reference::lines_of(*r.errors), true);
  }
  for (const remark& r : what.remarks) p.item(r.word, style::bad, r.text);
  p.add(what.end_to_end);
  p.end_section();
}

// A reason, and over all problems the kernels that have it, each with its problems.
struct shared_reason {
  kzoo::verdict verdict;
  std::string text;
  std::vector<std::string> kernels;  // in order
  std::map<std::string, std::vector<std::size_t>> problems;

  std::size_t cells() const {
    std::size_t count = 0;
    for (const auto& [kernel, on] : problems) count += on.size();
    return count;
  }
  bool is_repeated() const { return cells() > kernels.size(); }  // by one kernel, elsewhere
};

std::vector<shared_reason> shared_reasons(const document& d) {
  std::vector<shared_reason> all;
  std::map<std::pair<kzoo::verdict, std::string>, std::size_t> places;  // in that list
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    for (const reason& r : reasons(d, i)) {
      if (r.errors) continue;
      const auto [place, is_new] = places.try_emplace({r.verdict, r.text}, all.size());
      if (is_new) all.push_back({r.verdict, r.text, {}, {}});
      shared_reason& shared = all[place->second];
      for (const std::string& name : r.kernels) {
        if (!shared.problems.contains(name)) shared.kernels.push_back(name);
        shared.problems[name].push_back(i);
      }
    }
  }
  return all;
}

// With a [pivot], the kernels that declined over all problems: a line for each reason.
void add_declined(page& p, const document& d) {
  for (const shared_reason& r : shared_reasons(d)) {
    if (!is_declined(r.verdict)) continue;
    // Kernels that declined the same problems share a line.
    std::vector<std::pair<std::vector<std::size_t>, std::vector<std::string>>> groups;
    for (const std::string& name : r.kernels) {
      const auto& problems = r.problems.at(name);
      auto at = std::ranges::find(groups, problems, [](const auto& g) { return g.first; });
      if (at == groups.end()) at = groups.insert(at, {problems, {}});
      at->second.push_back(name);
    }
    for (const auto& [problems, kernels] : groups) {
      const std::size_t all_problems = d.experiment.problems.size();
      const std::string where =
          problems.size() == all_problems ? ""
          : problems.size() == 1
              ? " on " + problem_name(d.experiment.problems[problems[0]])
              : fmt::format(" on {} of {} problems", problems.size(), all_problems);
      add_reason(p, r.verdict, "", kernels, fmt::format("{}: {}", where, r.text), true);
    }
  }
  p.end_section();
}

// The failures that the sections of later problems leave out.
void add_repeated(page& p, const document& d) {
  for (const shared_reason& r : shared_reasons(d)) {
    if (is_failure(r.verdict) && r.is_repeated())
      add_reason(p, r.verdict, fmt::format("in {} cells: ", r.cells()), r.kernels, ": " + r.text,
                 true);
  }
}

void add_unavailable(page& p, const results::plugin_record& r) {
  p.item("unavailable", r.broken() ? style::bad : style::dim, " {}: {}", r.name, r.problem);
}

}  // namespace

void add_broken(page& p, const document& d) {
  for (const auto& r : d.plugins)
    if (r.broken()) add_unavailable(p, r);
}

std::string title_of(const results::experiment& e) {
  return e.title.empty() ? e.file.filename().string() : e.title;
}

void add_head(page& p, const document& d) {
  const auto& e = d.experiment;
  if (!p.is_html()) p.line(title_of(e), style::bold);  // it has a title
  p.item(fmt::format("{} on {} ({}), tier {}, kernel-zoo {}", e.file.filename().string(),
                     fmt::join(d.devices, ", "), d.device.name, name_of(e.verify.tier), d.version));
  for (const std::string& note : d.notes) p.item("note: " + note);
  for (const auto& r : d.plugins)
    if (!r.description) add_unavailable(p, r);
  if (!e.published.columns.empty() && !e.published.source.empty())
    p.item("published figures: " + e.published.source);
}

void add_failures(page& p, const document& d, std::size_t problem, told_failures& told) {
  std::vector<reason> failures = reasons(d, problem);
  std::erase_if(failures, [](const reason& r) { return !is_failure(r.verdict); });
  told.remove_from(failures);
  add_section(p, d, problem, {{}, 0, remarks(d, problem, told), {}}, failures);
}

void add_problem(page& p, const document& d, std::size_t problem, told_failures& told) {
  const bool pivot = d.experiment.pivot_table.has_value();
  std::vector<reason> why = reasons(d, problem);
  told.remove_from(why);
  if (pivot) std::erase_if(why, [](const reason& r) { return is_declined(r.verdict); });
  problem_rows rows;
  if (!pivot) rows = problem_table(d, problem, p.view());
  std::vector<remark> told_here = remarks(d, problem, told);
  add_throttled(told_here, d, problem);
  add_section(p, d, problem,
              {std::move(rows.times), rows.folded, std::move(told_here),
               end_to_end_table(d, problem, p.view())},
              why);
}

void add_overview(page& p, const document& d) {
  if (d.experiment.overridden.tune) return;  // add_tuned() has what matters
  if (d.experiment.pivot_table) {
    if (!std::ranges::all_of(d.cells, [&](const cell& c) { return shows_time(c, p.view()); })) {
      p.line("Checks", style::bold, ", over {} problems", d.experiment.problems.size());
      p.add(checks_table(d));
      p.end_section();
    }
    add_declined(p, d);
  }
  if (const auto pivot = pivot_of(d)) add_pivot(p, d, *pivot);
  add_agreement(p, d);
}

closing_words closing_words_for(bool right, const results::coverage& covered) {
  if (!right) return {"FAILED", style::bad};
  if (!covered.complete()) return {"PARTLY CHECKED", style::bold};
  return {"ok", style::good};
}

void add_closing(page& p, const document& d) {
  const agreed pairs = agreement_of_all(d);
  add_repeated(p, d);
  add_slow_devices(p, d);
  results::coverage covered;
  for (const cell& c : d.cells) covered.add(c.kernel.name(), c.findings);
  for (const results::gap& g : covered.gaps())
    p.item("not checked", style::bad, ": " + results::to_string(g));
  for (const std::string& name : results::unjudged_sources(d))
    p.item("not judged", style::bad, ": {}, which declined every problem", name);
  const closing_words closing = !d.complete() ? closing_words{"INTERRUPTED", style::bad}
                                : results::nothing_ran(d)
                                    ? closing_words{"NOTHING RAN", style::bad}
                                    : closing_words_for(results::exit_code(d) == 0, covered);
  p.line(
      closing.words, closing.look, ": {}{} · {:.1f} s", verdict_counts(d),
      pairs.pairs == 0 ? "" : fmt::format(" · {} of {} pairs agree", pairs.agreeing, pairs.pairs),
      d.wall_seconds);
}

std::string full_report(const document& d, const view& v) {
  page p(v);
  add_head(p, d);
  add_measured(p, d);
  p.end_section();
  told_failures told;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) add_problem(p, d, i, told);
  add_overview(p, d);
  add_closing(p, d);
  if (d.experiment.overridden.tune) {
    p.end_section();
    add_tuned(p, d);
  }
  return p.take();
}

std::vector<reason> reasons(const document& d, std::size_t problem) {
  std::vector<reason> reasons;
  for (const cell& c : d.cells_of(problem)) {
    // A cell without a variant belongs to a plugin that could not be loaded; the report's head says
    // so once.
    const bool in_head = c.verdict == verdict::unavailable && c.kernel.variant.empty();
    if (c.verdict == verdict::pass || in_head) continue;
    const auto same = std::ranges::find_if(
        reasons, [&](const reason& r) { return r.verdict == c.verdict && r.text == c.reason; });
    reason& r = same == reasons.end()
                    ? reasons.emplace_back(reason{c.verdict, {}, c.reason, c.errors})
                    : *same;
    r.kernels.push_back(c.kernel.name());
  }
  return reasons;
}

std::string names_of(const std::vector<std::string>& kernels, std::size_t room) {
  const std::string all = fmt::format("{}", fmt::join(kernels, ", "));
  if (kernels.size() < 2 || width(all) <= room) return all;
  std::vector<std::string> plugins;
  for (const std::string& name : kernels) add_once(plugins, name.substr(0, name.find(':')));
  const std::string folded =
      fmt::format("{} kernels of {}", kernels.size(), fmt::join(plugins, ", "));
  if (plugins.size() < 2 || width(folded) <= room) return folded;
  return fmt::format("{} kernels of {} plugins", kernels.size(), plugins.size());
}

void told_failures::remove_from(std::vector<reason>& reasons) {
  for (reason& r : reasons) {
    if (!is_failure(r.verdict) || r.errors) continue;
    std::erase_if(r.kernels, [&](const std::string& kernel) {
      return !told_.emplace(r.verdict, r.text, kernel).second;
    });
  }
  std::erase_if(reasons, [](const reason& r) { return r.kernels.empty(); });
}

bool told_failures::is_new(const results::cell& c, const results::finding& f) {
  return found_.emplace(f.check, f.detail, c.kernel.name()).second;
}

}  // namespace kzoo::report

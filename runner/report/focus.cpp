#include "report/focus.hpp"

#include "core/precision.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

// Whether a is to be shown rather than b.
bool is_better(const cell& a, const cell& b) {
  // As in tuning (results/tuned.hpp): what was measured to the end comes first.
  const auto rank = [](const cell& c) {
    if (is_timed(c)) return c.time->stopped == timing::stop::slower ? 1 : 0;
    return is_failure(c.verdict) ? 2 : 3;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return is_timed(a) && a.time->median_ms < b.time->median_ms;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// The plugins that took part, each once.
std::vector<std::string> plugins_of(const document& d) {
  std::vector<std::string> all;
  for (const cell& c : d.cells)
    if (!is_declined(c.verdict)) add_once(all, c.kernel.plugin);
  return all;
}

}  // namespace

bool is_timed(const cell& c) { return c.time && c.time->clock != timing::clock::simulator; }

std::vector<const cell*> best_of_each(const document& d, std::size_t problem) {
  std::vector<const cell*> best;
  for (const cell& c : d.cells_of(problem)) {
    if (is_declined(c.verdict)) continue;
    const auto known = std::ranges::find_if(
        best, [&](const cell* b) { return b->kernel.plugin == c.kernel.plugin; });
    if (known == best.end()) {
      best.push_back(&c);
    } else if (is_better(c, **known)) {
      *known = &c;
    }
  }
  return best;
}

const cell* fastest_of(const document& d, std::size_t problem,
                       const std::function<bool(const cell&)>& counts) {
  const cell* fastest = nullptr;
  for (const cell* c : best_of_each(d, problem)) {
    if (!is_timed(*c) || !counts(*c)) continue;
    if (fastest == nullptr || c->time->median_ms < fastest->time->median_ms) fastest = c;
  }
  return fastest;
}

const cell* best_of(const document& d, std::size_t problem, const std::string& plugin) {
  for (const cell* c : best_of_each(d, problem))
    if (c->kernel.plugin == plugin) return c;
  return nullptr;
}

standing standing_of(const document& d, const cell& c) {
  standing s;
  for (const cell* other : best_of_each(d, c.problem)) {
    if (other->kernel.plugin == c.kernel.plugin || !is_timed(*other) ||
        other->time->clock != c.time->clock) {
      continue;
    }
    ++s.of;
    s.mixed = s.mixed || have_different_precision(d, c, *other);
    if (other->time->median_ms < c.time->median_ms) ++s.place;
  }
  return s;
}

std::string standing::text() const {
  if (of <= 2) return "";
  return fmt::format("{} of {}{}", place, of, mixed ? ", in several precisions" : "");
}

bool have_different_precision(const document& d, const cell& a, const cell& b) {
  const element_types& types = d.problem_of(a).dtype;
  return is_less_precise(a.declared, b.declared, types) ||
         is_less_precise(b.declared, a.declared, types);
}

bool focus::is_own(const std::string& plugin) const { return holds(own, plugin); }

std::vector<std::string> focus::talked_of() const {
  return own.empty() && !subject.empty() ? std::vector{subject} : own;
}

focus focus_of(const document& d) {
  focus f;
  for (const cell& c : d.cells) {
    if (const cell* baseline = d.baseline_of(c)) f.baseline = baseline->kernel.plugin;
    if (!f.baseline.empty()) break;
  }
  std::vector<std::string> others = plugins_of(d);
  std::erase(others, f.baseline);
  for (const results::plugin_record& r : d.plugins) {
    const auto is_of_it = [&](const cell& c) { return c.kernel.plugin == r.name; };
    if (r.description && r.name != f.baseline && is_authors(r, d.invoked.plugin_folders) &&
        std::ranges::any_of(d.cells, is_of_it))
      f.own.push_back(r.name);
  }
  if (f.own.size() == 1) {
    f.subject = f.own.front();
  } else if (others.size() == 1 && !f.baseline.empty()) {
    f.subject = others.front();
  }
  return f;
}

std::size_t main_problem(const document& d, const std::vector<std::string>& plugins) {
  const std::size_t none = d.experiment.problems.size();
  std::size_t found = none;
  std::tuple<std::size_t, double> most;
  for (std::size_t i = 0; i < none; ++i) {
    std::vector<const cell*> timed = best_of_each(d, i);
    std::erase_if(timed, [&](const cell* c) {
      return !is_timed(*c) || (!plugins.empty() && !holds(plugins, c->kernel.plugin));
    });
    const std::tuple here{timed.size(), d.experiment.problems[i].flops()};
    if (timed.empty() || (found != none && here <= most)) continue;
    most = here;
    found = i;
  }
  return found;
}

std::string baseline_name(const document& d) {
  if (!d.experiment.baseline) return "";
  const std::string& name = d.experiment.baseline->text;
  return name.ends_with(":*") ? name.substr(0, name.size() - 2) : name;
}

}  // namespace kzoo::report

#include "html/answer.hpp"

#include "compare/compare.hpp"
#include "report/answer.hpp"
#include "report/comparison.hpp"
#include "report/focus_table.hpp"

#include <fmt/format.h>

#include <string>

namespace kzoo::html {
namespace {

using report::style;
using results::document;

void add_sentences(const report::answer& a, const text_sink& out) {
  out(fmt::format("<p class=\"answer\">{} {}</p>\n",
                  report::html(a.verdicts + ".", a.right ? style::good : style::bad),
                  report::html(a.speed)));
  for (const std::string& line : a.failures)
    out(fmt::format("<p class=\"failure\">{}</p>\n", report::html(line)));
  out(fmt::format("<p class=\"item\">{}</p>\n", report::html(a.conditions)));
}

// What limits the kernel, and what changed since the run before.
void add_about(report::page& p, const named_result& r, const std::string& plugin) {
  const document& d = *r.document;
  const std::size_t problem = report::main_problem(d, {plugin});
  if (problem < d.experiment.problems.size()) {
    const results::cell& c = *report::best_of(d, problem, plugin);
    if (const auto limits = report::limits_of(d, c); !limits.empty()) {
      p.line("What limits it", style::bold, fmt::format(" on {}", problem_name(d.problem_of(c))));
      for (const std::string& line : limits) p.item(line);
    }
  }
  if (r.before == nullptr) return;
  constexpr double kThreshold = 0.03;
  const auto changes = report::change_table(compare::compare(*r.before, d, kThreshold), plugin);
  if (changes.rows() == 0) return;
  p.line("Since the run before", style::bold,
         fmt::format(": {}, {}; changes below {:g} % do not count", r.before_file,
                     r.before->started, 100 * kThreshold));
  p.add(changes);
}

}  // namespace

void add_answer(const named_result& r, bool alone, const report::view& view, const text_sink& out) {
  const document& d = *r.document;
  const report::focus f = report::focus_of(d);
  out("<section>\n");
  if (!alone) out(fmt::format("<h2>{}</h2>\n", report::html(r.label)));
  add_sentences(report::answer_of(d, f), out);
  report::page p(view);
  p.add(report::focus_table(d, f, view));
  if (!f.subject.empty()) add_about(p, r, f.subject);
  out(p.take());
  out("</section>\n");
}

}  // namespace kzoo::html

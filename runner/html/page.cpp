#include "html/page.hpp"

#include "compare/compare.hpp"
#include "html/charts.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "report/focus.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <stdexcept>
#include <system_error>

namespace kzoo::html {
namespace {

using report::style;
using report::table;
using results::document;

constexpr std::string_view kMissing =
    "This page has no charts: Vega-Lite, which draws them, was not on the machine that wrote it. "
    "<code>./zoo setup --charts</code> fetches it (34 MB); then write the page again.";

// A script ends at the first </script, even within a string.
std::string script_text(std::string_view text) {
  constexpr std::string_view kEnd = "</script", kHarmless = "<\\/script";
  std::string safe(text);
  for (std::size_t at = 0; (at = safe.find(kEnd, at)) != std::string::npos;)
    safe.replace(at, kEnd.size(), kHarmless);
  return safe;
}

// The page's subject: a result, one kernel of it, or several results.
std::string heading_of(std::span<const named_result> all) {
  if (all.size() > 1) return fmt::format("{} results", all.size());
  const document& d = *all.front().document;
  const std::string subject = report::focus_of(d).subject, name = report::title_of(d.experiment);
  return subject.empty() ? name : subject + " · " + name;
}

table facts_of(const document& d) {
  table t;
  const auto add = [&](const std::string& name, const std::string& value) {
    t.add_entries({{"fact", name, table::align::left}, {"value", value, table::align::left}});
  };
  add("device", fmt::format("{} ({})", fmt::join(d.devices, ", "), d.device.name));
  add("memory", fmt::format("{:.1f} GiB", double(d.device.memory_bytes) / (1u << 30)));
  for (const auto& [name, value] : d.device.facts) add(with_spaces(name), value);
  add("started", d.started);
  add("took", fmt::format("{:.1f} s", d.wall_seconds));
  add("kernel-zoo", d.version);
  return t;
}

table peaks_of(const roofline::peaks& peaks) {
  table t;
  for (const roofline::measured_peak& p : peaks.all) {
    const std::string name(name_of(p.resource));
    t.add_entries({{"measured peak", name, table::align::left},
                   {"rate", roofline::rate_text(p.resource, p.best.rate)},
                   {"microbenchmark", p.kernel, table::align::left}});
  }
  return t;
}

table plugins_of(const document& d) {
  constexpr auto kLeft = table::align::left;
  table t;
  for (const results::plugin_record& r : d.plugins) {
    const auto& known = r.description;
    std::string libraries;
    if (known)
      for (const std::string& file : known->libraries)
        report::add_item(libraries, file.substr(file.find_last_of('/') + 1));
    t.add_entries({{"plugin", r.name, kLeft},
                   {"what it does", known ? known->summary : r.problem, kLeft},
                   {"build", known ? known->build_info : "", kLeft},
                   {"libraries", libraries, kLeft},
                   {"SHA-256", known ? r.sha256 : "", kLeft}});
  }
  return t;
}

// The device, its peaks, the plugins, the experiment.
std::string environment(const document& d, const report::view& view) {
  report::page p(view);
  p.add(facts_of(d));
  if (d.peaks) p.add(peaks_of(*d.peaks));
  p.add(plugins_of(d));
  p.line("Experiment", style::bold, ": " + d.experiment.file.filename().string());
  p.verbatim(lines_of(d.experiment.text));
  return "<details>\n<summary>Device, plugins and experiment</summary>\n" + p.take() +
         "</details>\n";
}

std::string sentences(const report::answer& a) {
  std::string text = fmt::format("<p class=\"answer\">{} {}</p>\n",
                                 report::html(a.verdicts + ".", a.right ? style::good : style::bad),
                                 report::html(a.speed));
  for (const std::string& line : a.failures)
    text += fmt::format("<p class=\"failure\">{}</p>\n", report::html(line));
  return text + fmt::format("<p class=\"item\">{}</p>\n", report::html(a.conditions));
}

// The kernel's limits, and its changes since the run before.
void add_about(report::page& p, const named_result& r, const std::string& plugin) {
  const document& d = *r.document;
  const std::size_t problem = report::main_problem(d, {plugin});
  if (problem < d.experiment.problems.size()) {
    const results::cell& c = *report::best_of(d, problem, plugin);
    if (const auto limits = report::limits_of(d, c); !limits.empty()) {
      p.line("What limits it", style::bold, " on {}", problem_name(d.problem_of(c)));
      for (const std::string& line : limits) p.item(line);
    }
  }
  if (r.before == nullptr) return;
  constexpr double kThreshold = 0.03;
  const auto changes = report::change_table(compare::compare(*r.before, d, kThreshold), plugin);
  if (changes.rows() == 0) return;
  p.line("Since the run before", style::bold, ": {}, {}; changes below {:g} % do not count",
         r.before_file, r.before->started, 100 * kThreshold);
  p.add(changes);
}

std::string answer(const named_result& r, bool alone, const report::view& view) {
  const document& d = *r.document;
  const report::focus f = report::focus_of(d);
  report::page p(view);
  p.add(report::focus_table(d, f, view));
  if (!f.subject.empty()) add_about(p, r, f.subject);
  return fmt::format("<section>\n{}{}{}</section>\n",
                     alone ? "" : fmt::format("<h2>{}</h2>\n", report::html(r.label)),
                     sentences(report::answer_of(d, f)), p.take());
}

// The meaning of the charts' colours.
std::string legend(const named_result& r, bool alone) {
  const auto tones = tones_of(*r.document);
  if (tones.empty()) return "";
  std::string text = "<p class=\"legend\">" + (alone ? "" : report::html(r.label) + ": ");
  for (const auto& [plugin, tone] : tones)
    text += fmt::format("<span class=\"tone {}\">{}{}</span>", tone, report::html(plugin),
                        tone == "baseline" ? ", the baseline" : "");
  const series_names series(*r.document);
  std::set<std::string> drawn;
  for (const results::cell& c : r.document->cells)
    if (!is_declined(c.verdict)) drawn.insert(series.of(c));
  if (drawn.size() > tones.size()) text += "<span class=\"tone other\">others</span>";
  return text + "</p>\n";
}

}  // namespace

std::string page_text(const page_parts& p) {
  std::string links;
  for (const auto& [id, words] : p.links)
    links += fmt::format("<a href=\"#{}\">{}</a>", id, report::html(words));
  return filled("page/page.html", {{{"title", report::html(p.title)},
                                    {"heading", report::html(p.heading)},
                                    {"links", links},
                                    {"contents", p.contents}}});
}

std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders) {
  for (const std::filesystem::path& folder : folders) {
    charting_library library{content_of(folder / "charts.js"), folder};
    if (!library.script.empty()) return library;
  }
  return std::nullopt;
}

void write_page(std::span<const named_result> all, const std::optional<charting_library>& library,
                bool simulator_times, const text_sink& out) {
  const report::view view(report::medium::html, report::kNoLimit, simulator_times);
  const bool alone = all.size() == 1;
  const std::string charts = library ? chart_data(all) : "";
  page_parts page;
  page.title =
      fmt::format("{}", fmt::join(all | std::views::transform(&named_result::label), " · "));
  page.heading = heading_of(all);
  std::string& text = page.contents;
  for (const named_result& r : all) text += answer(r, alone, view);
  if (!library) text += fmt::format("<p class=\"missing\">{}</p>\n", kMissing);
  if (!charts.empty()) {
    page.links.emplace_back("charts", "Charts");
    text +=
        "<section id=\"charts\">\n<h2>Charts</h2>\n"
        "<noscript><p class=\"missing\">The charts need JavaScript.</p></noscript>\n";
    for (const named_result& r : all) text += legend(r, alone);
    text += "<div class=\"charts\"></div>\n</section>\n";
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto id = fmt::format("result-{}", i + 1), heading = alone ? "All results" : all[i].label;
    page.links.emplace_back(id, heading);
    text += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}{}</section>\n", id,
                        report::html(heading), report::full_report(*all[i].document, view),
                        environment(*all[i].document, view));
  }
  if (!charts.empty()) {
    text +=
        fmt::format("<script type=\"application/json\" id=\"chart-data\">{}</script>\n", charts);
    // A function keeps the script's names out of the page's scope.
    text += fmt::format("<script>(() => {{{}\n}})();</script>\n", script_text(library->script));
  }
  out(page_text(page));
}

namespace fs = std::filesystem;

std::string write_svg(std::span<const named_result> all, const charting_library& library,
                      const fs::path& folder) {
  constexpr double kTimeoutSeconds = 300;
  const temporary_folder data;
  write_file(data.path() / "svg.py", asset("page/svg.py"));
  write_file(data.path() / "page.css", asset("page/page.css"));
  write_file(data.path() / "charts.json", chart_specifications(all));
  fs::create_directories(folder);
  process::command_result ran;
  try {
    ran = process::run_command({"python3", (data.path() / "svg.py").string(), data.path().string(),
                                library.folder.string(), folder.string()},
                               {}, kTimeoutSeconds);
  } catch (const std::system_error& e) {
    throw std::runtime_error(
        fmt::format("--svg needs python3, which draws the charts: {}", e.what()));
  }
  if (ran.code != 0 || ran.hung) {
    throw std::runtime_error(fmt::format("--svg: the charts cannot be drawn: python3 {}: {}",
                                         process::how_it_failed(ran, kTimeoutSeconds),
                                         printable(ran.output, kLongestText)));
  }
  return ran.output;
}

}  // namespace kzoo::html

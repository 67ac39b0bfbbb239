#include "html/page.hpp"

#include "html/answer.hpp"
#include "html/assets.hpp"
#include "html/charts.hpp"
#include "html/parts.hpp"
#include "html/plotted.hpp"
#include "html/space.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "report/focus.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::html {
namespace {

using report::table;
using results::document;

constexpr std::string_view kMissing =
    "This page has no charts: Vega-Lite, which draws them, was not on the machine that wrote it. "
    "<code>./zoo setup --charts</code> fetches it (34 MB); then write the page again.";

// Lines that the page's script reads back with textContent.
void add_data(std::string_view id, std::string_view text, const text_sink& out) {
  out(fmt::format("<pre hidden id=\"data-{}\">", id));
  for (const std::string& line : lines_of(text)) out(report::html(line) + '\n');
  out("</pre>\n");
}

// What the page is about: a result, one kernel of it, or several results.
std::string heading_of(std::span<const named_result> all) {
  if (all.size() > 1) return fmt::format("{} results", all.size());
  const document& d = *all.front().document;
  const std::string subject = report::focus_of(d).subject, name = report::title_of(d.experiment);
  return subject.empty() ? name : subject + " · " + name;
}

void add_start(std::span<const named_result> all, bool charts, const text_sink& out) {
  std::vector<std::pair<std::string, std::string>> links;
  if (charts) links.emplace_back("charts", "Charts");
  for (std::size_t i = 0; i < all.size(); ++i) {
    links.emplace_back(fmt::format("result-{}", i + 1),
                       all.size() == 1 ? "All results" : all[i].label);
  }
  const auto labels = all | std::views::transform(&named_result::label);
  begin_page(fmt::format("{}", fmt::join(labels, " · ")), heading_of(all), links, out);
}

table facts_of(const document& d) {
  table t;
  t.add_columns({"fact", "value"}, table::align::left);
  const auto add = [&](const std::string& name, const std::string& value) {
    t.add_row({{name}, {value}});
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
  t.add_column("measured peak", table::align::left);
  t.add_column("rate");
  t.add_column("microbenchmark", table::align::left);
  for (const roofline::measured_peak& p : peaks.all) {
    t.add_row({{std::string(roofline::resource_name(p.resource))},
               {roofline::rate_text(p.resource, p.best.rate)},
               {p.kernel}});
  }
  return t;
}

table plugins_of(const document& d) {
  table t;
  t.add_columns({"plugin", "what it does", "build", "libraries", "SHA-256"}, table::align::left);
  for (const results::plugin_record& r : d.plugins) {
    if (!r.description) {
      t.add_row({{r.name}, {r.problem}});
      continue;
    }
    std::vector<std::string> libraries;
    for (const std::string& file : r.description->libraries)
      libraries.push_back(file.substr(file.find_last_of('/') + 1));
    t.add_row({{r.name},
               {r.description->summary},
               {r.description->build_info},
               {fmt::format("{}", fmt::join(libraries, ", "))},
               {r.sha256}});
  }
  return t;
}

// What a result was measured with: the device, its peaks, the plugins, the experiment.
void add_environment(const document& d, const report::view& view, const text_sink& out) {
  out("<details>\n<summary>Device, plugins and experiment</summary>\n");
  report::page p(view);
  p.add(facts_of(d));
  if (d.peaks) p.add(peaks_of(*d.peaks));
  p.add(plugins_of(d));
  p.line("Experiment", report::style::bold, ": " + d.experiment.file.filename().string());
  p.verbatim(lines_of(d.experiment.text));
  out(p.take());
  out("</details>\n");
}

void add_result(const named_result& r, std::size_t number, bool alone, const report::view& view,
                const text_sink& out) {
  const std::string heading = alone ? "All results" : r.label;
  out(fmt::format("<section id=\"result-{}\">\n<h2>{}</h2>\n", number, report::html(heading)));
  out(report::full_report(*r.document, view));
  add_environment(*r.document, view, out);
  out("</section>\n");
}

// What the colours of the charts mean.
void add_legend(const named_result& r, bool alone, const text_sink& out) {
  const auto tones = tones_of(*r.document);
  if (tones.empty()) return;
  out(fmt::format("<p class=\"legend\">{}", alone ? "" : report::html(r.label) + ": "));
  for (const auto& [plugin, tone] : tones)
    out(fmt::format("<span class=\"tone {}\">{}{}</span>", tone, report::html(plugin),
                    tone == "baseline" ? ", the baseline" : ""));
  const series_names series(*r.document);
  std::set<std::string> drawn;
  for (const results::cell& c : r.document->cells)
    if (!is_declined(c.verdict)) drawn.insert(series.of(c));
  const bool others = drawn.size() > tones.size();
  out(others ? "<span class=\"tone other\">others</span></p>\n" : "</p>\n");
}

}  // namespace

std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders) {
  for (const std::filesystem::path& folder : folders) {
    charting_library found{content_of(folder / "charts.js"), folder};
    if (!found.script.empty()) return found;
  }
  return std::nullopt;
}

void write_page(std::span<const named_result> all, const std::optional<charting_library>& library,
                bool simulator_times, const text_sink& out) {
  const report::view view(report::medium::html, report::kNoLimit, simulator_times);
  const std::string charts = charts_table(all);
  add_start(all, library && !charts.empty(), out);
  for (std::size_t i = 0; i < all.size(); ++i) add_answer(all[i], all.size() == 1, view, out);
  if (!library) {
    out(fmt::format("<p class=\"missing\">{}</p>\n", kMissing));
  } else if (!charts.empty()) {
    out("<section id=\"charts\">\n<h2>Charts</h2>\n"
        "<noscript><p class=\"missing\">The charts need JavaScript.</p></noscript>\n");
    for (const named_result& r : all) add_legend(r, all.size() == 1, out);
    out("<div class=\"charts\"></div>\n</section>\n");
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    add_result(all[i], i + 1, all.size() == 1, view, out);
  if (library && !charts.empty()) {
    add_data("charts", charts, out);
    add_data("cells", cells_table(all), out);
    add_data("samples", samples_table(all), out);
    add_data("agreement", agreement_table(all), out);
    add_data("roofs", roofs_table(all), out);
    add_data("errors", errors_table(all), out);
    add_data("space", space_table(all), out);
    out(fmt::format("<script type=\"application/json\" id=\"charts-json\">{}</script>\n",
                    assets::kCharts));
    // In a function, so that its names are none of the page's.
    add_script("(() => {" + library->script + "\n})();", out);
  }
  end_page(out);
}

}  // namespace kzoo::html

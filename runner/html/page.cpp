#include "html/page.hpp"

#include "html/assets.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::html {
namespace {

using report::table;
using results::document;

// Nothing is loaded, whatever a name in a result may turn out to be. Vega compiles expressions.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data:; base-uri 'none'; form-action 'none'";

constexpr std::string_view kMissing =
    "The charts are missing: this page was written on a machine without Vega-Lite. "
    "<code>./zoo setup --charts</code> fetches it (34 MB), and "
    "<code>./zoo report … --html</code> then draws them. The tables below have all figures.";

std::string title_of(std::span<const named_result> all) {
  std::string title;
  for (const named_result& r : all) title += (title.empty() ? "" : " · ") + r.label;
  return title;
}

// Lines that the page's script reads back with textContent.
void add_data(std::string_view id, std::string_view text, const text_sink& out) {
  out(fmt::format("<pre hidden id=\"data-{}\">", id));
  for_each_line(text, [&](std::string_view line) { out(report::html(line) + '\n'); });
  out("</pre>\n");
}

// A script ends at the first </script, even within a string.
void add_script(std::string_view text, const text_sink& out) {
  constexpr std::string_view kEnd = "</script", kHarmless = "<\\/script";
  std::string safe(text);
  for (std::size_t at = 0; (at = safe.find(kEnd, at)) != std::string::npos;)
    safe.replace(at, kEnd.size(), kHarmless);
  out("<script>");
  out(safe);
  out("</script>\n");
}

void add_head(std::span<const named_result> all, const text_sink& out) {
  const std::string title = report::html(title_of(all));
  out(fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#result-1\">To the tables</a>\n<header>\n<h1>{}</h1>\n<nav>"
      "<a href=\"#charts\">Charts</a>",
      kPolicy, title, assets::kStyle, title));
  for (std::size_t i = 0; i < all.size(); ++i)
    out(fmt::format("<a href=\"#result-{}\">{}</a>", i + 1,
                    all.size() == 1 ? "Tables" : "Tables: " + report::html(all[i].label)));
  out("</nav>\n</header>\n<main>\n");
}

table facts_of(const document& d) {
  table t;
  t.add_column("fact", table::align::left);
  t.add_column("value", table::align::left);
  const auto add = [&](const std::string& name, const std::string& value) {
    t.add_row({{name}, {value}});
  };
  add("device", fmt::format("{} ({})", fmt::join(d.devices, ", "), d.device.name));
  add("memory", fmt::format("{:.1f} GiB", double(d.device.memory_bytes) / (1u << 30)));
  for (const auto& [name, value] : d.device.facts) {
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    add(words, value);
  }
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
  t.add_column("plugin", table::align::left);
  t.add_column("what it does", table::align::left);
  t.add_column("build", table::align::left);
  t.add_column("libraries", table::align::left);
  t.add_column("SHA-256", table::align::left);
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
void add_environment(report::page& p, const document& d) {
  p.line("Environment", report::style::bold);
  p.add(facts_of(d));
  if (d.peaks) p.add(peaks_of(*d.peaks));
  p.add(plugins_of(d));
  p.line("Experiment", report::style::bold, ": " + d.experiment.file.filename().string());
  std::vector<std::string> lines;
  std::istringstream text(d.experiment.text);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  p.verbatim(lines);
}

void add_result(const named_result& r, std::size_t number, bool simulator_times,
                const text_sink& out) {
  out(fmt::format("<section id=\"result-{}\">\n<h2>{}</h2>\n", number, report::html(r.label)));
  const report::view view(report::medium::html, report::kNoLimit, simulator_times);
  out(report::full_report(*r.document, view));
  report::page environment(view);
  add_environment(environment, *r.document);
  out(environment.take());
  out("</section>\n");
}

// "" if the file cannot be read.
std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool has_simulated(const named_result& r) {
  return std::ranges::any_of(r.document->cells, [](const results::cell& c) {
    return c.time && c.time->clock == timing::clock::simulator;
  });
}

}  // namespace

std::optional<charting_library> find_library(std::span<const std::filesystem::path> folders) {
  for (const std::filesystem::path& folder : folders) {
    charting_library found{text_of(folder / "charts.js"), folder};
    if (!found.script.empty()) return found;
  }
  return std::nullopt;
}

void write_page(std::span<const named_result> all, const std::optional<charting_library>& library,
                bool simulator_times, const text_sink& out) {
  add_head(all, out);
  out("<section id=\"charts\">\n<h2>Charts</h2>\n");
  out(library ? "<noscript><p class=\"missing\">The charts need JavaScript.</p></noscript>\n"
                "<div class=\"charts\"></div>\n"
              : fmt::format("<p class=\"missing\">{}</p>\n", kMissing));
  if (library && std::ranges::any_of(all, has_simulated))
    out("<p class=\"item\">Times of the simulator are not drawn: they say nothing about a GPU.</p>\n");
  out("</section>\n");
  for (std::size_t i = 0; i < all.size(); ++i) add_result(all[i], i + 1, simulator_times, out);
  out("</main>\n");
  if (library) {
    add_data("cells", cells_table(all), out);
    add_data("samples", samples_table(all), out);
    add_data("agreement", agreement_table(all), out);
    add_data("roofs", roofs_table(all), out);
    add_data("errors", errors_table(all), out);
    out(fmt::format("<script type=\"application/json\" id=\"charts-json\">{}</script>\n",
                    assets::kCharts));
    // In a function, so that its names are none of the page's.
    add_script("(() => {" + library->script + "\n})();", out);
  }
  add_script(assets::kScript, out);
  out("</body>\n</html>\n");
}

}  // namespace kzoo::html

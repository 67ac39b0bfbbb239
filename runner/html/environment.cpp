#include "html/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace kzoo::html {
namespace {

using report::table;
using results::document;

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

}  // namespace

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

}  // namespace kzoo::html

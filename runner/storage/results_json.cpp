// A run as JSON, in both directions. Derived figures are not read but recomputed.

#include "storage/results_json.hpp"
#include "core/version.hpp"
#include "input/diagnostics.hpp"
#include "storage/archive.hpp"
#include "storage/collected_cells.hpp"
#include "storage/field.hpp"
#include "storage/parts_json.hpp"
#include "storage/peaks_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <istream>
#include <span>
#include <utility>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

void map(auto& io, is<results::built_point> auto& p) {
  io("name", p.name);
  io("parameters", p.values, kPoint);
  io("options", p.options);
  if (io.has("does_not_compile", !p.why_not.empty())) io("does_not_compile", p.why_not);
}

void map(auto& io, is<results::tuned_builds> auto& t) {
  io("seconds", t.seconds);
  io("from_cache", t.from_cache);
  io.later("left_out", t.left_out);
  io("points", t.points);
}

void map(auto& io, is<results::plugin_record> auto& p) {
  io("name", p.name);
  io("file", p.file);
  io("sha256", p.sha256);
  io("source", p.source);
  io.later("source_sha256", p.source_sha256);
  if (io.has("tuned", !p.tuned.points.empty())) io("tuned", p.tuned);
  io.later("host_code", p.host_code);
  if (io.has("missing_headers", !p.missing.empty())) io("missing_headers", p.missing);
  if (io.has("problem", !p.description)) return io("problem", p.problem);
  io.restore([](auto& description) { description.emplace(); }, p.description);
  io("id", p.description->id);
  io("summary", p.description->summary);
  io("build", p.description->build_info);
  io("native", p.description->native);
  io("libraries", p.description->libraries);
}

void map(auto& io, is<results::invocation> auto& i) {
  io("plugin_folders", i.plugin_folders);
  io("in_process", i.in_process);
}

namespace {

constexpr as kPeaks{[](const roofline::peaks& p) { return to_json(p, detail::summary); },
                    [](const field& f, roofline::peaks& p) { p = read_peaks(f); }};

}  // namespace

void map(auto& io, is<results::document> auto& d) {
  io.schema(kResultsSchema);
  io.object("runner", [&](auto& runner) { runner("version", d.version); });
  io("host", d.host);
  io("started", d.started);
  io("wall_seconds", d.wall_seconds);
  io("experiment", d.experiment);
  io("invocation", d.invoked);
  io("device", d.device);
  io("devices", d.devices);
  io("peaks", d.peaks, kPeaks);
  io("notes", d.notes);
  io("planned_cells", d.planned);
  io("plugins", d.plugins);
}

namespace {

// Calls f for each cell, with the cells of its problem up to it.
void for_each_cell(const results::document& d,
                   const std::function<void(std::span<const results::cell>)>& f) {
  const std::span all(d.cells);
  for (std::size_t first = 0, i = 0; i < all.size(); ++i) {
    if (all[i].problem != all[first].problem) first = i;
    f(all.subspan(first, i + 1 - first));
  }
}

}  // namespace

json head_json(const results::document& d) { return to_value(d); }

json to_json(const results::document& d) {
  json whole = head_json(d);
  json& cells = whole["cells"] = json::array();
  for_each_cell(d, [&](auto so_far) { cells.push_back(to_json(d, so_far)); });
  return whole;
}

void write(const results::document& d, const text_sink& out) {
  out("{\n");
  const json head = head_json(d);
  for (const auto& [key, value] : head.items())
    out(fmt::format("{}: {},\n", json(key).dump(), dumped(value, -1)));
  out("\"cells\": [");
  for_each_cell(d, [&](auto so_far) {
    out(fmt::format("{}\n{}", so_far.data() == d.cells.data() && so_far.size() == 1 ? "" : ",",
                    dumped(to_json(d, so_far), -1)));
  });
  out("\n]\n}\n");
}

results::document read_head(json head, const std::string& place) {
  head["schema"] = kResultsSchema;
  results::document d;
  from_value(field(head, place), d);
  return d;
}

results::document read_document(std::istream& in, const std::string& file) {
  collected_cells cells;
  json head = parse(
      in, file,
      [](const std::string& key, const field& value) {
        if (key == "schema") value.require_schema(kResultsSchema);
      },
      [&](const std::string& key, const field& element) {
        if (key != "cells") return true;
        cells.add(element, {});
        return false;
      });
  if (head.is_object() && !head.contains("schema")) {
    input::refuse(file,
                  fmt::format("holds no results: the key \"schema\" is missing; {}", kResultFiles));
  }
  const field root(head, file);
  root.at("schema").require_schema(kResultsSchema);
  // Only elements that are not objects remain in the list.
  for (const field& element : root.at("cells").elements()) read_cell(element);
  results::document d = read_head(head, file);
  cells.move_into(d);
  return d;
}

std::string dumped(const json& j, int indent) {
  // ASCII output escapes terminal controls and Unicode's line separators.
  return j.dump(indent, ' ', true, json::error_handler_t::replace);
}

json to_json(const results::device& d) { return to_value(d); }
json to_json(const results::plugin_record& p) { return to_value(p); }

std::string to_text(const results::validation& v) {
  json variants = json::array();
  for (const results::validated_variant& one : v.variants) {
    variants.push_back({{"kernel", one.kernel},
                        {"dtype", types_name(one.dtype)},
                        {"precision", precision_name(one.declared)},
                        {"problem", one.problem},
                        {"checks", to_json(one.findings)}});
  }
  json plugins = json::array();
  for (const results::plugin_record& p : v.plugins) plugins.push_back(to_json(p));
  const json j{{"schema", "kzoo.validation/1"},  {"runner", {{"version", kVersion}}},
               {"wall_seconds", v.wall_seconds}, {"device", to_json(v.device)},
               {"tier", name_of(v.tier)},        {"plugins", std::move(plugins)},
               {"variants", std::move(variants)}};
  return dumped(j, 2) + '\n';
}

// The output of `runner judge`.
namespace {

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json or_null(std::string_view text) { return text.empty() ? json() : json(text); }

void add(json& to, const results::outcome_words& words) {
  to["status"] = or_null(words.status);
  to["verdict"] = or_null(words.verdict);
  to["check"] = or_null(words.check);
  to["reason"] = words.reason;
}

json precision_json(kzoo_precision p) { return p == 0 ? json() : json(precision_name(p)); }

json problem_json(const results::judged_problem& p) {
  json j{{"problem", storage::to_json(p.problem)},
         {"kernel", p.kernel},
         {"precision", precision_json(p.precision)}};
  add(j, p.came_of_it);
  j["time_ms"] = p.time ? json(p.time->median_ms) : json();
  j["clock"] = p.time ? json(name_of(p.time->clock)) : json();
  j["cache"] = p.time ? json(name_of(p.time->caches)) : json();
  j["gflops"] = or_null(p.gflops);
  j["speedup"] = p.speedup ? json(p.speedup->value) : json();
  const auto likely = p.speedup ? p.speedup->likely : std::nullopt;
  j["speedup_interval"] = likely ? json{likely->low, likely->high} : json();
  j["baseline_precision"] = precision_json(p.baseline_precision);
  return j;
}

json head(const results::file_judgement& f) {
  json j{{"schema", kJudgementSchema}, {"runner", {{"version", kVersion}}}, {"file", f.file}};
  add(j, f.came_of_it);
  j["host_code"] = or_null(f.host_code);
  return j;
}

std::string one_line(const json& j) { return dumped(j, -1); }

}  // namespace

std::string to_line(const results::file_judgement& f, const judgement_setting& how) {
  json j = head(f);
  j["tier"] = how.tier;
  j["device"] = {{"id", how.device.id}, {"name", how.device.name}};
  j["baseline"] = or_null(how.baseline);
  j["precisions"] = precision_names(f.precisions);
  j["speedup"] = or_null(f.speedup);
  j["calls"] = f.libraries;
  j["not_checked"] = f.not_checked;
  j["problems"] = json::array();
  for (const results::judged_problem& p : f.problems) j["problems"].push_back(problem_json(p));
  j["library"] = or_null(f.library);
  j["sha256"] = or_null(f.sha256);
  j["command"] = how.command;
  j["wall_seconds"] = how.wall_seconds;
  return one_line(j);
}

std::string to_line(const results::file_judgement& f) {
  json j = head(f);
  j["library"] = or_null(f.library);
  j["sha256"] = or_null(f.sha256);
  return one_line(j);
}

}  // namespace kzoo::storage

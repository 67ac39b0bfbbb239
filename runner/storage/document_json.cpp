// A whole run as JSON, in both directions. Figures that follow from others are not read but
// recomputed.

#include "storage/archive.hpp"
#include "storage/cell_json.hpp"
#include "storage/experiment_json.hpp"
#include "storage/parse.hpp"
#include "storage/peaks_json.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace kzoo::storage {

using json = nlohmann::ordered_json;

void map(auto& io, is<results::device> auto& d) {
  io("id", d.id);
  io("name", d.name);
  io("memory_bytes", d.memory_bytes);
  io("facts", d.facts);
}

void map(auto& io, is<results::plugin_record> auto& p) {
  io("name", p.name);
  io("file", p.file);
  io.later("sha256", p.sha256);
  if (io.has("problem", !p.description)) return io("problem", p.problem);
  io.restore([](auto& description) { description.emplace(); }, p.description);
  io("id", p.description->id);
  io("summary", p.description->summary);
  io("build", p.description->build_info);
  io("native", p.description->native);
}

void map(auto& io, is<results::invocation> auto& i) {
  io("plugin_folders", i.plugin_folders);
  io("in_process", i.in_process);
}

namespace {

constexpr as kPeaks{[](const roofline::peaks& p) { return to_json(p, detail::summary); },
                    [](const field& f, roofline::peaks& p) { p = read_peaks(f); }};

// Collects the published figures, which JSON keeps in each cell, in their columns.
void add_published(const published_figures& figures, const results::cell& c, results::document& d) {
  auto& columns = d.experiment.published.columns;
  for (const auto& [label, ms] : figures) {
    const auto found = std::ranges::find(columns, label, &results::published_column::label);
    auto& column = found == columns.end()
                       ? columns.emplace_back(results::published_column{label, {}})
                       : *found;
    column.ms[c.kernel.name() + "@" + shape_name(d.problem_of(c))] = ms;
  }
}

// JSON has no list of problems: they are collected from the cells, in their order.
void read_cells(const field& f, results::document& d) {
  std::map<problem, std::size_t> known;
  for (const field& element : f.elements()) {
    auto [cell, context] = read_cell(element);
    cell.problem = known.emplace(context.problem, known.size()).first->second;
    if (cell.problem == d.experiment.problems.size())
      d.experiment.problems.push_back(context.problem);
    add_published(context.published_ms, cell, d);
    d.cells.push_back(std::move(cell));
  }
}

void read_agreements(const field& f, results::document& d) {
  std::map<std::string, std::size_t> known;
  for (const problem& p : d.experiment.problems) known.emplace(problem_name(p), known.size());
  for (const field& element : f.elements()) {
    auto [agreement, name] = read_agreement(element);
    const auto problem = known.find(name);
    if (problem == known.end()) {
      element.at("problem").refuse(fmt::format("no cell is about {}", name));
    }
    agreement.problem = problem->second;
    d.agreements.push_back(std::move(agreement));
  }
}

// Cells or agreements as a list.
template <class T>
json in_document(const results::document& d, const std::vector<T>& all) {
  json list = json::array();
  for (const T& one : all) list.push_back(to_json(d, one));
  return list;
}

constexpr as kCells{[](const results::document& d) { return in_document(d, d.cells); }, read_cells};
constexpr as kAgreements{[](const results::document& d) { return in_document(d, d.agreements); },
                         read_agreements};

}  // namespace

void map(auto& io, is<results::document> auto& d) {
  io.schema(kSchema);
  io.object("runner", [&](auto& runner) { runner("version", d.version); });
  io.later("host", d.host);
  io("started", d.started);
  io("wall_seconds", d.wall_seconds);
  io("experiment", d.experiment);
  io.later("invocation", d.invoked);
  io("device", d.device);
  io.restore([](results::document& read) { read.devices = {read.device.id}; }, d);
  io.later("devices", d.devices);
  io("ceilings", d.peaks, kPeaks);
  io("notes", d.notes);
  io.later("planned_cells", d.planned);
  io("plugins", d.plugins);
  io("cells", d, kCells);
  io("agreement", d, kAgreements);
}

json to_json(const results::document& d) { return to_value(d); }

results::document from_json(const json& j, const std::string& place) {
  results::document d;
  from_value(field(j, place), d);
  return d;
}

std::string to_text(const results::document& d) { return dumped(to_json(d), 2) + '\n'; }

results::document from_text(const std::string& text, const std::string& file) {
  return from_json(parse(text, {file, 1}), file);
}

std::string dumped(const json& j, int indent) {
  return j.dump(indent, ' ', false, json::error_handler_t::replace);
}

json to_json(const results::device& d) { return to_value(d); }
json to_json(const results::plugin_record& p) { return to_value(p); }

}  // namespace kzoo::storage

#include "html/charts.hpp"

#include "os/assets.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/focus.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::html {
namespace {

using results::cell;
using results::document;

const json& descriptions() {
  static const json all = json::parse(asset("page/charts.json"));
  return all;
}

// Whether values are far enough apart for an axis.
bool span_an_axis(const std::set<double>& values) {
  return !values.empty() && *values.rbegin() >= 1.9 * *values.begin();
}

// "% of cublas:fp32".
std::string percent_axis(const document& d) { return "% of " + report::baseline_name(d); }
// The title of the axis for several results, which may have different baselines.
std::string percent_axis(std::span<const named_result> results) {
  std::set<std::string> axes;
  for (const named_result& r : results)
    if (r.document->experiment.baseline) axes.insert(percent_axis(*r.document));
  return axes.size() == 1 ? *axes.begin() : "% of the baseline of each result";
}

bool disagrees(const document& d) {
  const report::agreed all = report::agreement_of_all(d);
  return all.agreeing < all.pairs && report::agreement_of(d).names.size() <= report::kLargestMatrix;
}

// The ids of the charts for one result; "gains" if it has gains of a ladder's steps.
std::set<std::string> wanted_by(const named_result& r, const std::vector<plotted>& cells) {
  const document& d = *r.document;
  const report::focus focus = report::focus_of(d);
  std::set<std::string> ids;
  std::set<double> clocks, ks, intensities;
  std::map<std::size_t, std::size_t> plugins;  // that were timed, by problem
  std::size_t ran = 0, most_plugins = 0;
  for (const auto& [result, at, row] : cells) {
    if (result != &r) continue;
    const cell& c = *at;
    ran += is_declined(c.verdict) || is_failure(c.verdict) ? 0 : 1;
    if (c.errors) ids.insert("errors");
    if (!is_missing(row["percent_of_allowed"])) ks.insert(row["k"].get<double>());
    if (!is_timed(c)) continue;
    const bool sweeps = !is_missing(row["sweep"]);
    if (focus.own.empty() || focus.is_own(c.kernel.plugin)) {
      ids.insert("samples");
      if (sweeps) ids.insert("rate");
    }
    if (d.experiment.baseline && sweeps && c.speedup && row["tone"] != "baseline")
      ids.insert("relative");
    if (!is_missing(row["gain_text"])) ids.insert("gains");
    // A subject's table has its power.
    if (focus.subject.empty() && c.conditions.power_capped() && c.conditions.watts)
      ids.insert("power");
    if (const json& mhz = row["sm_mhz"]; !is_missing(mhz)) clocks.insert(mhz.get<double>());
    if (const json& x = row["intensity"]; !is_missing(x)) intensities.insert(x.get<double>());
    if (!is_missing(row["fastest"])) most_plugins = std::max(most_plugins, ++plugins[c.problem]);
  }
  if (ran < kFewestDots) {
    ids.erase("power");
  } else {
    constexpr double kSteady = 1.02;
    if (!clocks.empty() && *clocks.rbegin() > kSteady * *clocks.begin())
      for (const char* id : {"clock", "sample-clocks"}) ids.insert(id);
    if (span_an_axis(ks)) ids.insert("accuracy");
    if (span_an_axis(intensities)) ids.insert("roofline");
  }
  // Two kernels over several sizes are in the charts over sizes.
  if (ids.contains("samples") && most_plugins >= (ids.contains("rate") ? 3 : 2))
    ids.insert("speed");
  if (!space_rows({&r, 1}).empty()) ids.insert("space");
  if (disagrees(d)) ids.insert("agreement");
  return ids;
}

void describe_speed(json& chart, const document& d, bool has_gains) {
  chart["title"] = has_gains ? "The ladder" : "Speed";
  chart["note"] = fmt::format(
      "The fastest variant of each plugin, with the 95 % interval; beside it GFLOP/s{}{}",
      d.experiment.baseline ? " and the speedup." : ".",
      has_gains ? " On the right: each step against the one before it on its ladder." : "");
  chart["axis"] = is_compared(d) ? percent_axis(d) : "GFLOP/s";
}

bool is_there(const json& row, const json& fields) {
  return std::ranges::none_of(fields, [&](const json& name) {
    return is_missing(row[name.get_ref<const std::string&>()]);
  });
}

// The values of a column, each once.
std::vector<json> distinct(const chart_rows& rows, const std::string& name) {
  std::vector<json> all;
  std::set<std::string> known;
  for (const json& row : rows)
    if (const json& v = row[name]; !is_missing(v) && known.insert(v.dump()).second)
      all.push_back(v);
  return all;
}

// The page begins with the largest problem that all results have.
json first_problem(const chart_rows& timed) {
  std::map<std::string, std::set<std::string>> results;
  for (const json& row : timed)
    results[row["problem"].get<std::string>()].insert(row["result"].get<std::string>());
  std::pair<std::size_t, double> most;
  json first;
  for (const json& row : timed) {
    const std::pair here{results[row["problem"].get<std::string>()].size(),
                         row["size"].get<double>()};
    if (!first.is_null() && here <= most) continue;
    most = here;
    first = row["problem"];
  }
  return first;
}

// On the last problem the fastest cell of the first series with its own colour; without one the
// first cell.
json first_cell(const chart_rows& timed) {
  json first;
  for (const json& row : timed)
    if (first.is_null() || (row["tone"] == "a" && !is_missing(row["fastest"])))
      first = row["cell"].dump();
  return first;
}

json first_value(const chart_rows& rows, const char* name) {
  const auto found =
      std::ranges::find_if(rows, [&](const json& row) { return !is_missing(row[name]); });
  return found == rows.end() ? json() : (*found)[name];
}

// The data of a page's charts.
struct contents_of_page {
  std::vector<json> charts;
  std::map<std::string, chart_rows> tables;
  json first;    // what is shown before a reader chooses
  bool several;  // results

  explicit contents_of_page(std::span<const named_result> all) {
    const std::vector<plotted> cells = plot(all);
    charts = choose_charts(all, cells);
    tables = {{"cells", {}},
              {"samples", sample_rows(cells)},
              {"agreement", agreement_rows(all)},
              {"roofs", roof_rows(all)},
              {"errors", error_rows(cells, all.size() > 1)},
              {"space", space_rows(all)}};
    chart_rows timed;
    for (const plotted& p : cells) {
      tables["cells"].push_back(p.row);
      if (!is_missing(p.row["rate"])) timed.push_back(p.row);
    }
    several = distinct(tables["cells"], "result").size() > 1;
    first = {{"problem", first_problem(timed)},
             {"sweep", first_value(timed, "sweep")},
             {"map", first_value(tables["errors"], "map")},
             {"space", first_value(tables["space"], "space")},
             {"cell", first_cell(timed)}};
  }
};

// A chart's rows before its reader chooses: indices in its table, in drawing order.
std::vector<std::size_t> rows_of(const json& chart, const chart_rows& table) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (is_there(table[i], chart["needs"]) &&
        (!chart.contains("result") || table[i]["result"] == chart["result"]))
      rows.push_back(i);
  }
  if (chart.contains("others_behind"))
    std::ranges::stable_partition(rows, [&](std::size_t i) { return table[i]["tone"] == "other"; });
  return rows;
}

// The rows that a chart shows at first.
chart_rows first_rows(const json& chart, const contents_of_page& page) {
  const chart_rows& table = page.tables.at(chart["table"]);
  chart_rows rows;
  for (const std::size_t i : rows_of(chart, table)) {
    const auto is_first = [&](const std::string& pick) {
      return pick == "variants" ? !is_missing(table[i]["fastest"])
                                : table[i][pick] == page.first[pick];
    };
    if (std::ranges::all_of(chart.value("pick", json::array()), is_first)) rows.push_back(table[i]);
  }
  return rows;
}

// "$name" in a part stands for a value, or for the part of charts.json that has this name. An entry
// of a list whose value is null is left out.
json filled_in(const json& part, const json& values) {
  if (part.is_string() && part.get_ref<const std::string&>().starts_with('$')) {
    const std::string name = part.get<std::string>().substr(1);
    return values.contains(name) ? values[name] : filled_in(descriptions()["parts"][name], values);
  }
  json filled = part;
  if (!part.is_structured()) return filled;
  for (json& each : filled) each = filled_in(each, values);
  if (filled.is_array()) std::erase(filled.get_ref<json::array_t&>(), json());
  return filled;
}

// `longest`: the end of the axis that all charts of speed share.
json specification(const json& chart, const contents_of_page& page, const chart_rows& rows,
                   const json& longest) {
  chart_rows roofs;
  if (chart["id"] == "roofline")
    std::ranges::copy_if(page.tables.at("roofs"), std::back_inserter(roofs),
                         [&](const json& row) { return row["result"] == chart["result"]; });
  const json values = {
      {"axis", chart.value("axis", "")},
      {"longest", longest},
      {"legend", page.several ? json::object({{"orient", "bottom"}, {"columns", 1}}) : json()},
      {"of_result", page.several ? json::object({{"field", "result"}}) : json()}};
  json spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
               {"width", "container"},
               {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}},
               {"description", fmt::format("{}. {}", chart["title"].get<std::string>(),
                                           chart["note"].get<std::string>())},
               {"config", descriptions()["parts"]["config"]},
               {"data", {{"name", "rows"}}},
               {"datasets", {{"rows", rows}, {"roofs", roofs}}}};
  if (chart.contains("step") && !rows.empty())
    spec["height"] = chart["step"][1].get<std::size_t>() * distinct(rows, chart["step"][0]).size();
  spec.update(filled_in(chart["spec"], values));
  return spec;
}

// Names each chart in turn: "speed", then "speed-1", …
class chart_names {
 public:
  std::string next(const std::string& id) {
    const int number = known_[id]++;
    return number == 0 ? id : fmt::format("{}-{}", id, number);
  }

 private:
  std::map<std::string, int> known_;
};

// The names of the columns once, since the rows are many.
json table_json(const chart_rows& rows) {
  json names = json::array(), values = json::array();
  if (!rows.empty())
    for (const auto& [name, value] : rows.front().items()) names.push_back(name);
  for (const json& row : rows) {
    json& fields = values.emplace_back(json::array());
    for (const json& value : row) fields.push_back(value);
  }
  return {{"names", names}, {"rows", values}};
}

// Makes texts printable, and escapes "<", which could end the element in a page.
std::string text_of(json value) {
  const auto clean = [](const auto& self, json& part) -> void {
    if (part.is_string()) part = printable(part.get_ref<const std::string&>());
    if (part.is_structured())
      for (json& each : part) self(self, each);
  };
  clean(clean, value);
  std::string out;
  for (const char c : value.dump()) out += c == '<' ? "\\u003c" : std::string(1, c);
  return out;
}

}  // namespace

bool is_missing(const json& value) { return value.empty() || value == ""; }

json number(double x) { return std::isfinite(x) ? json(x) : json(); }

const json& chart_description(const std::string& id) { return descriptions()["charts"][id]; }

std::vector<json> choose_charts(std::span<const named_result> results,
                                const std::vector<plotted>& cells) {
  std::vector<std::set<std::string>> wanted;
  for (const named_result& r : results) wanted.push_back(wanted_by(r, cells));
  std::vector<json> all;
  for (const auto& [id, description] : descriptions()["charts"].items()) {
    const auto wants = [&id = id](const std::set<std::string>& ids) { return ids.contains(id); };
    if (!description.contains("each")) {
      if (std::ranges::none_of(wanted, wants)) continue;
      json& chart = all.emplace_back(description);
      chart["id"] = id;
      if (id == "relative") chart["axis"] = percent_axis(results);
      continue;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!wants(wanted[i])) continue;
      json& chart = all.emplace_back(description);
      chart["id"] = id;
      chart["result"] = results[i].label;
      if (id == "speed") describe_speed(chart, *results[i].document, wanted[i].contains("gains"));
      if (results.size() > 1)
        chart["title"] = chart["title"].get<std::string>() + ": " + results[i].label;
    }
  }
  return all;
}

std::string chart_data(std::span<const named_result> all) {
  const contents_of_page page(all);
  if (page.charts.empty()) return "";
  chart_names names;
  json charts = json::array(), tables;
  for (const json& c : page.charts) {
    const std::string id = c["id"], table = c["table"];
    const std::vector<std::size_t> rows = rows_of(c, page.tables.at(table));
    const bool is_whole =
        rows.size() == page.tables.at(table).size() && !c.contains("others_behind");
    charts.push_back({{"id", id},
                      {"name", names.next(id)},
                      {"title", c["title"]},
                      {"note", c["note"]},
                      {"room", c.value("room", "")},
                      {"data", table},
                      {"pick", c.value("pick", json::array())},
                      {"step", c.value("step", json())},
                      {"rows", is_whole ? json() : json(rows)},
                      {"spec", specification(c, page, {}, nullptr)}});
  }
  for (const auto& [name, rows] : page.tables) tables[name] = table_json(rows);
  return text_of({{"charts", charts}, {"first", page.first}, {"tables", tables}});
}

std::string chart_specifications(std::span<const named_result> all) {
  const contents_of_page page(all);
  chart_names names;
  json specifications = json::object();
  for (const json& c : page.charts) {
    const chart_rows rows = first_rows(c, page);
    if (rows.empty() || c["table"] == "samples") continue;
    double longest = 0;
    if (c["id"] == "speed") {
      json of_all = c;
      of_all.erase("result");
      for (const json& row : first_rows(of_all, page))
        longest = std::max(longest, row["bar_high"].get<double>());
    }
    specifications[names.next(c["id"])] = specification(c, page, rows, longest);
  }
  return text_of(specifications) + "\n";
}

}  // namespace kzoo::html

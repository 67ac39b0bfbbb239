#include "html/charts.hpp"

#include "os/assets.hpp"
#include "report/agreement.hpp"
#include "report/focus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace kzoo::html {
namespace {

using report::is_timed;
using results::cell;
using results::document;

// Whether values are far enough apart for an axis.
bool span_an_axis(const std::set<double>& values) {
  return !values.empty() && *values.rbegin() >= 1.9 * *values.begin();
}

// "% of cublas:fp32".
std::string percent_axis(const document& d) { return "% of " + report::baseline_name(d); }
// The axis of several results, which may have different baselines.
std::string percent_axis(std::span<const named_result> results) {
  std::set<std::string> axes;
  for (const named_result& r : results)
    if (r.document->experiment.baseline) axes.insert(percent_axis(*r.document));
  return axes.size() == 1 ? *axes.begin() : "% of the baseline of each result";
}
std::string bars_axis(const document& d) { return is_compared(d) ? percent_axis(d) : "GFLOP/s"; }

// The most plugins that were timed on one problem.
std::size_t most_timed(const document& d) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const auto best = report::best_of_each(d, i);
    most = std::max(
        most, std::size_t(std::ranges::count_if(best, [](const cell* c) { return is_timed(*c); })));
  }
  return most;
}

// Facts of one result that decide which charts it has.
struct contents {
  // The first two are of the authors' plugins, where there are some.
  bool timed = false, sweep = false, compared = false, gains = false, wrong = false;
  bool clocks_differ = false, power_capped = false, errors_over_k = false;
  std::set<double> intensities;
};
contents contents_of(const named_result& r, plotted_cells& how) {
  contents found;
  std::set<double> clocks, ks;
  const document& d = *r.document;
  const report::focus focus = report::focus_of(d);
  for (const cell& c : d.cells) {
    found.wrong = found.wrong || c.errors.has_value();
    if (c.verdict == verdict::pass && c.accuracy && c.accuracy->worst_of_allowed > 0)
      ks.insert(double(d.problem_of(c).k));
    if (!is_timed(c)) continue;
    const plotted& p = how[&c];
    if (focus.own.empty() || focus.is_own(c.kernel.plugin)) {
      found.timed = true;
      found.sweep = found.sweep || !p.sweep.empty();
    }
    found.compared = found.compared || (d.experiment.baseline && !p.sweep.empty() && c.speedup &&
                                        p.tone != "baseline");
    found.gains = found.gains || p.gain.has_value();
    found.power_capped = found.power_capped || (c.conditions.power_capped() && c.conditions.watts);
    if (const double mhz = timing::median_mhz(*c.time); mhz > 0) clocks.insert(mhz);
    if (d.peak_of(c)) found.intensities.insert(roofline::intensity_of(*d.peaks, d.problem_of(c)));
  }
  constexpr double kSteady = 1.02;
  found.clocks_differ = !clocks.empty() && *clocks.rbegin() > kSteady * *clocks.begin();
  if (!focus.subject.empty()) found.power_capped = false;  // its table has that
  found.errors_over_k = span_an_axis(ks);
  const auto ran = std::ranges::count_if(
      d.cells, [](const cell& c) { return !is_declined(c.verdict) && !is_failure(c.verdict); });
  if (std::size_t(ran) < kFewestDots) {
    found.clocks_differ = found.power_capped = found.errors_over_k = false;
    found.intensities.clear();
  }
  return found;
}

void add_speeds(std::vector<chosen_chart>& all, const named_result& r, const contents& has) {
  const document& d = *r.document;
  // Two kernels over several sizes are in the next charts.
  const std::size_t timed = most_timed(d);
  if (!has.timed || timed < 2 || (timed == 2 && has.sweep)) return;
  const std::string note =
      std::string("The fastest variant of each plugin, with the 95 % interval; beside it GFLOP/s") +
      (d.experiment.baseline ? " and the speedup." : ".");
  const char* const gains =
      has.gains ? " On the right: each step against the one before it on its ladder." : "";
  all.push_back({"speed", r.label, has.gains ? "The ladder" : "Speed", note + gains, bars_axis(d)});
}

bool disagrees(const document& d) {
  const report::agreed all = report::agreement_of_all(d);
  return all.agreeing < all.pairs && report::agreement_of(d).names.size() <= report::kLargestMatrix;
}

}  // namespace

std::vector<chosen_chart> choose_charts(std::span<const named_result> results, plotted_cells how) {
  std::vector<chosen_chart> all;
  std::vector<contents> each;
  for (const named_result& r : results) each.push_back(contents_of(r, how));
  // Adds a chart of all results together.
  const auto add = [&](bool contents::*wanted, const char* id, const char* title, const char* note,
                       const std::string& axis = "") {
    if (std::ranges::any_of(each, wanted)) all.push_back({id, {}, title, note, axis});
  };
  add(&contents::wrong, "errors", "Where C is wrong", "The map of C of each wrong result.");
  const auto add_each = [&](const auto& wanted, const char* id, const char* title,
                            const char* note) {
    for (std::size_t i = 0; i < results.size(); ++i)
      if (wanted(i)) all.push_back({id, results[i].label, title, note});
  };
  add_each([&](std::size_t i) { return has_space(*results[i].document); }, "space",
           "What was tuned",
           "For each pair of values the fastest point that has them, in percent of the fastest of "
           "all; the other parameters are at their best. Empty: no such point was timed.");
  for (std::size_t i = 0; i < results.size(); ++i) add_speeds(all, results[i], each[i]);
  add(&contents::compared, "relative", "Speed over sizes",
      "The fastest variant of each plugin at each size, the cube root of M·N·K, with the 95 % "
      "interval.",
      percent_axis(results));
  add(&contents::sweep, "rate", "Throughput over sizes",
      "The fastest variant of each plugin at each size, the cube root of M·N·K.");
  add_each(
      [&](std::size_t i) { return span_an_axis(each[i].intensities); }, "roofline", "Roofline",
      "The fastest variants at the operations per byte that their problems take at least, with "
      "a cold cache, under the peaks measured on this device.");
  add_each([&](std::size_t i) { return disagrees(*results[i].document); }, "agreement",
           "Which results disagree",
           "Each kernel's results against each other's, the worst over all problems. The stronger "
           "the colour, the larger the difference, in percent of what rounding allows.");
  add(&contents::errors_over_k, "accuracy", "Accuracy over K",
      "The largest error of each kernel that passed, in percent of what rounding allows its "
      "declared precision.");
  add(&contents::clocks_differ, "clock", "SM clock",
      "Of the samples of each cell, in the order of the tables: the median, from the lowest to the "
      "highest.");
  add(&contents::power_capped, "power", "Power", "The highest reading while each cell was timed.");
  add(&contents::timed, "samples", "Samples of a cell",
      "Every sample of the chosen cell, round by round.");
  add(&contents::clocks_differ, "sample-clocks", "SM clock of the samples", "Of the same cell.");
  for (chosen_chart& c : all)
    if (results.size() > 1 && c.result) c.title += ": " + *c.result;
  return all;
}

namespace {

// How a chart is drawn, but for its specification in charts.json.
struct kind {
  std::string_view id, table;
  std::vector<std::string_view> needs;    // what a row must have
  std::vector<std::string_view> picks{};  // what a reader chooses
  bool half = true;                       // of the page's width
  bool others_behind = false;             // series without a colour of their own are drawn first
  std::string_view step_of{};             // whose values take `step` pixels each
  int step = 0;
};
const std::array kKinds{
    kind{"errors", "errors", {"row"}, {"map"}, false},
    kind{"speed", "cells", {"bar"}, {"problem", "variants"}, false, false, "kernel", 36},
    kind{"relative", "cells", {"percent", "fastest", "sweep"}, {"sweep"}, true, true},
    kind{"rate", "cells", {"rate", "fastest", "sweep"}, {"sweep"}, true, true},
    kind{"roofline", "cells", {"rate", "intensity", "fastest"}, {}, true, true},
    kind{"space", "space", {"percent"}, {"space"}, false, false, "down", 32},
    kind{"agreement", "agreement", {"row"}, {}, false, false, "kernel", 20},
    kind{"accuracy", "cells", {"percent_of_allowed"}, {}, true, true},
    kind{"clock", "cells", {"sm_mhz"}},
    kind{"power", "cells", {"watts"}},
    kind{"samples", "samples", {"ms"}, {"cell"}},
    kind{"sample-clocks", "samples", {"mhz"}, {"cell"}}};

const std::string& value(const chart_row& row, std::string_view name) {
  static const std::string kNone = "null";
  const auto found = std::ranges::find(row, name, &chart_row::value_type::first);
  return found == row.end() ? kNone : found->second;
}

bool is_present(const std::string& value) { return value != "null" && value != "\"\""; }

// The values of a column, each once.
std::vector<std::string> distinct(const chart_rows& rows, std::string_view name) {
  std::vector<std::string> all;
  std::set<std::string> known;
  for (const chart_row& row : rows)
    if (const std::string& v = value(row, name); is_present(v) && known.insert(v).second)
      all.push_back(v);
  return all;
}

template <class Range, class F>
std::string list(const Range& all, const F& text_of) {
  std::string text;
  for (const auto& each : all) text += (text.empty() ? "" : ",") + text_of(each);
  return '[' + text + ']';
}
std::string list(const std::vector<std::string>& all) { return list(all, std::identity()); }
std::string list(const std::vector<std::string_view>& all) {
  return list(all, [](std::string_view s) { return json(s); });
}

std::string object(const chart_row& row) {
  std::string text;
  for (const auto& [name, v] : row)
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, v);
  return '{' + text + '}';
}

// A reader's options, and the first choice; all are JSON strings.
struct choice {
  std::string_view name, label;
  std::vector<std::string> options;
  std::string first;
  std::vector<std::string> words{};  // for the options, where they say too little
};

// At first the largest problem that all results have.
std::string first_problem(const chart_rows& timed) {
  std::map<std::string, std::set<std::string>> results;
  for (const chart_row& row : timed) results[value(row, "problem")].insert(value(row, "result"));
  std::pair<std::size_t, double> most;
  std::string first;
  for (const chart_row& row : timed) {
    const std::string& problem = value(row, "problem");
    const std::pair here{results[problem].size(), std::stod(value(row, "size"))};
    if (!first.empty() && here <= most) continue;
    most = here;
    first = problem;
  }
  return first;
}

choice cell_choice(const chart_rows& timed) {
  choice c{"cell", "cell", {}, ""};
  const bool several = distinct(timed, "result").size() > 1;
  for (const chart_row& row : timed) {
    c.options.push_back('"' + value(row, "cell") + '"');
    std::string words = value(row, "kernel");
    for (const char* more : {"problem", "result"}) {
      if (!several && std::string_view(more) == "result") continue;
      words.back() = ' ';
      words += "· " + value(row, more).substr(1);
    }
    c.words.push_back(words);
    if (value(row, "tone") == "\"a\"" && is_present(value(row, "fastest")))
      c.first = c.options.back();
  }
  return c;
}

// All that the charts of a page show.
struct contents_of_page {
  std::vector<chosen_chart> charts;
  std::map<std::string_view, chart_rows> tables;
  std::vector<choice> choices;
  bool several;  // results

  contents_of_page(std::span<const named_result> all, const plotted_cells& how)
      : charts(choose_charts(all, how)),
        tables{{"cells", cell_rows(all, how)},     {"samples", sample_rows(all)},
               {"agreement", agreement_rows(all)}, {"roofs", roof_rows(all)},
               {"errors", error_rows(all)},        {"space", space_rows(all)}},
        several(distinct(tables.at("cells"), "result").size() > 1) {
    chart_rows timed = tables.at("cells");
    std::erase_if(timed, [](const chart_row& row) { return !is_present(value(row, "rate")); });
    choices = {{"problem", "problem", distinct(timed, "problem"), first_problem(timed)},
               {"sweep", "of", distinct(timed, "sweep"), ""},
               {"map", "result", distinct(tables.at("errors"), "map"), ""},
               {"space", "tuned", distinct(tables.at("space"), "space"), ""},
               cell_choice(timed)};
    for (choice& c : choices)
      if (c.first.empty() && !c.options.empty()) c.first = c.options.front();
  }

  const std::string& first_of(std::string_view name) const {
    return std::ranges::find(choices, name, &choice::name)->first;
  }
};

const kind& kind_of(const chosen_chart& c) { return *std::ranges::find(kKinds, c.id, &kind::id); }

// A chart's rows before its reader chooses: indices in its table, in drawing order.
std::vector<std::size_t> rows_of(const chosen_chart& c, const chart_rows& table) {
  const kind& k = kind_of(c);
  const std::string result = c.result ? json(*c.result) : "";
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto has = [&](std::string_view name) { return is_present(value(table[i], name)); };
    if (std::ranges::all_of(k.needs, has) && (!c.result || value(table[i], "result") == result))
      found.push_back(i);
  }
  if (k.others_behind)
    std::ranges::stable_partition(
        found, [&](std::size_t i) { return value(table[i], "tone") == "\"other\""; });
  return found;
}

// The rows that a chart shows at first.
chart_rows first_rows(const chosen_chart& c, const contents_of_page& page) {
  const chart_rows& table = page.tables.at(kind_of(c).table);
  chart_rows found;
  for (const std::size_t i : rows_of(c, table)) {
    if (std::ranges::all_of(kind_of(c).picks, [&](std::string_view pick) {
          return pick == "variants" ? is_present(value(table[i], "fastest"))
                                    : value(table[i], pick) == page.first_of(pick);
        }))
      found.push_back(table[i]);
  }
  return found;
}

// A part of charts.json, whose names are all that is indented by two spaces.
std::string_view part(std::string_view name) {
  const std::string begin = fmt::format("\n  \"{}\": ", name);
  const std::string_view all = asset("page/charts.json"),
                         text = all.substr(all.find(begin) + begin.size());
  return text.substr(0, std::min(text.find(",\n  \""), text.find("\n}")));
}

// "$name" in a part stands for a value, or for the part that has this name. Where the value is
// empty, the comma after it goes too.
std::string filled_in(std::string text, const std::map<std::string_view, std::string>& values) {
  for (std::size_t at = 0; (at = text.find("\"$", at)) != std::string::npos;) {
    const std::size_t end = text.find('"', at + 1) + 1;
    const std::string name = text.substr(at + 2, end - at - 3);
    const auto known = values.find(name);
    if (known == values.end()) {
      text.replace(at, end - at, part(name));
    } else {
      text.replace(at, end - at + (known->second.empty() ? 2 : 0), known->second);
      at += known->second.size();
    }
  }
  return text;
}

// `rows` and `longest`, where the axis that charts of speed share ends, are JSON.
std::string specification(const chosen_chart& c, const contents_of_page& page,
                          std::string_view rows, const std::string& longest, std::size_t height) {
  chart_rows roofs = page.tables.at("roofs");
  std::erase_if(roofs, [&](const chart_row& row) {
    return !c.result || value(row, "result") != json(*c.result);
  });
  const std::string own =
      filled_in(std::string(part(c.id)),
                {{"axis", json(c.axis)},
                 {"longest", longest},
                 {"legend", page.several ? R"({"orient": "bottom", "columns": 1})" : "null"},
                 {"of_result", page.several ? R"({"field": "result"})" : ""}});
  return fmt::format(
      R"({{"$schema":"https://vega.github.io/schema/vega-lite/v6.json","width":"container",{})"
      R"("autosize":{{"type":"fit-x","contains":"padding"}},"description":{},"config":{},)"
      R"("data":{{"name":"rows"}},"datasets":{{"rows":{},"roofs":{}}},{})",
      height > 0 ? fmt::format("\"height\":{},", height) : "", json(c.title + ". " + c.note),
      part("config"), rows, list(c.id == "roofline" ? roofs : chart_rows(), object), own.substr(1));
}

// "speed", then "speed-1", …
std::string numbered(const std::string& id, std::map<std::string, int>& known) {
  const int number = known[id]++;
  return number == 0 ? id : fmt::format("{}-{}", id, number);
}

std::string table_json(const chart_rows& rows) {
  if (rows.empty()) return R"({"names":[],"rows":[]})";
  return fmt::format(R"({{"names":{},"rows":{}}})",
                     list(rows.front(), [](const auto& field) { return json(field.first); }),
                     list(rows, [](const chart_row& row) {
                       return list(row, [](const auto& field) { return field.second; });
                     }));
}

}  // namespace

std::string chart_data(std::span<const named_result> all) {
  const contents_of_page page(all, plot(all));
  if (page.charts.empty()) return "";
  std::map<std::string, int> known;
  const auto chart = [&](const chosen_chart& c) {
    const kind& k = kind_of(c);
    const chart_rows& table = page.tables.at(k.table);
    const std::vector<std::size_t> rows = rows_of(c, table);
    return fmt::format(
        R"({{"id":"{}","name":"{}","title":{},"note":{},"room":"{}","data":"{}","pick":{},"step":{},)"
        R"("rows":{},"spec":{}}})",
        c.id, numbered(c.id, known), json(c.title), json(c.note), k.half ? "half" : "", k.table,
        list(k.picks), k.step > 0 ? fmt::format("[\"{}\",{}]", k.step_of, k.step) : "null",
        rows.size() == table.size() && !k.others_behind
            ? "null"
            : list(rows, [](std::size_t i) { return std::to_string(i); }),
        specification(c, page, "[]", "null", 0));
  };
  const auto choice_json = [](const choice& c) {
    return fmt::format(R"({{"name":"{}","label":"{}","options":{},"words":{},"first":{}}})", c.name,
                       c.label, list(c.options), list(c.words.empty() ? c.options : c.words),
                       c.first.empty() ? "null" : c.first);
  };
  std::string tables;
  for (const auto& [name, rows] : page.tables)
    tables += fmt::format("{}\"{}\":{}", tables.empty() ? "" : ",\n", name, table_json(rows));
  return fmt::format("{{\"charts\":{},\n\"choices\":{},\n\"tables\":{{{}}}}}",
                     list(page.charts, chart), list(page.choices, choice_json), tables);
}

std::string chart_specifications(std::span<const named_result> all) {
  const contents_of_page page(all, plot(all));
  std::map<std::string, int> known;
  std::string text;
  for (const chosen_chart& c : page.charts) {
    const chart_rows rows = first_rows(c, page);
    const kind& k = kind_of(c);
    if (rows.empty() || k.table == "samples") continue;
    double longest = 0;
    if (c.id == "speed") {
      chosen_chart of_all = c;
      of_all.result.reset();
      for (const chart_row& row : first_rows(of_all, page))
        longest = std::max(longest, std::stod(value(row, "bar_high")));
    }
    const std::size_t height = std::size_t(k.step) * distinct(rows, k.step_of).size();
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",\n", numbered(c.id, known),
                        specification(c, page, list(rows, object), json(longest), height));
  }
  return '{' + text + "}\n";
}

}  // namespace kzoo::html

#include "checks/candidate.hpp"
#include "core/version.hpp"
#include "input/diagnostics.hpp"
#include "os/text.hpp"
#include "reference/expected_result.hpp"
#include "run/plan.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kzoo::run {

using results::document;

namespace {

bool is_simulated(const plan& p) {
  return std::ranges::any_of(p.plugins, [](const loaded_plugin& plugin) {
    return plugin.record.description && plugin.record.description->simulated();
  });
}

std::vector<std::string> notes_on(const plan& p) {
  std::vector<std::string> notes;
  const auto& e = p.experiment;
  if (!e.intended_device.empty() && p.device.name.find(e.intended_device) == std::string::npos) {
    notes.push_back(fmt::format("this experiment is written for {}; the device here is {}",
                                e.intended_device, p.device.name));
  }
  for (const loaded_plugin& plugin : p.plugins) {
    for (const auto& file : plugin.shadowed)
      notes.push_back(fmt::format("{} is used; {}, which has the same name, is not",
                                  plugin.record.file.string(), file.string()));
  }
  const auto is_baseline = [&](const loaded_plugin& plugin) {
    return plugin.client && std::ranges::any_of(plugin.variants, [&](const selected_variant& v) {
             return e.is_baseline(plugin.record.name, v.description.id);
           });
  };
  if (e.baseline && std::ranges::none_of(p.plugins, is_baseline)) {
    notes.push_back(
        fmt::format("no comparison with the baseline {}: it does not run here", e.baseline->text));
  }
  for (const problem& q : e.problems) {
    const std::int64_t rows = reference::expected_result::rows_of(q);
    if (rows == q.all_rows()) continue;
    notes.push_back(fmt::format(
        "{} is too large to compare every element: {} of {} rows are compared, and all of C is "
        "checked exactly with integer inputs (Freivalds)",
        problem_name(q), rows, q.all_rows()));
  }
  if (p.peaks && e.verify.impossible_time == results::impossible_time::report) {
    notes.push_back(
        "[verify] impossible_time = \"report\": times below the roofline floor count too");
  }
  if (const std::string note = long_simulation(p); !note.empty()) notes.push_back(note);
  if (is_simulated(p) && e.timing.enabled) {
    notes.push_back(
        "the kernels of the simulator take as long as their simulation, which says nothing about a GPU "
        "(--simulator-times)");
  }
  return notes;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

std::string long_simulation(const plan& p) {
  const auto& all = p.experiment.problems;
  const auto is_long = [](const problem& q) { return q.flops() > checks::kLongSimulation; };
  const auto found = is_simulated(p) ? std::ranges::find_if(all, is_long) : all.end();
  return found == all.end() ? ""
                            : fmt::format(
                                  "{} can take the simulator hours: choose smaller problems, "
                                  "or a GPU",
                                  problem_name(*found));
}

document head_of(const plan& p) {
  document d;
  d.experiment = p.experiment;
  d.device = p.device;
  for (const results::device& each : p.devices) d.devices.push_back(each.id);
  d.peaks = p.peaks;
  d.version = kVersion;
  d.host = host_name();
  d.invoked = p.invoked;
  d.started = utc_now();
  d.planned = p.cells();
  for (const loaded_plugin& plugin : p.plugins) d.plugins.push_back(plugin.record);
  d.notes = notes_on(p);
  return d;
}

void take_over(results::document& interrupted, const plan& p, results::document& head,
               const std::string& journal) {
  std::map<problem, std::size_t> known;
  for (const problem& q : p.experiment.problems) known.emplace(q, known.size());
  std::vector<kernel_id> kernels;
  for (const loaded_plugin& plugin : p.plugins)
    for (const selected_variant& variant : plugin.variants)
      kernels.push_back({plugin.record.name, variant.description.id});

  std::size_t position = 0, previous = 0;
  for (results::cell& c : interrupted.cells) {
    const problem& q = interrupted.problem_of(c);
    const auto found = known.find(q);
    if (found == known.end()) {
      input::refuse(journal, "has results on {}, which is not in its experiment", problem_name(q));
    }
    position = found->second == previous ? position : 0;
    previous = found->second;
    if (position >= kernels.size() || c.kernel != kernels[position]) {
      input::refuse(journal, "has {} on {} where its experiment has {}", c.kernel.name(),
                    problem_name(q),
                    position < kernels.size() ? kernels[position].name() : "no further kernel");
    }
    ++position;
    c.problem = found->second;
  }
  head.cells = std::move(interrupted.cells);
}

}  // namespace kzoo::run

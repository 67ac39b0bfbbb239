#include "profile/counters.hpp"

#include "os/text.hpp"
#include "storage/parts_json.hpp"
#include "storage/results_json.hpp"
#include "storage/schema.hpp"

#include <boost/tokenizer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <sstream>

namespace kzoo::profile::metric {
namespace {

// Stall reasons as the metrics spell them, without `selected`, with which a warp issues.
constexpr std::array kReasons{"barrier",
                              "branch_resolving",
                              "dispatch_stall",
                              "drain",
                              "gmma",
                              "imc_miss",
                              "lg_throttle",
                              "long_scoreboard",
                              "math_pipe_throttle",
                              "membar",
                              "mio_throttle",
                              "misc",
                              "no_instruction",
                              "not_selected",
                              "short_scoreboard",
                              "sleeping",
                              "tex_throttle",
                              "wait"};

std::string stall_metric(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& stalls() {
  static const auto list = [] {
    std::vector<std::pair<std::string, std::string>> made;
    for (const char* reason : kReasons)
      made.emplace_back(with_spaces(reason), stall_metric(reason));
    return made;
  }();
  return list;
}

std::vector<std::string> all(unsigned compute_capability) {
  std::vector<std::string> names{kTime,
                                 kLoadRequests,
                                 kLoadSectors,
                                 kLoadWavefronts,
                                 kStoreRequests,
                                 kStoreSectors,
                                 kCopyRequests,
                                 kCopySectors,
                                 kSharedWavefronts,
                                 kLoadConflicts,
                                 kStoreConflicts,
                                 kOccupancy,
                                 kFma,
                                 kTensor,
                                 kL1,
                                 kL2,
                                 kDram,
                                 kFfma};
  constexpr unsigned kHopper = 90;  // the first with wgmma
  for (const auto& [words, name] : stalls())
    if (words != "gmma" || compute_capability >= kHopper) names.push_back(name);
  return names;
}

}  // namespace kzoo::profile::metric

namespace kzoo::profile {
namespace {

using row = std::vector<std::string>;

row fields_of(const std::string& line) {
  using separator = boost::escaped_list_separator<char>;
  const boost::tokenizer<separator> fields(line, separator("", ",", "\""));
  return {fields.begin(), fields.end()};
}

// The head of ncu's raw page; the details page has other columns and a row for each metric.
bool is_head(const row& names) {
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  return has("ID") && has("Kernel Name") && !has("Metric Name");
}

// "1,234.5", with commas between thousands.
std::optional<double> metric_in(std::string text) {
  std::erase(text, ',');
  return number_from<double>(text);
}

// "(32, 16, 1)".
std::array<std::uint32_t, 3> extent_in(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream in(text);
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  for (std::uint32_t& side : extent)
    if (std::uint32_t number = 0; in >> number) side = number;
  return extent;
}

// Factor from a time unit to nanoseconds; 1 for other units. Newer versions of ncu use short names.
double scale_of(const std::string& unit) {
  static const std::map<std::string, double, std::less<>> kTimes{
      {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"usecond", 1e3}, {"msecond", 1e6}, {"second", 1e9}};
  const auto known = kTimes.find(unit);
  return known == kTimes.end() ? 1 : known->second;
}

launch read_launch(const row& names, const row& units, const row& values) {
  launch l;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "Kernel Name") {
      l.kernel = values[i];
    } else if (names[i] == "Grid Size") {
      l.grid = extent_in(values[i]);
    } else if (names[i] == "Block Size") {
      l.block = extent_in(values[i]);
    } else if (names[i].find("__") != std::string::npos) {  // part of every metric's name
      if (const auto number = metric_in(values[i]))
        l.metrics[names[i]] = *number * scale_of(i < units.size() ? units[i] : "");
    }
  }
  return l;
}

}  // namespace

std::optional<std::vector<launch>> read_raw_page(const std::string& output) {
  row names, units;
  std::vector<launch> launches;
  for (std::string& line : lines_of(output)) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.starts_with('"')) continue;
    const row fields = fields_of(line);
    if (is_head(fields)) {
      names = fields;
      units.clear();
      launches.clear();  // an earlier table was printed by the plugin
    } else if (names.empty() || fields.size() != names.size()) {
      continue;
    } else if (fields[0].empty()) {
      units = fields;
    } else {
      launches.push_back(read_launch(names, units, fields));
    }
  }
  if (names.empty()) return {};
  return launches;
}

}  // namespace kzoo::profile

namespace kzoo::storage {

void describe(auto& fields, const profile::launch& l) {
  fields(KZOO_MEMBERS(l, kernel, grid, block, metrics));
}

void describe(auto& fields, const profile::profiled& c) {
  const profile::counters found = c.found.value_or(profile::counters());
  fields(KZOO_MEMBERS(c.kernel, plugin, variant), "problem", problem_name(c.problem), "verdict",
         c.found ? "profiled" : name_of(c.verdict), KZOO_MEMBERS(c, reason),
         KZOO_MEMBERS(found, launches, missing, report));
}

void describe(auto& fields, const profile::document& d) {
  fields.schema("kzoo.profile/1");
  fields("runner", this_runner());
  fields.object("ncu", [&](auto& ncu) { ncu("version", d.ncu_version); });
  fields.object("experiment", [&](auto& experiment) { experiment("file", d.experiment); });
  fields(KZOO_MEMBERS(d, device, cells));
}

}  // namespace kzoo::storage

namespace kzoo::profile {

nlohmann::ordered_json schema() { return storage::record_schema(document()); }

std::string to_text(const document& d) { return storage::dumped(storage::to_value(d), 2) + '\n'; }

}  // namespace kzoo::profile

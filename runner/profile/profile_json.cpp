#include "profile/profile_json.hpp"

#include "core/version.hpp"
#include "storage/results_json.hpp"

#include <nlohmann/json.hpp>

namespace kzoo::profile {
namespace {

using json = nlohmann::ordered_json;

json to_json(const launch& l) {
  return {{"kernel", l.kernel}, {"grid", l.grid}, {"block", l.block}, {"metrics", l.metrics}};
}

json to_json(const profiled& c) {
  json j{{"plugin", c.kernel.plugin},
         {"variant", c.kernel.variant},
         {"problem", problem_name(c.problem)},
         {"verdict", c.found ? "profiled" : verdict_name(c.verdict)},
         {"reason", c.reason},
         {"launches", json::array()},
         {"missing", json::array()},
         {"report", ""}};
  if (!c.found) return j;
  for (const launch& l : c.found->launches) j["launches"].push_back(to_json(l));
  j["missing"] = c.found->missing;
  j["report"] = c.found->report;
  return j;
}

}  // namespace

json to_json(const document& d) {
  json cells = json::array();
  for (const profiled& c : d.cells) cells.push_back(to_json(c));
  return {{"schema", "kzoo.profile/1"},           {"runner", {{"version", kVersion}}},
          {"ncu", {{"version", d.ncu_version}}},  {"experiment", {{"file", d.experiment}}},
          {"device", storage::to_json(d.device)}, {"cells", std::move(cells)}};
}

std::string to_text(const document& d) { return storage::dumped(to_json(d), 2) + '\n'; }

}  // namespace kzoo::profile

#include "xray/xray_json.hpp"

#include "core/version.hpp"
#include "os/printable.hpp"
#include "process/command.hpp"
#include "storage/results_json.hpp"
#include "worker/messages_json.hpp"
#include "worker/worker.hpp"
#include "xray/advice.hpp"
#include "xray/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace kzoo::xray {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(analysed_cell, library, variant, problem, most_blocks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(source_frame, file, line, function)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(access_pattern, mask, bytes, passes, offsets)

namespace {

using json = nlohmann::ordered_json;

const char* passes_name(access a) { return is_shared(a) ? "wavefronts" : "sectors"; }

json to_json(access a, const request_counts& c) {
  return {{"requests", c.requests},
          {"lanes", c.lanes},
          {"bytes", c.bytes},
          {passes_name(a), c.passes},
          {"ideal", c.ideal}};
}

json frame_json(const source_frame& f) {
  return {{"file", f.file}, {"line", f.line}, {"function", f.function}};
}

json to_json(const line_counts& l) {
  json called = json::array();
  for (const source_frame& f : l.called) called.push_back(frame_json(f));
  const access_pattern& w = l.worst;
  json j = frame_json(l.where);
  j["called_from"] = std::move(called);
  j["access"] = access_name(l.kind);
  j["bytes_per_lane"] = l.width;
  j["counts"] = to_json(l.kind, l.counts);
  j["advice"] = advice_on(l);
  j["worst"] = {{"mask", w.mask}, {"bytes", w.bytes}, {"passes", w.passes}, {"offsets", w.offsets}};
  return j;
}

json to_json(const finding& f) {
  return {{"what", f.what},
          {"where", frame_json(f.where)},
          {"earlier", frame_json(f.earlier)},
          {"first", f.detail},
          {"count", f.count},
          {"advice", f.advice}};
}

json to_json(const launch& l) {
  json j{{"kernel", l.kernel},
         {"grid", l.grid},
         {"block", l.block},
         {"blocks", l.blocks},
         {"blocks_run", l.blocks_run},
         {"barriers", l.barriers},
         {"uncounted", l.uncounted},
         {"totals", json::object()},
         {"lines", json::array()},
         {"findings", json::array()},
         {"error", l.error}};
  for (const access a : kAccesses) {
    if (const request_counts sum = l.total(a); sum.requests != 0)
      j["totals"][access_name(a)] = to_json(a, sum);
  }
  for (const line_counts& line : l.lines) j["lines"].push_back(to_json(line));
  for (const finding& f : l.findings) j["findings"].push_back(to_json(f));
  return j;
}

json to_json(const std::vector<launch>& launches) {
  json j = json::array();
  for (const launch& l : launches) j.push_back(to_json(l));
  return j;
}

json to_json(const analysed& c) {
  return {{"plugin", c.kernel.plugin},
          {"variant", c.kernel.variant},
          {"problem", problem_name(c.problem)},
          {"verdict", c.found ? "analysed" : verdict_name(c.verdict)},
          {"reason", c.reason},
          {"launches", c.found ? to_json(*c.found) : json::array()}};
}

line_counts line_from(const nlohmann::json& j) {
  line_counts l;
  l.where = j.get<source_frame>();
  l.called = j.at("called_from").get<std::vector<source_frame>>();
  const auto name = j.at("access").get<std::string>();
  for (const access a : kAccesses)
    if (name == access_name(a)) l.kind = a;
  l.width = j.at("bytes_per_lane");
  const auto& c = j.at("counts");
  l.counts = {c.at("requests"), c.at("lanes"), c.at("bytes"), c.at(passes_name(l.kind)),
              c.at("ideal")};
  l.worst = j.at("worst").get<access_pattern>();
  return l;
}

launch launch_from(const nlohmann::json& j) {
  launch l;
  l.kernel = j.at("kernel");
  l.grid = j.at("grid");
  l.block = j.at("block");
  l.blocks = j.at("blocks");
  l.blocks_run = j.at("blocks_run");
  l.barriers = j.at("barriers");
  l.uncounted = j.at("uncounted");
  l.error = j.at("error");
  for (const auto& line : j.at("lines")) l.lines.push_back(line_from(line));
  for (const auto& f : j.at("findings")) {
    l.findings.push_back({f.at("what"), f.at("advice"), f.at("first"),
                          f.at("where").get<source_frame>(), f.at("earlier").get<source_frame>(),
                          f.at("count")});
  }
  return l;
}

// Starts the last line that the process prints; the rest of it is a reply.
constexpr std::string_view kMark = "kernel-zoo analysed: ";

// On a new line, since the plugin's output may not end with a line break.
void reply(const json& j) {
  fmt::print("\n{}{}\n", kMark, storage::dumped(j, -1));
  std::fflush(stdout);
}

json refusal_json(verdict v, const std::string& reason) {
  return {{"verdict", verdict_name(v)}, {"reason", reason}};
}

std::vector<launch> launches_in(const std::string& reply) {
  const auto j = nlohmann::json::parse(reply);
  if (j.contains("verdict")) {
    for (const verdict v : kVerdicts)
      if (j.at("verdict") == verdict_name(v))
        throw failure(v, printable(j.at("reason").get<std::string>()));
  }
  std::vector<launch> launches;
  for (const auto& l : j.at("launches")) launches.push_back(launch_from(l));
  return launches;
}

}  // namespace

int analysed_main(std::string_view cell) {
  worker::set_limits();
  try {
    reply({{"launches", to_json(analyse_here(nlohmann::json::parse(cell).get<analysed_cell>()))}});
    return 0;
  } catch (const failure& f) {
    reply(refusal_json(f.verdict, f.what()));
  } catch (const std::exception& e) {
    reply(refusal_json(verdict::error, e.what()));
  }
  return 1;
}

std::vector<launch> analyse(const analysed_cell& cell, double timeout_seconds) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const process::command_result ran = process::run_command(
      {self, std::string(kAnalysedCommand), nlohmann::json(cell).dump()}, {}, timeout_seconds);
  if (ran.hung) {
    throw failure(verdict::hung,
                  fmt::format("the analysis did not end within {:g} s, killed; choose a smaller "
                              "problem with --sizes",
                              timeout_seconds));
  }
  const auto mark = ran.output.rfind(kMark);
  if (mark == std::string::npos) {
    throw failure(verdict::crashed, fmt::format("the process ended with code {} before the run "
                                                "was over",
                                                ran.code));
  }
  const auto start = mark + kMark.size();
  try {
    return launches_in(ran.output.substr(start, ran.output.find('\n', start) - start));
  } catch (const nlohmann::json::exception&) {
    throw failure(verdict::error, "the process has printed something else than its result");
  }
}

std::string to_text(const document& d) {
  json cells = json::array();
  for (const analysed& c : d.cells) cells.push_back(to_json(c));
  const json j{{"schema", "kzoo.xray/1"},
               {"runner", {{"version", kVersion}}},
               {"experiment", {{"file", d.experiment}}},
               {"cells", std::move(cells)}};
  return storage::dumped(j, 2) + '\n';
}

}  // namespace kzoo::xray

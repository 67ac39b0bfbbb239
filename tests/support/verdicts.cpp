#include "support/verdicts.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

namespace kzoo::test {

run_result run_hostile(const std::string& arguments, const std::string& setting) {
  return runner(arguments + " --plugin-dir " + shell_word(hostile_folder()), setting);
}

void check_cell(const nlohmann::json& cell, const std::string& verdict,
                const std::vector<const char*>& reason) {
  INFO(cell.dump(1));
  CHECK(cell.at("verdict") == verdict);
  for (const char* words : reason)
    CHECK_THAT(cell.at("reason").get<std::string>(), ContainsSubstring(words));
}

void check_each(const std::vector<expectation>& table, const std::string& device,
                const std::string& problem, const std::string& verify) {
  const scratch_folder folder;
  const bool has_epilogue = problem.find("epilogue") != std::string::npos;
  const std::string honest = has_epilogue ? "fused" : "every_type";
  std::string plugins = fmt::format("'{}:naive'", honest);
  for (const expectation& e : table) plugins += fmt::format(", '{}'", e.kernel);
  const auto file = folder.write(
      "hostile.toml",
      fmt::format("plugins = [{}, '{}:smem']\n[problem]\n{}\n"
                  "[timing]\nwarmup = 1\nrounds = 1\nmin_samples = 4\nmax_seconds = 0.1\n"
                  "[verify]\n{}\n",
                  plugins, honest, problem, verify));
  const auto ran = run_hostile(fmt::format("{} --device {} --json -", file, device));
  INFO(device << "\n" << ran.err);
  REQUIRE(ran.code == 1);
  std::map<std::string, std::vector<nlohmann::json>> cells;
  const auto results = ran.json();
  for (const auto& cell : results.at("cells")) {
    const auto plugin = cell.at("plugin").get<std::string>();
    const auto variant = cell.at("variant").get<std::string>();
    cells[variant.empty() ? plugin : plugin + ":" + variant].push_back(cell);
  }
  for (const std::string& neighbour : {honest + ":naive", honest + ":smem"}) {
    REQUIRE_FALSE(cells[neighbour].empty());
    for (const auto& cell : cells[neighbour]) check_cell(cell, "pass", {});
  }
  for (const expectation& e : table) {
    INFO(e.kernel);
    REQUIRE_FALSE(cells[e.kernel].empty());
    for (const auto& cell : cells[e.kernel]) {
      check_cell(cell, e.verdict, {});
      CHECK(cell.at("time").is_null() == (cell.at("verdict") != "pass"));
      CHECK(cell.at("gflops").is_null() == (cell.at("verdict") != "pass"));
    }
    check_cell(cells[e.kernel].front(), e.verdict, e.reason);
  }
}

run_result run_plugins(const scratch_folder& folder, const std::string& plugins,
                       const std::string& sizes, const std::string& timing,
                       const std::string& device, const std::string& environment) {
  const auto file = folder.write(
      "hostile.toml", fmt::format("plugins = [{}]\n[problem]\nsizes = [{}]\n[timing]\n{}\n",
                                  plugins, sizes, timing));
  return run_hostile(fmt::format("{} --device {} --json - --no-journal", file, device),
                     environment);
}

void check_refused(const std::string& arguments, const std::vector<std::string>& words,
                   const std::string& setting) {
  const auto ran = runner(arguments, setting);
  INFO(arguments << "\n-> " << ran.code << "\n" << ran.out << ran.err);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  for (const std::string& word : words) CHECK_THAT(ran.err, ContainsSubstring(word));
}

}  // namespace kzoo::test

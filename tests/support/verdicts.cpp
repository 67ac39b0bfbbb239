#include "support/verdicts.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

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

namespace {

// Kernels that are right for the problem, to run around the hostile kernels. A simulated block with
// barriers takes long in all checks of tier full.
std::vector<std::string> honest_for(const std::string& problem, const std::string& verify) {
  const auto has = [&](const char* key) { return problem.find(key) != std::string::npos; };
  if (has("scale_block")) return {"scaled:naive", "scaled:naive"};
  if (has("dtype = 'f16'")) return {"every_type:naive", "every_type:naive"};
  const std::string plugin = has("epilogue") ? "fused" : has("groups") ? "grouped" : "every_type";
  const bool is_full = verify.find("full") != std::string::npos;
  return {plugin + ":naive", plugin + (is_full ? ":naive" : ":smem")};
}

}  // namespace

void check_each(const std::vector<expectation>& table, const std::string& device,
                const std::string& problem, const std::string& verify) {
  const scratch_folder folder;
  const std::vector<std::string> honest = honest_for(problem, verify);
  std::string plugins = fmt::format("'{}'", honest.front());
  for (const expectation& e : table) plugins += fmt::format(", '{}'", e.kernel);
  const auto file = folder.write(
      "hostile.toml",
      fmt::format("plugins = [{}, '{}']\n[problem]\n{}\n"
                  "[timing]\nwarmup = 1\nrounds = 1\nmin_samples = 4\nmax_seconds = 0.1\n"
                  "[verify]\n{}\n",
                  plugins, honest.back(), problem, verify));
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
  for (const std::string& neighbour : honest) {
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

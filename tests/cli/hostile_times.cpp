// Plugins that try to be timed for less than they take. Their times are compared, so that this runs
// alone.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

using namespace kzoo::test;

namespace {

// Of kernels that try to be timed for less than they do: right, and no faster than an honest one.
void check_gains_nothing(const nlohmann::json& cells, const std::set<std::string>& variants) {
  std::map<std::string, nlohmann::json> by_variant;
  for (const auto& cell : cells)
    if (cell.at("verdict") != "unsupported") by_variant[cell.at("variant")] = cell;
  const auto median_ms = [](const nlohmann::json& cell) {
    return cell.at("time").at("median_ms").get<double>();
  };
  for (const std::string& name : variants) {
    INFO(name << " " << by_variant[name].dump(1));
    REQUIRE(by_variant[name].at("verdict") == "pass");
    CHECK(median_ms(by_variant[name]) > 0.5 * median_ms(by_variant["honest"]));
  }
}

}  // namespace

TEST_CASE("work ahead of a call gains nothing", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, "'ahead:honest', 'ahead:in_thread', 'ahead:in_fault'", "160",
                               "rounds = 3", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  check_gains_nothing(ran.json().at("cells"), {"in_thread", "in_fault"});
}

TEST_CASE("a result that is kept and corrected is wrong when it is timed", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder,
                               "'native:honest', 'native:replays_signs', "
                               "'native:replays_signs_blindly', 'native:skips_after_unseen', "
                               "'native:learns_late', 'native:remembers_in_create'",
                               "96", "rounds = 6\nmin_samples = 20", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  std::map<std::string, nlohmann::json> cells;
  for (const auto& cell : ran.json().at("cells")) cells[cell.at("variant")] = cell;
  REQUIRE(cells.size() == 6);
  const auto ms = [&](const char* name) {
    return cells[name].at("time").at("median_ms").get<double>();
  };
  // One that computes whenever the numbers are others computes each time.
  for (const char* name : {"honest", "replays_signs"}) CHECK(cells[name].at("verdict") == "pass");
  CHECK(ms("replays_signs") > 0.5 * ms("honest"));
  for (const char* name : {"learns_late", "remembers_in_create", "replays_signs_blindly"}) {
    check_cell(cells[name], "wrong", {"wrong when it ", "a result kept from an earlier call?"});
    CHECK(cells[name].at("time").is_null());
  }
  check_cell(cells["skips_after_unseen"], "wrong", {"wrong when it ", "wrote nothing"});
}

TEST_CASE("a kernel that keeps C gains nothing without pauses", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran =
      run_plugins(folder, "'native:honest', 'native:keeps_c', 'native:skips_in_batches'", "96",
                  "power = 'both'\nmax_seconds = 0.1", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto cells = ran.json().at("cells");
  const auto& sustained = cells.at(0).at("sustained");
  CHECK(sustained.at("time").at("rounds").size() == 3);
  CHECK(sustained.at("watts").is_null());
  CHECK(sustained.at("no_energy") == "the device is not a GPU");
  const auto sustained_ms = [&](std::size_t i) {
    return cells.at(i).at("sustained").at("time").at("median_ms").get<double>();
  };
  for (const std::size_t i : {1, 2}) CHECK(sustained_ms(i) > 0.5 * sustained_ms(0));
}

TEST_CASE("work in a signal handler is no way around the clock", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(
      folder, "'native:honest', 'native:works_before_clock', 'native:works_after_clock'", "64",
      "rounds = 3", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  check_gains_nothing(ran.json().at("cells"), {"works_before_clock"});
  for (const auto& cell : ran.json().at("cells"))
    if (cell.at("variant") == "works_after_clock")
      check_cell(cell, "wrong", {"the kernel wrote nothing"});
}

TEST_CASE("a worker's clock tells nothing", "[cli][hostile]") {
  const auto ran = run_hostile(
      "quick --device cpu --plugins native:honest,native:slows_clock,native:patches_clock "
      "--sizes 128 --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  check_gains_nothing(ran.json().at("cells"), {"slows_clock", "patches_clock"});
}

// End-to-end times, with allocation and copies: [timing] end_to_end.
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

using kzoo::test::check_cell;
using kzoo::test::ContainsSubstring;
using kzoo::test::run_hostile;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

namespace {

std::string experiment_in(const scratch_folder& folder, const std::string& plugins) {
  return folder.write("whole.toml",
                      "plugins = [" + plugins +
                          "]\n[problem]\nsizes = [64]\nbeta = [0, 1.5]\npadding = 3\n"
                          "[timing]\nrounds = 3\nmin_samples = 3\nend_to_end = true\n");
}

void check_parts(const nlohmann::json& results, std::size_t cells) {
  CHECK(results.at("experiment").at("timing").at("end_to_end") == true);
  REQUIRE(results.at("cells").size() == cells);
  for (const auto& cell : results.at("cells")) {
    INFO(cell.dump(1));
    CHECK(cell.at("verdict") == "pass");
    const auto& whole = cell.at("end_to_end");
    double sum = 0;
    for (const char* part : {"allocate_ms", "to_device_ms", "kernel_ms", "to_host_ms"}) {
      CHECK(whole.at(part).get<double>() > 0);
      sum += whole.at(part).get<double>();
    }
    CHECK(whole.at("total_ms").get<double>() == sum);
  }
}

}  // namespace

TEST_CASE("each phase of an end-to-end run is timed", "[cli]") {
  const scratch_folder folder;
  const std::string file = experiment_in(folder, "'naive:8x8', 'serial:ikj'");
  const auto ran = runner(file + " --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  check_parts(ran.json(), 4);
  CHECK_THAT(ran.err, ContainsSubstring("end to end  allocate  to device"));
}

TEST_CASE("end-to-end times are only measured on request", "[cli]") {
  const auto ran = runner("quick --device cpu --sizes 16 --plugins serial:ikj --json -");
  REQUIRE(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) CHECK_FALSE(cell.contains("end_to_end"));
}

// The variant always writes to the C of its first call: caught even where the allocator gives the
// memory of one end-to-end run to the next.
TEST_CASE("the C that is copied back is judged", "[cli][hostile]") {
  const scratch_folder folder;
  const std::string file = experiment_in(folder, "'state:keeps_c'");
  const auto ran = run_hostile(file + " --device cpu --json -");
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    check_cell(cell, "wrong", {"wrong in memory that was just allocated: "});
    CHECK_FALSE(cell.contains("end_to_end"));
    CHECK(cell.at("time").is_null());
  }
}

TEST_CASE("a result that is replayed at other addresses is wrong end to end", "[cli]") {
  const scratch_folder folder;
  const auto ran =
      run_hostile(experiment_in(folder, "'native:honest', 'native:replays_elsewhere'") +
                  " --device cpu --json -");
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    if (cell.at("variant") == "honest")
      CHECK(cell.at("verdict") == "pass");
    else
      check_cell(cell, "wrong", {"wrong in memory that was just allocated: "});
  }
}

TEST_CASE("end-to-end times are measured on a GPU, too", "[cli][.gpu]") {
  kzoo::test::needs_gpu();
  const scratch_folder folder;
  const auto ran =
      runner(experiment_in(folder, "'naive:32x32', 'cublas:fp32'") + " --device cuda --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  check_parts(ran.json(), 4);
}

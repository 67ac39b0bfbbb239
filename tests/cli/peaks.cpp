// Measured peaks of a device, and times beyond them.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

using kzoo::test::check_refused;
using kzoo::test::ContainsSubstring;
using kzoo::test::hostile_folder;
using kzoo::test::runner;
using kzoo::test::scratch_folder;
using kzoo::test::shell_word;

namespace fs = std::filesystem;

namespace {

std::string stored_in(const fs::path& folder) { return "KZOO_PEAKS='" + folder.string() + "'"; }

// Changes the fp32 peak in the stored file.
void set_fp32(const fs::path& folder, double rate) {
  const fs::path file = fs::directory_iterator(folder)->path();
  auto j = nlohmann::ordered_json::parse(kzoo::test::read_text(file));
  for (auto& c : j.at("peaks")) {
    if (c.at("resource") == "fp32") c["best"]["rate"] = rate;
  }
  std::ofstream(file) << j;
}

// One thread: several that wait for each other take 50 times as long on a machine that is busy.
std::string experiment(const scratch_folder& folder, const std::string& verify) {
  return folder.write("e.toml",
                      "plugins = ['serial:ijk', 'openblas:sgemm_1thread', 'smem:16x16']\n"
                      "[problem]\nsizes = ['64x64x4096']\n[timing]\nrounds = 3\nmin_samples = 3\n"
                      "[verify]\n" +
                          verify);
}

}  // namespace

TEST_CASE("peaks are measured, stored, shown, and bound the times", "[cli]") {
  const scratch_folder folder;
  const std::string here = stored_in(folder.path());
  const auto before = runner("devices --device cpu", here);
  CHECK(before.code == 0);
  CHECK_THAT(before.out, ContainsSubstring("not measured: runner devices --measure --device cpu"));

  const auto measured = runner("devices --measure --device cpu", here);
  INFO(measured.err);
  REQUIRE(measured.code == 0);
  CHECK_THAT(measured.err, ContainsSubstring("measuring fp32 on cpu"));
  CHECK(runner("devices --device cpu", here).out == measured.out);

  const auto j = runner("devices --device cpu --json", here).json();
  CHECK(j.at("schema") == "kzoo.devices/1");
  std::set<std::string> resources;
  for (const auto& c : j.at("devices").at(0).at("peaks").at("peaks")) {
    INFO(c.dump(1));
    resources.insert(c.at("resource"));
    CHECK(c.at("samples").size() >= 20);
    // Bounds that hold for any processor.
    const double best = c.at("best").at("rate").get<double>();
    CHECK(best > 1e7);
    CHECK(best < 1e15);
    for (const auto& s : c.at("samples")) CHECK(s.at("rate").get<double>() <= best);
  }
  CHECK(resources == std::set<std::string>{"copy", "fp32", "fp64", "int32"});

  // As if the peak lay between a simple loop and a fast library.
  set_fp32(folder.path(), 5e9);
  const scratch_folder work;
  const std::string run = " --device cpu --json - --plugin-dir " + shell_word(hostile_folder());
  const auto refused = runner(experiment(work, "") + run, here);
  INFO(refused.err);
  CHECK(refused.code == 1);
  const auto results = refused.json();
  CHECK(results.at("peaks").at("measured") == j.at("devices").at(0).at("peaks").at("measured"));
  const auto& cells = results.at("cells");
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].at("plugin") == "serial");
  CHECK(cells[0].at("verdict") == "pass");
  CHECK(cells[0].at("share_of_peak").get<double>() < 1);
  CHECK(cells[1].at("verdict") == "impossible time");
  CHECK(cells[1].at("time").is_null());
  CHECK(cells[1].at("gflops").is_null());
  CHECK_THAT(cells[1].at("reason").get<std::string>(),
             ContainsSubstring("is less than the 6.71 ms that 33.6 MFLOP at the measured 5.00 "
                               "GFLOP/s"));
  CHECK(cells[2].at("verdict") == "pass");  // a simulator has no peak
  CHECK(cells[2].at("share_of_peak").is_null());
  CHECK_THAT(refused.err, ContainsSubstring("FAILED: 2 pass, 1 impossible time") &&
                              ContainsSubstring("roofline floor of fp32: 6.71 ms"));

  const auto reported = runner(experiment(work, "impossible_time = 'report'\n") + run, here);
  CHECK(reported.code == 0);
  const auto shown = reported.json();
  CHECK(shown.at("cells").at(1).at("verdict") == "pass");
  CHECK(shown.at("cells").at(1).at("share_of_peak").get<double>() > 1);
  CHECK_THAT(shown.at("notes").dump(), ContainsSubstring("below the roofline floor"));

  const fs::path file = fs::directory_iterator(folder.path())->path();
  std::ofstream(file) << "{}";
  check_refused("quick --device cpu --sizes 8 --plugins serial",
                {file.string() + ": error: the key \"schema\" is missing", "or remove it"}, here);
}

TEST_CASE("peaks of a missing device cannot be measured", "[cli]") {
  CHECK(runner("devices --measure --device gpu").code == 2);
  CHECK(runner("devices --measure --device cuda:1000").code == 3);
}

TEST_CASE("no kernel exceeds the measured peaks of a GPU", "[cli][.gpu]") {
  kzoo::test::needs_gpu();
  const scratch_folder folder;
  const std::string here = stored_in(folder.path());
  const auto measured = runner("devices --measure --device cuda --json", here);
  INFO(measured.err);
  REQUIRE(measured.code == 0);
  std::map<std::string, double> rates;
  const auto j = measured.json();
  for (const auto& c : j.at("devices").at(0).at("peaks").at("peaks")) {
    rates[c.at("resource")] = c.at("best").at("rate").get<double>();
    CHECK(c.at("best").at("clock_mhz").get<double>() > 100);
  }
  const auto spread = j.at("devices").at(0).at("peaks").at("process_to_process");
  CHECK(spread.at("ms").get<double>() < 0.01);
  CHECK(spread.at("share").get<double>() < 0.05);
  CHECK(rates.at("fp32") > 1e12);
  CHECK(rates.at("l2_read") > rates.at("read"));
  if (rates.contains("fp16")) CHECK(rates.at("fp16") > 1.5 * rates.at("tf32"));
  const auto ran = runner(
      "quick --device cuda --sizes 4096 --plugins cublas,pipelined,wmma_every_type --json -", here);
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    if (cell.at("verdict") != "unsupported") CHECK(cell.at("verdict") == "pass");
  }

  // As if something else had been running when it was measured.
  set_fp32(folder.path(), rates.at("fp32") / 3);
  const auto raised =
      runner("quick --device cuda --sizes 4096 --plugins cublas:fp32 --json -", here);
  INFO(raised.err);
  CHECK(raised.code == 0);
  CHECK_THAT(raised.err, ContainsSubstring("fp32 on cuda:0 reaches"));
  CHECK_THAT(runner("quick --device cuda --sizes 64 --plugins cublas:fp32", here).err,
             !ContainsSubstring("reaches"));  // it is stored
}

TEST_CASE("a run on a GPU measures the peaks that it needs", "[cli][.gpu]") {
  kzoo::test::needs_gpu();
  const scratch_folder folder;
  const auto run = [&](const std::string& kernel, const std::string& type, const fs::path& place) {
    const auto file =
        folder.write("e.toml", "plugins = ['" + kernel + "']\n[problem]\nsizes = [64]\ndtype = '" +
                                   type + "'\n");
    const auto ran = runner(file + " --device cuda", stored_in(place));
    CHECK(ran.code == 0);
    return ran.err;
  };
  const fs::path place = folder.path() / "place";
  const std::string first = run("naive:16x16", "f32", place);
  CHECK_THAT(first, ContainsSubstring("measuring fp32") && ContainsSubstring("measuring copy") &&
                        !ContainsSubstring("measuring bf16"));
  const std::string second = run("cublas:bf16", "bf16", place);
  CHECK_THAT(second, ContainsSubstring("measuring bf16") && !ContainsSubstring("measuring copy") &&
                         !ContainsSubstring("processes"));
  CHECK_THAT(run("naive:16x16", "f32", place), !ContainsSubstring("measur"));
  // A place that cannot be made.
  CHECK_THAT(run("naive:16x16", "f32", folder.write("file", "") + "/below"),
             ContainsSubstring("warning:") && ContainsSubstring("measures the peaks again"));
}

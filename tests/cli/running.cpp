// Experiments that succeed.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process_log.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

using namespace kzoo::test;

namespace {

constexpr const char* kSmallRun =
    " --device cpu --sizes 16,7x9x5 --plugins naive:8x8,smem:*,serial ";

}  // namespace

TEST_CASE("layouts, types, scales and fills are stored, reported and run again", "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "new.toml",
      "plugins = ['serial:ijk', 'every_type:naive']\n[[problem]]\nsizes = [20]\ndtype = 'bf16->f32'\n"
      "[[problem]]\nsizes = [20]\ndtype = 'e4m3*e5m2->bf16'\nscale_a = 0.5\nscale_b = 3\n"
      "fill = 'sparse:0.5'\n[timing]\nrounds = 5\nmin_samples = 5\nmax_seconds = 0.01\n"
      "[pivot]\nrows = 'kernel'\ncolumns = 'layout'\nvalue = 'ms'\n");
  const auto stored = (folder.path() / "r.json").string();
  const auto ran = runner(file + " --device cpu --layouts nt,tt --json " + stored);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("20x20x20 bf16->f32: time by kernel and layout"));
  const auto csv = runner("report " + stored + " --csv").out;
  CHECK_THAT(
      csv, ContainsSubstring("20,20,20,bf16->f32,nt,1,0,none,1,0,,1,1,,,0,,0,uniform,1,bf16,pass"));
  CHECK_THAT(csv, ContainsSubstring(
                      "e4m3*e5m2->bf16,tt,1,0,none,1,0,,0.5,3,,,0,,0,sparse:0.5,1,fp32,pass"));
  const auto md = runner("report " + stored + " --md").out;
  CHECK_THAT(md, ContainsSubstring("fill=sparse:0.5"));
  const auto again = runner("rerun " + stored + " --json -");
  INFO(again.err);
  CHECK(again.code == 0);
  const auto cells = again.json().at("cells");
  REQUIRE(cells.size() == 2 * 2 * 2);
  CHECK(cells[0].at("problem").at("layout") == "nt");
  CHECK(cells[7].at("problem").at("layout") == "tt");
  CHECK(again.json().at("experiment").at("overrides").at("layouts").size() == 2);
  const auto compared = runner("compare " + stored + " " + stored);
  CHECK(compared.code == 0);
  CHECK_THAT(compared.out, ContainsSubstring("20x20x20 bf16->f32 tt"));
}

TEST_CASE("wmma_every_type takes every layout, and C in fp32", "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "new.toml",
      "plugins = ['wmma_every_type:128x256x32_64x64']\n[problem]\nsizes = ['33x20x41']\n"
      "layout = ['nn', 'nt', 'tn', 'tt']\ndtype = ['bf16', 'f16->f32']\n");
  const auto ran = runner(file + " --device cpu --no-journal --json -");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const auto cells = ran.json().at("cells");
  REQUIRE(cells.size() == 4 * 2);
  for (const auto& cell : cells) CHECK(cell.at("verdict") == "pass");
}

TEST_CASE("epilogues are stored, reported, compared, run again, timed end to end, analysed",
          "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "new.toml",
      "plugins = ['fused']\n[problem]\nsizes = ['40x33x20']\npadding = 3\nbeta = [0, 0.5]\n"
      "epilogue = ['row_scale + bias:f16 + gelu + residual', 'clamp(-0.5, 1)']\n"
      "[timing]\nrounds = 3\nmin_samples = 3\nmax_seconds = 0.01\nend_to_end = true\n");
  const auto stored = (folder.path() / "r.json").string();
  const auto ran = runner(file + " --device cpu --json " + stored);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(
      runner("report " + stored + " --csv").out,
      ContainsSubstring("40,33,20,f32,nn,1,0,none,1,0.5,\"clamp(-0.5, 1)\",1,1,,,0,,3,uniform,1"));
  const auto again = runner("rerun " + stored + " --json -");
  INFO(again.err);
  CHECK(again.code == 0);
  const auto cells = again.json().at("cells");
  REQUIRE(cells.size() == 2 * 2 * 2);
  for (const auto& cell : cells) {
    CHECK(cell.at("verdict") == "pass");
    CHECK_FALSE(cell.at("end_to_end").is_null());
  }
  CHECK(cells[0].at("problem").at("epilogue") == "row_scale + bias:f16 + gelu + residual");
  const auto compared = runner("compare " + stored + " " + stored);
  CHECK(compared.code == 0);
  CHECK_THAT(compared.out, ContainsSubstring("epilogue=\"clamp(-0.5, 1)\""));
  const auto analysed = runner("xray " + file + " --cell fused:smem");
  CHECK(analysed.code == 0);
}

TEST_CASE("scales of blocks, groups and 4-bit weights are stored, compared, run again, analysed",
          "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "new.toml",
      "plugins = ['scaled', 'grouped:smem', 'weights']\n"
      "[[problem]]\nsizes = ['20x24x40']\ndtype = 'e4m3->bf16'\nlayout = 'nt'\n"
      "scale_block_a = '1x16'\nscale_block_b = '8x16'\n"
      "[[problem]]\nsizes = ['21x24x40']\ngroups = 3\ngroup_rows = 'half_empty'\n"
      "[[problem]]\nsizes = ['22x24x40']\ndtype = 'bf16*i4->bf16'\nlayout = 'nt'\n"
      "scale_block_b = '1x16'\n"
      "[timing]\nrounds = 3\nmin_samples = 3\nmax_seconds = 0.01\nend_to_end = true\n");
  const auto stored = (folder.path() / "r.json").string();
  const auto ran = runner(file + " --device cpu --json " + stored);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(runner("report " + stored + " --csv").out,
             ContainsSubstring("20,24,40,e4m3->bf16,nt,1,0,none,1,0,,1,1,1x16,8x16,0,,0,uniform") &&
                 ContainsSubstring("21,24,40,f32,nn,1,0,none,1,0,,1,1,,,3,half_empty,0,uniform"));
  const auto again = runner("rerun " + stored + " --json -");
  INFO(again.err);
  CHECK(again.code == 0);
  std::map<std::string, int> verdicts;
  for (const auto& cell : again.json().at("cells"))
    ++verdicts[cell.at("verdict").get<std::string>()];
  CHECK(verdicts == std::map<std::string, int>{{"pass", 3}, {"unsupported", 6}});
  CHECK(runner("compare " + stored + " " + stored).code == 0);
  for (const char* cell :
       {"scaled:naive@20x24x40", "grouped:smem@21x24x40", "weights:naive@22x24x40"})
    CHECK(runner("xray " + file + " --cell " + cell).code == 0);
}

TEST_CASE("batches are stored, reported, compared and run again", "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "new.toml",
      "plugins = ['serial:ijk', 'every_type:naive', 'coalesced:8x8']\n[problem]\nsizes = [20]\n"
      "batch_padding = 8\nbatch_shared = 'b'\nbatch = 2\n"
      "[timing]\nrounds = 5\nmin_samples = 5\nmax_seconds = 0.01\n"
      "[pivot]\nrows = 'kernel'\ncolumns = 'batch'\nvalue = 'ms'\n");
  const auto stored = (folder.path() / "r.json").string();
  const auto ran = runner(file + " --device cpu --batches 1,3 --json " + stored);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("time by kernel and batch") &&
                          ContainsSubstring("it computes one product at a time, not a batch"));
  const auto csv = runner("report " + stored + " --csv").out;
  CHECK_THAT(csv,
             ContainsSubstring("20,20,20,f32,nn,1,0,none,1,0,,1,1,,,0,,0,uniform,1,fp32,pass") &&
                 ContainsSubstring("20,20,20,f32,nn,3,8,b,1,0,,1,1,,,0,,0,uniform,1,fp32,pass"));
  CHECK_THAT(runner("report " + stored + " --md").out,
             ContainsSubstring("20x20x20 f32 batch=3 batch_padding=8 batch_shared=b"));
  const auto again = runner("rerun " + stored + " --json -");
  CHECK(again.code == 0);
  const auto cells = again.json().at("cells");
  REQUIRE(cells.size() == 6);
  CHECK(cells[0].at("problem").at("batch") == 1);
  CHECK(cells[3].at("problem").at("batch") == 3);
  CHECK(cells[3].at("problem").at("stride_a") == 20 * 20 + 8);
  CHECK(cells[3].at("problem").at("stride_b") == 0);
  const double flops = 3 * 2 * 20.0 * 20 * 20;
  CHECK(cells[3].at("gflops").get<double>() ==
        Approx(flops / (cells[3].at("time").at("median_ms").get<double>() * 1e6)));
  const auto compared = runner("compare " + stored + " " + stored);
  CHECK(compared.code == 0);
  CHECK_THAT(compared.out, ContainsSubstring("batch=3"));
}

TEST_CASE("the experiment of batches passes", "[cli]") {
  const auto ran = runner("batch --device cpu --no-journal --plugins serial:ijk,openblas:sgemm");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("ok: ") && ContainsSubstring("8x9x10 f64 batch=70"));
}

TEST_CASE("an experiment runs, all pass and all agree", "[cli]") {
  const auto ran = runner(std::string("run experiments/quick.toml") + kSmallRun);
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("naive:8x8"));
  CHECK_THAT(ran.out, ContainsSubstring("Agreement"));
  CHECK_THAT(ran.out, ContainsSubstring("ok: "));
  CHECK(ran.out.find('\x1b') == std::string::npos);  // no terminal codes in a pipe
  CHECK(ran.err.find('\r') == std::string::npos);
}

TEST_CASE("runner FILE means run FILE, and names are looked up under configs", "[cli]") {
  const auto file = GENERATE(as<std::string>{}, "quick", "quick.toml", "experiments/quick",
                             "experiments/quick.toml");
  INFO(file);
  CHECK(runner(file + " --device cpu --sizes 9 --plugins naive:8x8 --quiet").code == 0);
}

TEST_CASE("results are JSON with every cell and every pair", "[cli]") {
  const auto ran = runner(std::string("quick --json -") + kSmallRun);
  REQUIRE(ran.code == 0);
  const auto results = ran.json();
  CHECK(results.at("schema") == "kzoo.results/3");
  CHECK(results.at("device").at("id") == "cpu");
  CHECK(results.at("experiment").at("title") == "Quick look");

  std::set<std::string> problems;
  for (const auto& cell : results.at("cells")) {
    INFO(cell.dump(1));
    CHECK(cell.at("device") == "cpu");
    CHECK(cell.at("verdict") == "pass");
    CHECK(cell.at("reason") == "");
    CHECK(cell.at("accuracy").at("worst_of_allowed").get<double>() <= 1);
    CHECK(cell.at("accuracy").at("rows_checked") == cell.at("problem").at("m"));
    CHECK(cell.at("time").at("median_ms").get<double>() > 0);
    CHECK(cell.at("time").at("samples_ms").size() >= 1);
    CHECK(cell.at("time").at("clock") == (cell.at("plugin") == "serial" ? "cpu" : "simulator"));
    CHECK(cell.at("gflops").get<double>() > 0);
    problems.insert(cell.at("problem").at("name"));
  }
  // 1 + 3 + 2 variants, on two shapes of each of quick.toml's three problems.
  CHECK(problems.size() == 6);
  CHECK(results.at("cells").size() == 6 * problems.size());
  std::string previous;
  CHECK_THAT(ran.err, ContainsSubstring("· 90 of 90 pairs agree ·"));  // 6 * 5 / 2 on each problem
  for (const auto& cell : results.at("cells")) {
    const bool first = cell.at("problem").at("name") != previous;
    previous = cell.at("problem").at("name");
    INFO(cell.dump(1));
    CHECK((cell.contains("same_as") || cell.contains("differs_from")) == !first);
    for (const auto& other : cell.value("differs_from", nlohmann::json::array())) {
      CHECK(other.at("agree") == true);
      CHECK(other.at("max_abs_diff").get<double>() < 1e-4);
    }
  }

  const auto alone = runner("quick --device cpu --sizes 8 --plugins serial:ijk");
  CHECK_THAT(alone.out, ContainsSubstring("ok: ") && !ContainsSubstring("pairs"));
}

TEST_CASE("on a GPU each sample has its clock, each cell its conditions", "[cli][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const std::string file =
      folder.write("clocks.toml", "plugins = 'smem'\nproblem.sizes = [1024]\n");
  const auto ran = runner(file + " --device cuda --json -");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.err, ContainsSubstring(" MHz"));
  for (const auto& cell : ran.json().at("cells")) {
    if (cell.at("verdict") != "pass") continue;
    INFO(cell.dump(1));
    const auto& time = cell.at("time");
    CHECK(time.at("sm_mhz").size() == time.at("samples_ms").size());
    for (const auto& mhz : time.at("sm_mhz")) CHECK(mhz.get<double>() > 100);
    CHECK(cell.at("conditions").at("celsius").get<double>() > 10);
  }
}

TEST_CASE("with JSON in a file, stdout still has the tables", "[cli]") {
  const scratch_folder folder;
  const auto file = (folder.path() / "results.json").string();
  const auto ran = runner("quick --json " + file + kSmallRun);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("Agreement"));
  CHECK(std::filesystem::file_size(file) > 1000);
}

TEST_CASE("--quiet leaves only the closing line", "[cli]") {
  const auto ran = runner(std::string("quick --quiet") + " --device cpu --sizes 5 --plugins smem");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("ok: 9 pass"));
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 1);
  CHECK(ran.err.empty());
}

TEST_CASE("--quiet reports failures, but not declined cells", "[cli]") {
  const scratch_folder folder;
  folder.write("no_plugin.so", "");
  const auto ran = runner(
      "quick --quiet --device cpu --sizes 5 --plugins smem:8x8,wgmma,wrong_results:constant_output,no_plugin "
      "--plugin-dir " +
      folder.path().string() + " --plugin-dir " + shell_word(hostile_folder()));
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("unavailable no_plugin:") &&
                          ContainsSubstring("wrong wrong_results:constant_output") &&
                          ContainsSubstring(" unsupported") &&
                          !ContainsSubstring("unsupported wgmma"));
}

TEST_CASE("where a simulated kernel is wrong, the command that looks for races is named",
          "[cli][hostile]") {
  const scratch_folder folder;  // without an analysed build
  std::filesystem::create_directory(folder.path() / "cpu");
  for (const char* name : {"wrong_results", "native"})
    std::filesystem::copy(hostile_plugin("cpu", name), folder.path() / "cpu");
  const std::string where = " --device cpu --plugin-dir " + folder.path().string();
  const auto said = [&](const std::string& command) { return runner(command + where).out; };
  CHECK_THAT(said("quick --sizes 5 --plugins wrong_results:constant_output"),
             ContainsSubstring("races and uninitialised reads") &&
                 ContainsSubstring("--cell wrong_results:constant_output@5x5x5 --lines"));
  CHECK_THAT(said("validate wrong_results:constant_output"),
             ContainsSubstring(" xray quick --cell wrong_results:constant_output --lines"));
  CHECK_THAT(said("quick --sizes 5 --plugins smem"), !ContainsSubstring("xray"));
  CHECK_THAT(said("quick --sizes 5 --plugins native:wrong_row"), !ContainsSubstring("xray"));
}

TEST_CASE("each turn has its own process if the experiment asks for it", "[cli][hostile]") {
  const scratch_folder folder;
  // The number of processes in which the variant was judged and timed, and its number of turns.
  const auto processes_and_turns = [&](const char* fresh) {
    const process_log runs;
    const auto file = folder.write("turns.toml",
                                   "plugins = ['native:tells_process']\n[problem]\nsizes = [8]\n"
                                   "[timing]\nrounds = 6\nmin_samples = 6\nmax_noise = 1\n"
                                   "warmup = 0\nfresh_processes = " +
                                       std::string(fresh));
    const auto ran = run_hostile(file + " --device cpu --json -");
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    CHECK(ran.json().at("experiment").at("timing").at("fresh_processes") == (fresh[0] == 't'));
    const auto rounds = ran.json().at("cells").at(0).at("time").at("rounds");
    const auto processes = runs.processes();
    return std::pair(std::set(processes.begin(), processes.end()).size(),
                     rounds.get<std::set<int>>().size());
  };
  const auto [one, turns] = processes_and_turns("false");
  CHECK(turns >= 6);
  CHECK(one == 1);
  const auto [fresh, fresh_turns] = processes_and_turns("true");
  CHECK(fresh_turns >= 6);
  // The first one judged it. The worker's clock may need one at the end, if it was not compared
  // yet.
  CHECK(fresh >= 1 + fresh_turns);
  CHECK(fresh <= 2 + fresh_turns);

  check_refused((folder.path() / "turns.toml").string() +
                    " --device cpu --in-process --plugin-dir " + shell_word(hostile_folder()),
                {"--in-process", "fresh_processes"});
}

TEST_CASE("--in-process runs plugins in the runner's own process", "[cli]") {
  const auto ran = runner(std::string("quick --in-process") + kSmallRun);
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("ok: "));
}

TEST_CASE("a plugin dropped into a folder is found, listed, described and run", "[cli]") {
  const scratch_folder folder;
  std::filesystem::copy(plugin_folder("cpu") / "naive.so", folder.path() / "mine.so");
  const std::string there = " --plugin-dir " + folder.path().string();
  CHECK_THAT(runner("list" + there).out, ContainsSubstring("mine"));
  const auto described = runner("describe mine" + there);
  CHECK(described.code == 0);
  CHECK_THAT(described.out, ContainsSubstring((folder.path() / "mine.so").string()));
  CHECK_THAT(described.out, ContainsSubstring("32x32"));
  const auto ran = runner("quick --device cpu --sizes 9 --plugins mine,naive --json -" + there);
  CHECK(ran.code == 0);
  CHECK(ran.json().at("cells").size() == 18);
}

TEST_CASE("list shows every plugin with its variants", "[cli]") {
  const auto listed = runner("list");
  CHECK(listed.code == 0);
  for (const char* word : {"serial", "naive", "coalesced", "smem", "register_tiles", "8x8 16x16"}) {
    CHECK_THAT(listed.out, ContainsSubstring(word));
  }
}

TEST_CASE("devices lists the CPU, and says why there is no GPU", "[cli]") {
  const auto shown = runner("devices", kNoGpu);
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, ContainsSubstring("cpu") && ContainsSubstring("--device cpu"));
}

TEST_CASE("devices lists the GPUs", "[cli][.gpu]") {
  needs_gpu();
  const auto shown = runner("devices");
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out, ContainsSubstring("cpu") && ContainsSubstring("cuda:0"));
}

TEST_CASE("check counts the cells and runs none", "[cli]") {
  const auto checked = runner("check quick --device cpu --sizes 8 --plugins smem");
  CHECK(checked.code == 0);
  CHECK_THAT(checked.out, ContainsSubstring("3 variants of 1 plugin on 3 problems = 9 cells"));
}

TEST_CASE("check says that a library cannot be used, or that nothing would run", "[cli]") {
  const scratch_folder folder;
  folder.write("broken.so", "");
  const std::string there = " --plugin-dir " + folder.path().string();
  const auto none = runner("check quick --device cpu --sizes 8 --plugins broken" + there);
  INFO(none.out << none.err);
  CHECK(none.code == 1);
  CHECK_THAT(none.err, ContainsSubstring("error: 1 library cannot be used; 0 cells are left"));
  CHECK_THAT(none.out, ContainsSubstring("unavailable broken") && !ContainsSubstring(": ok"));
  const auto some = runner("check quick --device cpu --sizes 8 --plugins broken,smem" + there);
  CHECK(some.code == 1);
  CHECK_THAT(some.err, ContainsSubstring("error: 1 library cannot be used; 9 cells are left"));
  const auto cublas = runner("check quick --device cpu --sizes 8 --plugins cublas");
  CHECK(cublas.code == 1);
  CHECK_THAT(cublas.err, ContainsSubstring("error: nothing to run"));
  // On a machine without the device a file for it can be checked all the same.
  CHECK(runner("check quick --device cuda --sizes 8 --plugins cublas", kNoGpu).code == 0);
}

TEST_CASE("published figures are shown only beside results of the same size", "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write("e.toml",
                                 "plugins = ['naive:8x8']\n[problem]\nsizes = [8, 16]\n"
                                 "[published]\nsource = 'a paper'\n"
                                 "[published.ms.'Some GPU']\n'naive:8x8@16' = 123.0\n");
  const auto ran = runner(file + " --device cpu --json -");
  const auto cells = ran.json().at("cells");
  REQUIRE(cells.size() == 2);
  CHECK_FALSE(cells[0].contains("published_ms"));
  CHECK(cells[1].at("published_ms").at("Some GPU") == 123.0);
  CHECK_THAT(ran.err, ContainsSubstring("123 ms"));  // the tables, as stdout is the JSON
  CHECK_THAT(ran.err, ContainsSubstring("Some GPU"));
}

TEST_CASE("an experiment written for another device gets a note", "[cli]") {
  const auto ran =
      runner("experiments/a100.toml --device cpu --sizes 16 --plugins serial --json -");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.json().at("notes").dump(), ContainsSubstring("A100"));
}

TEST_CASE("a pivot table loses no result", "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write("p.toml",
                                 "plugins = ['serial:ikj']\n[problem]\n"
                                 "sizes = [[9, 8, 7], [5, 8, 6]]\n"
                                 "[pivot]\nrows = 'n'\ncolumns = 'kernel'\nvalue = 'ms'\n");
  const auto ran = runner(file + " --device cpu");
  CHECK(ran.code == 0);
  INFO(ran.out);
  CHECK(std::regex_search(ran.out, std::regex("9xNx7[^]*[0-9] [um]s[^]*5xNx6[^]*[0-9] [um]s")));
}

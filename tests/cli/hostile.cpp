// Plugins that misbehave on purpose: each costs its own cells their verdict, with a reason that a
// person understands, and the others finish.
#include "support/catch.hpp"
#include "support/program.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

using kzoo::test::ContainsSubstring;
using kzoo::test::hostile_folder;
using kzoo::test::plugin_folder;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

namespace {

struct expectation {
  const char* kernel;  // plugin:variant
  const char* verdict;
  std::vector<const char*> reason;  // words that must be in it
};

constexpr const char* kSmall = "sizes = [64, '33x65x17']";
constexpr const char* kSoon = "timeout_seconds = 5";  // one of them hangs

// All plugins of a table between two honest ones, in one experiment: each gets its own verdict on
// every problem, and the honest ones pass.
void check_each(const std::vector<expectation>& table, const std::string& device,
                const std::string& problem = kSmall,
                const std::string& verify = "timeout_seconds = 60") {
  const scratch_folder folder;
  std::string plugins = "'naive:16x16'";
  for (const expectation& e : table) plugins += fmt::format(", '{}'", e.kernel);
  const auto file = folder.write(
      "hostile.toml",
      fmt::format("plugins = [{}, 'smem:16x16']\n[problem]\n{}\n"
                  "[timing]\nwarmup = 1\nrounds = 1\nmin_samples = 4\nmax_seconds = 0.1\n"
                  "[verify]\n{}\n",
                  plugins, problem, verify));
  const auto ran = runner(
      fmt::format("{} --device {} --json - --plugin-dir {}", file, device, hostile_folder()));
  INFO(device << "\n" << ran.err);
  REQUIRE(ran.code == 1);
  std::map<std::string, std::vector<nlohmann::json>> cells;
  const auto results = ran.json();
  for (const auto& cell : results.at("cells")) {
    const auto plugin = cell.at("plugin").get<std::string>();
    const auto variant = cell.at("variant").get<std::string>();
    cells[variant.empty() ? plugin : plugin + ":" + variant].push_back(cell);
  }
  for (const char* honest : {"naive:16x16", "smem:16x16"}) {
    REQUIRE_FALSE(cells[honest].empty());
    for (const auto& cell : cells[honest]) {
      INFO(cell.dump(1));
      CHECK(cell.at("verdict") == "pass");
    }
  }
  for (const expectation& e : table) {
    INFO(e.kernel);
    REQUIRE_FALSE(cells[e.kernel].empty());
    for (const auto& cell : cells[e.kernel]) {
      INFO(cell.dump(1));
      CHECK(cell.at("verdict") == e.verdict);
      CHECK(cell.at("time").is_null());
      CHECK(cell.at("gflops").is_null());
    }
    const auto reason = cells[e.kernel].front().at("reason").get<std::string>();
    for (const char* word : e.reason) CHECK_THAT(reason, ContainsSubstring(word));
  }
}

const std::vector<expectation> kOnBoth = {
    {"launch_1024:only", "error", {"1024 threads per block", "at most 256"}},
    {"throws:only", "error", {"no luck today"}},
    {"aborts:only", "crashed", {"SIGABRT", "while the variant was created", "giving up"}},
    {"exits:only", "crashed", {"exit code 7", "while the kernel ran"}},
    {"crashes_on_load", "crashed", {"SIGSEGV", "while the library was loaded"}},
    {"crashes_in_supports:only",
     "crashed",
     {"SIGABRT", "while the variant was asked whether it does the problem"}},
    {"crashes_in_destroy:only", "crashed", {"SIGABRT", "while the variant was destroyed"}},
    {"never_returns:only", "hung", {"no answer within 5 s", "killed"}},
    {"forges_reply:only", "crashed", {"wrote into the worker's own channel"}},
    {"a_times_a:only", "wrong", {"A A is computed, not A B"}},
    {"constant_output:only", "wrong", {"likely cause: every element is 0"}},
    {"drops_last_column:only",
     "wrong",
     {"not written: 64 of 4096 elements of C", "column 63 of every row"}},
    {"nan_output:only", "wrong", {"NaN in 1 of 4096 elements of C", "row 32, column 32"}},
    {"reads_c:only", "wrong", {"NaN in 4096 of 4096 elements", "although beta = 0"}},
    {"reads_outside:only", "wrong", {"NaN in 64 of 4096 elements of C", "row 63", "outside A"}},
    {"tf32_inputs:only",
     "wrong",
     {"differ by more than fp32 allows", "A and B are rounded to TF32 first"}},
    {"fp16_sums:only", "wrong", {"differ by more than fp32 allows"}},
    {"writes_outside:only",
     "wrong",
     {"written outside C: 1 word changed", "1 past its last element"}},
    {"writes_input:only",
     "wrong",
     {"wrote to its input A: 1 element changed, the first at row 0, column 0"}},
    {"rounds_in_place:only", "wrong", {"wrote to its input A: 40", "elements changed"}},
    {"writes_around_input:only",
     "wrong",
     {"written outside A: 1 word changed, the first 1 past its last element"}},
    {"overruns_workspace:only", "wrong", {"written outside the workspace: 1 word changed"}},
    {"stale_output:only", "wrong", {"wrong when it was timed", "the kernel wrote nothing"}},
    {"skips_while_timed:only", "wrong", {"wrong when it was timed", "the kernel wrote nothing"}},
    {"writes_input_later:later", "wrong", {"wrong when it was timed", "input A"}},
};

// What shows on certain problems only.
void check_problems(const std::string& device) {
  check_each({{"only_tiles:only", "wrong", {"not written: 129 of 4225", "row 64 and column 64"}},
              {"only_square:only", "wrong", {"differ by more than fp32 allows"}}},
             device, "sizes = ['65x65x33']");
  check_each({{"even_tiles:only", "wrong", {"only the first 32 of 48 terms along k are summed"}}},
             device, "sizes = ['64x64x48']");
  check_each({{"ignores_alpha:only", "wrong", {"likely cause: alpha is left out"}},
              {"ignores_beta:only", "wrong", {"likely cause: beta C is left out"}}},
             device, "sizes = [40]\nalpha = 0.7\nbeta = 1.3");
  check_each({{"drops_k_term:only", "wrong", {"only the first 4095 of 4096 terms along k"}}},
             device, "sizes = ['64x48x4096']");
  check_each({{"one_unwritten:only",
               "wrong",
               {"not written: 1 of 1048576 elements of C", "row 1023, column 1023"}}},
             device, "sizes = ['1024x1024x8']");
}

const char* const kFull = "tier = 'full'";

// What one run on one problem does not show.
const std::vector<expectation> kAtFull = {
    {"even_tiles:only", "wrong", {"shapes: 127x1x65 f32", "terms along k are summed"}},
    {"only_tiles:only", "wrong", {"shapes: 1x1x1 f32", "the kernel wrote nothing"}},
    {"ignores_alpha:only", "wrong", {"alpha and beta:", "alpha=0"}},
    {"ignores_beta:only", "wrong", {"alpha and beta:", "beta=1"}},
    {"caches_result:by_shape", "wrong", {"shapes: 64x64x64 f32 padding=1"}},
    {"caches_result:by_pointer", "wrong", {}},  // by what first is where something else was
    {"caches_result:by_instance",
     "wrong",
     {"new contents: A and B hold other numbers", "bit for bit the old result"}},
    {"keeps_pointer:b", "wrong", {"new addresses: right at first, wrong once B is at a new"}},
    {"keeps_pointer:c",
     "wrong",
     {"new addresses: right at first, wrong once C is at a new", "the kernel wrote nothing"}},
    {"keeps_workspace:contents", "wrong", {"new contents: right at first", "NaN in"}},
    {"keeps_workspace:address",
     "wrong",
     {"new addresses: right at first, wrong once the workspace is at a new", "NaN in"}},
    {"shares_state:columns", "wrong", {"interleaving: right alone, wrong between runs"}},
    {"shares_state:alpha", "wrong", {"interleaving: right alone, wrong between runs"}},
    {"shares_state:owner",
     "wrong",
     {"interleaving: right until another instance was destroyed", "nothing is written"}},
    {"corner_cases:ldb_for_ldc", "wrong", {"shapes: 64x64x64 f32 padding=1", "written outside C"}},
    {"corner_cases:ldc_for_ldb", "wrong", {"shapes: 64x64x64 f32 padding=1"}},
    {"corner_cases:negative_beta", "wrong", {"alpha and beta: 33x70x41", "beta=-1.3"}},
    {"corner_cases:vectors", "wrong", {"alpha and beta: 1x129x65", "beta=-1.3"}},
    {"corner_cases:long_k", "wrong", {"shapes: 3x5x70001", "differ"}},
    {"corner_cases:many_elements", "wrong", {"shapes: 1160x60x8", "not written: 4064 of 69600"}},
    {"drifts:undeclared", "wrong", {"repeats: run 2 of 50", "not declared nondeterministic"}},
};

// That one check finds out each variant of a plugin, whatever others find first.
void check_validation(const std::string& plugin, int variants, const std::string& check,
                      const std::string& words) {
  const auto ran = runner(
      fmt::format("validate {} --device cpu --json - --plugin-dir {}", plugin, hostile_folder()));
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto validation = ran.json();
  int named = 0;
  for (const auto& variant : validation.at("variants")) {
    INFO(variant.dump(1));
    for (const auto& made : variant.at("checks")) {
      if (made.at("check") != check) continue;
      ++named;
      CHECK(made.at("outcome") == "fail");
      CHECK_THAT(made.at("detail").get<std::string>(), ContainsSubstring(words));
    }
  }
  CHECK(named == variants);
}

}  // namespace

TEST_CASE("hostile plugins on the cpu get the verdict that they deserve", "[cli][hostile]") {
  check_each(kOnBoth, "cpu", kSmall, kSoon);
  check_each({{"segfault:only", "crashed", {"SIGSEGV", "memory that is not there"}},
              {"unchecked_launch:only", "wrong", {"wrote nothing"}},
              {"divergent_barrier:only", "error", {"divergent barrier", "__syncthreads"}},
              {"eats_memory:only", "error", {"std::bad_alloc: no more host memory"}}},
             "cpu");
  check_problems("cpu");
}

TEST_CASE("hostile plugins on the cpu are found out at tier full", "[cli][hostile]") {
  check_each(kAtFull, "cpu", "sizes = [64]", kFull);
  check_each({{"race:only", "wrong", {"repeats: run 13 of 50", "a race?"}}}, "cpu", "sizes = [64]",
             kFull);
}

TEST_CASE("integers that are narrower than declared are found out", "[cli][hostile]") {
  check_validation("narrow_integers", 2, "precision probe",
                   "declares int32, but products of 12-bit numbers");
}

TEST_CASE("whatever a cached result is kept by, it is named when contents change in place",
          "[cli][hostile]") {
  check_validation("caches_result", 3, "new contents", "bit for bit the old result");
}

TEST_CASE("hostile plugins on the GPU get the verdict that they deserve", "[cli][hostile][gpu]") {
  if (!kzoo::test::has_gpu()) return;
  check_each(kOnBoth, "cuda", kSmall, kSoon);
  check_each({{"segfault:only", "error", {"illegal memory access"}},
              {"unchecked_launch:only", "error", {"launch failed, and the plugin did not say so"}},
              {"sticky_error:only", "error", {"an error was pending before the kernel"}},
              {"other_stream:only", "wrong", {"works on another stream"}}},
             "cuda", "sizes = [1024]");
  check_problems("cuda");
}

TEST_CASE("hostile plugins on the GPU are found out at tier full", "[cli][hostile][gpu]") {
  if (!kzoo::test::has_gpu()) return;
  check_each(kAtFull, "cuda", "sizes = [64]", kFull);
  check_each({{"race:only", "wrong", {}}}, "cuda", "sizes = [1024]", kFull);
}

// 80 rows, of which the reference computes 66; row 39 is none of them.
TEST_CASE("what is too large to compare is checked all the same", "[cli][hostile]") {
  const scratch_folder folder;
  const auto file = folder.write("large.toml",
                                 "plugins = ['serial:ikj', 'wrong_row', 'one_unwritten']\n"
                                 "[problem]\nsizes = ['80x1048576x1']\n"
                                 "[timing]\nenabled = false\n");
  const auto ran = runner(file + " --device cpu --json - --plugin-dir " + hostile_folder());
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto results = ran.json();
  CHECK_THAT(results.at("notes").dump(),
             ContainsSubstring("66 of 80 rows are") && ContainsSubstring("Freivalds"));
  const auto& cells = results.at("cells");
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].at("verdict") == "pass");
  CHECK(cells[0].at("accuracy").at("rows_checked") == 66);
  CHECK(cells[0].at("checks").at(0).at("check") == "freivalds");
  CHECK(cells[1].at("verdict") == "wrong");
  CHECK_THAT(cells[1].at("reason").get<std::string>(),
             ContainsSubstring("freivalds: 80x1048576x1 f32 fill=signs: 1 of 80 rows of C are not "
                               "exact: row 39"));
  CHECK(cells[2].at("verdict") == "wrong");
  CHECK_THAT(cells[2].at("reason").get<std::string>(),
             ContainsSubstring("not written: 1 of 83886080 elements of C") &&
                 ContainsSubstring("row 79, column 1048575"));
}

TEST_CASE("a map shows where C is wrong to who wants to see it", "[cli][hostile]") {
  const std::string where = " --device cpu --plugin-dir " + hostile_folder();
  const std::string run = "quick --sizes 8x9x10 --plugins drops_last_column" + where;
  const auto shown = runner(run + " --show-errors");
  CHECK_THAT(shown.out, ContainsSubstring("       0 ........o") && ContainsSubstring("expected") &&
                            ContainsSubstring("not written"));
  CHECK_THAT(runner(run).out, !ContainsSubstring("........o"));
  const auto map = runner(run + " --show-errors --json -").json().at("cells")[0].at("errors");
  CHECK(map.at("map") == nlohmann::json(std::vector<std::string>(8, "........o")));
  CHECK(map.at("first").at(0).at("column") == 8);
  CHECK_THAT(runner("validate drops_last_column --show-errors" + where).out,
             ContainsSubstring("o not written"));
}

TEST_CASE("what differs from run to run is right where that is declared", "[cli][hostile]") {
  const auto ran = runner(
      "quick --device cpu --plugins drifts:declared --sizes 20 --verify full "
      "--json - --plugin-dir " +
      hostile_folder());
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.json().at("cells").at(0).at("verdict") == "pass");
}

TEST_CASE("a plugin that hangs is not waited for again", "[cli][hostile]") {
  const scratch_folder folder;
  const auto file = folder.write("hang.toml",
                                 "plugins = ['never_returns']\n[problem]\nsizes = [8, 9]\n"
                                 "[verify]\ntimeout_seconds = 1\n");
  const auto ran = runner(file + " --device cpu --json - --plugin-dir " + hostile_folder());
  REQUIRE(ran.code == 1);
  const auto cells = ran.json().at("cells");
  REQUIRE(cells.size() == 2);
  CHECK_THAT(cells[0].at("reason").get<std::string>(), ContainsSubstring("no answer within 1 s"));
  CHECK_THAT(cells[1].at("reason").get<std::string>(), ContainsSubstring("not tried again"));
}

TEST_CASE("libraries that are no plugins are unavailable, with the reason", "[cli][hostile]") {
  const scratch_folder folder;
  folder.write("notes.so", std::string(200, '#') + " a text file\n");
  folder.write("empty.so", "");
  const std::string where =
      " --plugin-dir " + hostile_folder() + " --plugin-dir " + folder.path().string();
  const std::vector<expectation> table = {
      {"notes", "unavailable", {"notes.so", "cannot be loaded", "invalid ELF header"}},
      {"empty", "unavailable", {"empty.so", "cannot be loaded", "file too short"}},
      {"no_symbol", "unavailable", {"no symbol kzoo_plugin_v1"}},
      {"abi_v2", "unavailable", {"version 2", "speaks version 1", "build it again"}},
  };
  for (const expectation& e : table) {
    const auto ran = runner(
        fmt::format("quick --device cpu --sizes 8 --json - --plugins {},naive{}", e.kernel, where));
    INFO(e.kernel << "\n" << ran.err);
    CHECK(ran.code == 1);
    const auto cells = ran.json().at("cells");
    REQUIRE(cells.size() == 12);
    CHECK(cells[0].at("verdict") == e.verdict);
    CHECK(cells[1].at("verdict") == "pass");
    const auto reason = cells[0].at("reason").get<std::string>();
    INFO(reason);
    for (const char* word : e.reason) CHECK_THAT(reason, ContainsSubstring(word));

    CHECK_THAT(runner("list" + where).out, ContainsSubstring("unavailable"));
    CHECK(runner(std::string("describe ") + e.kernel + where).code == 1);
  }
}

TEST_CASE("what one variant spoils is not blamed on the next", "[cli][hostile]") {
  const auto ran = runner(
      "quick --device cpu --plugins writes_input_later --sizes 20 --json - "
      "--plugin-dir " +
      hostile_folder());
  INFO(ran.err);
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    if (cell.at("problem").at("dtype") != "f32") continue;
    INFO(cell.dump(1));
    if (cell.at("variant") == "honest") {
      CHECK(cell.at("verdict") == "pass");
    } else {
      CHECK(cell.at("verdict") == "wrong");
      CHECK_THAT(cell.at("reason").get<std::string>(), ContainsSubstring("input A"));
      CHECK(cell.at("time").is_null());
    }
  }
}

TEST_CASE("a plugin for another device is unavailable, and that is no failure", "[cli]") {
  const auto ran = runner("quick --device cpu --sizes 8 --plugins naive,cublas --json -");
  if (ran.code == 2) return;  // built without CUDA: there is no cublas to speak of
  CHECK(ran.code == 0);
  const auto cells = ran.json().at("cells");
  CHECK(cells.back().at("verdict") == "unavailable");
  CHECK_THAT(cells.back().at("reason").get<std::string>(), ContainsSubstring("no cpu build"));
}

TEST_CASE("a loose library for another device gives way to the right one", "[cli]") {
  const auto cuda_build = plugin_folder("cuda") / "naive.so";
  if (!std::filesystem::exists(cuda_build)) return;  // built without CUDA: there is no other device
  const scratch_folder folder;
  std::filesystem::copy(cuda_build, folder.path() / "naive.so");
  std::filesystem::copy(cuda_build, folder.path() / "gpu_only.so");
  const auto ran = runner(
      "quick --device cpu --sizes 8 --plugins naive,gpu_only --json - "
      "--plugin-dir " +
      folder.path().string());
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    CHECK(cell.at("verdict") == (cell.at("plugin") == "naive" ? "pass" : "unavailable"));
  }
}

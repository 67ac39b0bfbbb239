// Plugins that misbehave on purpose: each gets its verdict, with a reason that its author
// understands, and the other plugins finish.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace kzoo::test;

namespace {

// Their results on the cpu, as JSON.
run_result run_quick(const std::string& plugins, int size) {
  return run_hostile(
      fmt::format("quick --device cpu --plugins {} --sizes {} --json -", plugins, size));
}

constexpr const char* kSoon = "timeout_seconds = 5";  // one of them hangs

const std::vector<expectation> kOnBoth = {
    {"launches:too_many_threads", "error", {"1024 threads per block", "at most 256"}},
    {"process:throws", "error", {"no luck today"}},
    {"process:aborts", "crashed", {"SIGABRT", "while the variant was created", "giving up"}},
    {"process:exits", "crashed", {"exit code 7", "while the kernel ran"}},
    {"crashes_on_load", "crashed", {"SIGSEGV", "while the library was loaded"}},
    {"process:crashes_in_supports",
     "crashed",
     {"SIGABRT", "while the variant was asked whether it supports the problem"}},
    {"launches:crashes_in_destroy", "crashed", {"SIGABRT", "while the variant was destroyed"}},
    {"launches:never_returns", "hung", {"no answer within 5 s", "killed"}},
    {"process:leaves_group", "error", {"setpgid fails"}},
    {"process:stops_itself", "hung", {"stopped by a signal while the kernel ran", "killed"}},
    {"process:forges_reply", "crashed", {"wrote into the worker's own channel"}},
    {"wrong_results:a_times_a", "wrong", {"A A is computed, not A B"}},
    {"wrong_results:constant_output", "wrong", {"likely cause: every element is 0"}},
    {"wrong_results:drops_last_column",
     "wrong",
     {"not written: 64 of 4096 elements of C", "column 63 of every row"}},
    {"wrong_results:nan_output", "wrong", {"NaN in 1 of 4096 elements of C", "row 32, column 32"}},
    {"memory:reads_c", "wrong", {"NaN in 4096 of 4096 elements", "although beta = 0"}},
    {"memory:reads_outside", "wrong", {"NaN in 64 of 4096 elements of C", "row 63", "outside A"}},
    {"precision:tf32_inputs",
     "wrong",
     {"differ by more than fp32 allows", "A and B are rounded to TF32 first"}},
    {"precision:tf32_normwise", "wrong", {"differ by more than fp32_normwise allows"}},
    {"precision:fp16_sums", "wrong", {"differ by more than fp32 allows"}},
    {"precision:split_one", "wrong", {"differ by more than fp32_split allows"}},
    {"precision:split_without_lo_a", "wrong", {"differ by more than fp32_split allows"}},
    {"precision:split_without_lo_b", "wrong", {"differ by more than fp32_split allows"}},
    {"precision:honest_split", "pass", {}},
    {"memory:writes_outside",
     "wrong",
     {"written outside C: 1 word changed", "1 past its last element"}},
    {"memory:writes_input",
     "wrong",
     {"wrote to its input A: 1 element changed, the first at row 0, column 0"}},
    {"memory:rounds_in_place", "wrong", {"wrote to its input A: 40", "elements changed"}},
    {"memory:writes_around_input",
     "wrong",
     {"written outside A: 1 word changed, the first 1 past its last element"}},
    {"memory:overruns_workspace", "wrong", {"written outside the workspace: 1 word changed"}},
    {"state:computes_once", "wrong", {"the kernel wrote nothing"}},
    {"state:skips_while_timed", "wrong", {"the kernel wrote nothing"}},
    {"memory:writes_input_later", "wrong", {"input A"}},
    {"sizes:declines_in_create", "unsupported", {"on second thoughts"}},
    {"sizes:declines_later",
     "error",
     {"supports() refused a problem that it had accepted: enough of that"}},
    {"launches:honest", "pass", {}},
    {"memory:honest", "pass", {}},
};

// Defects that appear on certain problems only.
void check_problems(const std::string& device) {
  check_each(
      {{"wrong_results:only_tiles", "wrong", {"not written: 129 of 4225", "row 64 and column 64"}},
       {"wrong_results:only_square", "wrong", {"differ by more than fp32 allows"}}},
      device, "sizes = ['65x65x33']");
  check_each(
      {{"wrong_results:even_tiles", "wrong", {"only the first 32 of 48 terms along k are summed"}}},
      device, "sizes = ['64x64x48']");
  check_each({{"wrong_results:ignores_alpha", "wrong", {"likely cause: alpha is left out"}},
              {"wrong_results:ignores_beta", "wrong", {"likely cause: beta C is left out"}}},
             device, "sizes = [40]\nalpha = 0.7\nbeta = 1.3");
  check_each(
      {{"wrong_results:drops_k_term", "wrong", {"only the first 4095 of 4096 terms along k"}}},
      device, "sizes = ['64x48x4096']");
  for (const auto& [layout, reason] :
       {std::pair{"tn", "A is read as if it were not transposed: is layout tn ignored?"},
        {"nt", "B is read as if it were not transposed: is layout nt ignored?"},
        {"tt", "A and B are read as if they were not transposed: is layout tt ignored?"}}) {
    check_each({{"wrong_results:ignores_layout", "wrong", {reason}}}, device,
               fmt::format("sizes = [64]\nlayout = '{}'", layout));
  }
  check_each({{"wrong_results:ignores_layout", "wrong", {"is layout nt ignored?"}}}, device,
             "sizes = ['64x80x33']\nlayout = 'nt'");
  const auto check_type = [&](const char* kernel, const char* type, const char* reason,
                              const char* more) {
    check_each({{kernel, "wrong", {reason}}}, device,
               fmt::format("sizes = ['40x48x64']\ndtype = '{}'\n{}", type, more));
  };
  check_type("precision:bf16_sums", "bf16->f32", "likely cause: sums are kept in bf16", "");
  check_type("precision:f64_in_floats", "f64", "A and B are rounded to fp32 first", "");
  check_type("precision:e4m3_as_e5m2", "e4m3->bf16", "A and B are read as e5m2, not e4m3", "");
  check_type("precision:e4m3_rounded", "e4m3->bf16", "A and B are rounded to e5m2 first", "");
  check_type("precision:drops_scale", "e4m3->bf16", "the scale of B is left out",
             "scale_a = 0.5\nscale_b = 3");
  const char* const batch = "sizes = ['33x40x24']\nbatch = 6\nbatch_padding = 8";
  check_each(
      {{"batches:neighbours_a", "wrong", {"is computed with A of product"}},
       {"batches:neighbours_b", "wrong", {"is computed with B of product"}},
       {"batches:shares_b",
        "wrong",
        {"all in products 1 to 5", "every product is computed with B of product 0"}},
       {"batches:first_alone",
        "wrong",
        {"not written: 6600 of 7920 elements of C (83.3%) still hold the poison: products 1 to 5"}},
       {"batches:packs_c",
        "wrong",
        {"written outside C: 120 words changed, the first 1 past the last row of product 0"}},
       {"batches:honest", "pass", {}}},
      device, batch);
  check_each({{"epilogues:left_out", "wrong", {"likely cause: the epilogue is left out"}},
              {"epilogues:without_bias", "wrong", {"likely cause: bias is left out"}},
              {"epilogues:in_reverse", "wrong", {"the epilogue are applied in reverse order"}},
              {"epilogues:before_beta", "wrong", {"applied before beta C is added"}},
              {"epilogues:before_alpha", "wrong", {"the epilogue is applied before alpha"}},
              {"epilogues:other_gelu", "wrong", {"GELU is computed by tanh, not by erf"}},
              {"epilogues:next_bias", "wrong", {"differ by more than fp32 allows"}},
              {"epilogues:writes_bias",
               "wrong",
               {"wrote to its input bias: 1 element changed, the first at row 0, column 3"}},
              {"epilogues:keeps_bias", "pass", {}},
              {"epilogues:honest", "pass", {}}},
             device, "sizes = ['40x48x24']\nalpha = 0.7\nbeta = 1.3\nepilogue = 'bias + gelu'");
  const char* const scaled =
      "sizes = ['40x144x272']\ndtype = 'e4m3->f32'\nlayout = 'nt'\n"
      "scale_block_a = '1x128'\nscale_block_b = '128x128'";
  check_each(
      {{"scales:left_out", "wrong", {"likely cause: the scales of A and B are left out"}},
       {"scales:only_of_a", "wrong", {"likely cause: the scales of B are left out"}},
       {"scales:next_block", "wrong", {"the scales of A are those of the next block along K"}},
       {"scales:first_block", "wrong", {"those of the first block for all of K"}},
       {"scales:after_all_of_k", "wrong", {"those of the last block for all of K"}},
       {"scales:one_for_all_columns", "wrong", {"all in columns 128 to 143 of every row"}},
       {"scales:writes_scales", "wrong", {"wrote to its input scale_a: 1 element changed"}},
       {"scales:keeps_scales", "pass", {}},
       {"scales:honest", "pass", {}}},
      device, scaled);
  check_each(
      {{"groups:first_b", "wrong", {"likely cause: they are computed with the B of group 0"}},
       {"groups:next_b", "wrong", {"likely cause: group ", " is computed with the B of"}},
       {"groups:even_split", "wrong", {"differ by more than fp32 allows", "(group "}},
       {"groups:drops_last_row", "wrong", {"not written: 192 of 1920 elements"}},
       {"groups:keeps_offsets",
        "wrong",
        // On a GPU other numbers come before those that are judged.
        {device == "cpu" ? "right when it ran once, wrong when it was timed" : "with the B of "}},
       {"groups:keeps_b", "pass", {}},
       {"groups:honest", "pass", {}}},
      device, "sizes = ['40x48x24']\ngroups = 4\ngroup_rows = 'skewed'");
  check_each({{"wrong_results:one_unwritten",
               "wrong",
               {"not written: 1 of 1048576 elements of C", "row 1023, column 1023"}}},
             device, "sizes = ['1024x1024x8']");
}

}  // namespace

TEST_CASE("hostile plugins on the cpu get the right verdicts", "[cli][hostile]") {
  check_each(kOnBoth, "cpu", kSmallSizes, kSoon);
  check_each({{"launches:segfault",
               "crashed",
               {"SIGSEGV", "memory that is not there", "an access to address 0x0, by kernel ",
                ", thread (0,0,0), launches.cu:60"}},
              {"launches:unchecked", "wrong", {"wrote nothing"}},
              {"launches:divergent_barrier", "error", {"divergent barrier", "__syncthreads"}},
              {"process:eats_memory", "error", {"std::bad_alloc: no more host memory"}},
              {"memory:counts_on_zeros", "wrong", {"NaN in"}},
              {"native:writes_and_restores",
               "wrong",
               {"the kernel wrote to its input A, first at row", "and put back what was there"}}},
             "cpu");
  check_each({{"memory:writes_far",
               "crashed",
               {"SIGSEGV", "an access to memory around C, 21249 bytes past its redzone, by kernel ",
                "block (0,0,0), thread (0,0,0), memory.cu:51"}}},
             "cpu", "sizes = [64]");
  check_problems("cpu");
}

// Where a message names two lines, the second belongs to the earlier operation.
TEST_CASE("a kernel for sm_90 with one wrong line is told which", "[cli][hostile]") {
  const char* const not_initialised = "of dynamic shared memory (hopper.cu:";
  check_each(
      {{"hopper:none", "pass", {}},
       {"hopper:cluster", "pass", {}},
       {"hopper:no_init", "error", {not_initialised, ") has not been initialised"}},
       {"hopper:no_init_fence",
        "error",
        {"is used before the thread that called init() (hopper.cu:",
         ") has called fence_mbarrier_init()"}},
       {"hopper:wrong_arrivals",
        "error",
        {"deadlock: kernel hopper_kernel", "128 of 256 threads wait at mbarrier.wait(1)",
         "1 wait at mbarrier.wait(0) of the mbarrier at byte 81944 of dynamic shared memory, "
         "which lacks 1 of 2 arrivals (hopper.cu:"}},
       {"hopper:wrong_parity", "error", {"deadlock: ", "which lacks 1 of 1 arrivals (hopper.cu:"}},
       {"hopper:too_few_bytes",
        "error",
        {"deadlock: ", "which has received 16 bytes more than expected (hopper.cu:"}},
       {"hopper:too_many_bytes", "error", {"deadlock: ", "which lacks 16 bytes (hopper.cu:"}},
       {"hopper:no_empty_wait",
        "error",
        {"gets more than the 1 arrivals of its phase, which lacks 24576 bytes"}},
       {"hopper:one_tile_less", "error", {"deadlock: ", "128 have exited"}},
       {"hopper:no_full_wait",
        "error",
        {"a load by TMA (hopper.cu:", ", which wgmma (hopper.cu:", ") reads before wgmma_wait()"}},
       {"hopper:no_wgmma_fence",
        "error",
        {"its accumulators may have been accessed since the last wgmma_fence()"}},
       {"hopper:no_commit", "error", {") reads before wgmma_wait()"}},
       {"hopper:no_wgmma_wait",
        "error",
        {"a block has ended before wgmma (hopper.cu:", ") was committed and waited for"}},
       {"hopper:early_release",
        "error",
        {"a load by TMA (hopper.cu:",
         ") overwrites byte 0 of dynamic shared memory, which wgmma "
         "(hopper.cu:",
         ") reads before wgmma_wait()"}},
       {"hopper:no_proxy_fence",
        "error",
        {"a store by TMA (hopper.cu:", ", which a thread has written (hopper.cu:",
         ") without fence_async_proxy() since"}},
       {"hopper:no_read_wait",
        "error",
        {"what a store by TMA (hopper.cu:",
         ") reads was overwritten before tma_store_wait_read()"}},
       {"hopper:no_last_read_wait",
        "error",
        {"a block has ended before a store by TMA (hopper.cu:", ") has read its tile"}},
       {"hopper:two_releases",
        "error",
        {"(hopper.cu:",
         ") ends two phases while thread (128,0,0) is at mbarrier.wait(0) "
         "(hopper.cu:",
         ") for the first, whose end it may miss"}},
       {"hopper:no_first_cluster_sync", "error", {not_initialised, ") has not been initialised"}},
       {"hopper:no_last_cluster_sync",
        "error",
        {"mbarrier.arrive_in() (hopper.cu:", ") reaches block 0 of the cluster, which has ended"}}},
      "cpu", "sizes = ['256x256x320']\ndtype = 'f16'");
}

TEST_CASE("tier quick has enough k tiles for the faults of a pipeline", "[cli][hostile]") {
  const auto ran = run_hostile("validate hopper:early_release --device cpu --tier quick");
  INFO(ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("256x384x1152 f16: kernel hopper_kernel") &&
                          ContainsSubstring(") reads before wgmma_wait()"));
}

TEST_CASE("hostile plugins on the GPU get the right verdicts", "[cli][hostile][.gpu]") {
  needs_gpu();
  check_each(kOnBoth, "cuda", kSmallSizes, kSoon);
  check_each({{"memory:writes_far",
               "wrong",
               {"written outside C: 1 word changed, the first 6337 past its last element"}}},
             "cuda", "sizes = [64]");
  check_each(
      {{"launches:segfault", "error", {"illegal memory access", "; launched: "}},
       {"launches:unchecked", "error", {"launch failed, and the plugin did not say so"}},
       {"cuda_runtime:sticky_error", "error", {"an error was pending before the kernel"}},
       {"cuda_runtime:default_stream", "wrong", {"does not work on the stream that it is given"}},
       {"cuda_runtime:other_stream", "wrong", {"does not work on the stream that it is given"}},
       {"cuda_runtime:multiplies_early", "wrong", {"does not work on the stream that it is given"}},
       {"cuda_runtime:keeps_multiprocessors",
        "wrong",
        {"a kernel of another stream was on the device, and stayed, when the numbers"}}},
      "cuda", "sizes = [1024]");
  check_problems("cuda");
}

TEST_CASE("work that is ready when the numbers come gains nothing", "[cli][hostile][.gpu]") {
  needs_gpu();
  for (const char* size : {"256", "1024"}) {
    const scratch_folder folder;
    const auto ran = run_plugins(folder, "'cuda_runtime:honest', 'cuda_runtime:computes_in_flush'",
                                 size, "rounds = 5\nfresh_processes = true", "cuda");
    INFO(ran.err);
    CHECK(ran.code == 0);
    const auto cells = ran.json().at("cells");
    REQUIRE(cells.size() == 2);
    const auto ms = [&](std::size_t i) {
      REQUIRE(cells.at(i).at("verdict") == "pass");
      return cells.at(i).at("time").at("median_ms").get<double>();
    };
    constexpr double kTie = 0.98;
    CHECK(ms(1) > kTie * ms(0));
  }
}

// The reference computes 66 of 80 rows, which are drawn at random.
TEST_CASE("a C that is too large to compare is checked completely", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(
      folder, "'serial:ikj', 'native:wrong_row', 'native:one_unwritten', 'native:skips_rows'",
      "'80x1048576x2'", "enabled = false", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto results = ran.json();
  CHECK_THAT(results.at("notes").dump(),
             ContainsSubstring("66 of 80 rows are compared") && ContainsSubstring("Freivalds"));
  const auto& cells = results.at("cells");
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].at("verdict") == "pass");
  CHECK(cells[0].at("accuracy").at("rows_checked") == 66);
  CHECK(cells[0].at("checks").at(0).at("check") == "freivalds");
  check_cell(cells[1], "wrong", {"row 39"});
  check_cell(cells[2], "wrong",
             {"not written: 1 of 83886080 elements of C", "row 79, column 1048575"});
  CHECK(cells[3].at("verdict") == "wrong");
}

TEST_CASE("memory that is never freed is said, and much of it is wrong", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, "'native:honest', 'native:leaks', 'native:leaks_much'", "32",
                               "rounds = 5", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cells = ran.json().at("cells");
  CHECK(cells.at(0).at("verdict") == "pass");
  CHECK(cells.at(0).at("checks").empty());
  CHECK(cells.at(1).at("verdict") == "pass");
  CHECK(cells.at(1).at("checks").at(0).at("check") == "memory");
  CHECK_THAT(ran.err, ContainsSubstring("leak native:leaks: leaks host memory: 97 kB more"));
  check_cell(cells.at(2), "wrong", {"leaks host memory: 30 MB more at least after each turn"});
}

TEST_CASE("device memory that is never freed is wrong", "[cli][hostile][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const auto ran = run_plugins(
      folder, "'cuda_runtime:leaks', 'naive:16x16', 'smem:16x16', 'coalesced', 'cublas:fp32'", "64",
      "rounds = 8", "cuda");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cells = ran.json().at("cells");
  CHECK_THAT(cells.at(0).at("reason").get<std::string>(),
             ContainsSubstring("leaks device memory: 32 MB more at least after each turn"));
  // What it keeps between their turns is not theirs.
  for (std::size_t i = 1; i < cells.size(); ++i) CHECK(cells.at(i).at("verdict") == "pass");
}

TEST_CASE("a thread that goes on computing C after run() is found", "[cli][hostile]") {
  const auto ran = run_quick("native:honest,threads:finishes_later", 256);
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cells = ran.json().at("cells");
  CHECK(cells.at(0).at("verdict") == "pass");
  CHECK(cells.at(1).at("verdict") == "wrong");
  // Where its thread waits for a core, nothing of its rows is there yet when all of C is read.
  CHECK_THAT(cells.at(1).at("reason").get<std::string>(),
             ContainsSubstring("C still changes when run() has returned") ||
                 ContainsSubstring("not written"));
}

TEST_CASE("a result that is computed when it is read is not there", "[cli][hostile]") {
  const auto ran = run_quick("native:honest,native:computes_when_read", 96);
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cells = ran.json().at("cells");
  CHECK(cells.at(0).at("verdict") == "pass");
  check_cell(cells.at(1), "wrong", {"the kernel wrote nothing"});
}

TEST_CASE("a worker that something continues while it is stopped is wrong", "[cli][hostile]") {
  const auto ran = run_quick("ahead:by_timer", 64);
  INFO(ran.err);
  CHECK(ran.code == 1);
  check_cell(ran.json().at("cells").at(0), "wrong",
             {"works between its calls", "does a timer continue it?"});
}

TEST_CASE("workers that have no turn are stopped", "[cli][hostile]") {
  const auto ran = run_quick("serial:ikj,native:watches_rivals,smem:8x8", 20);
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.json().at("cells").at(1).at("verdict") == "pass");
}

TEST_CASE("a result that is computed once is wrong when it is timed", "[cli][hostile]") {
  const auto ran = run_quick("native:replays_result", 64);
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cell = ran.json().at("cells").at(0);
  CHECK(cell.at("verdict") == "wrong");
  CHECK(cell.at("time").is_null());
  CHECK_THAT(cell.at("reason").get<std::string>(),
             ContainsSubstring("wrong when it was timed") &&
                 ContainsSubstring("a result kept from an earlier call?"));
}

TEST_CASE("a kernel that is more precise where it is judged is wrong when it is timed",
          "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, "'precision:parts_after_first_numbers'", "'64x64x512'",
                               "rounds = 1\nmin_samples = 5", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cell = ran.json().at("cells").at(0);
  check_cell(cell, "wrong", {"in a timed run errors are", "times as large as fp32 sums"});
  CHECK(cell.at("time").is_null());
}

TEST_CASE("of a kernel that may vary any run is judged", "[cli][hostile]") {
  const scratch_folder folder;
  // The other one has a C of which few rows are compared with earlier runs.
  for (const char* size : {"64", "'2048x2048x2'"}) {
    const auto ran = run_plugins(folder, "'native:pauses'", size,
                                 "rounds = 5\nmin_samples = 400\nmax_seconds = 60", "cpu");
    INFO(ran.err);
    CHECK(ran.code == 1);
    const auto cell = ran.json().at("cells").at(0);
    check_cell(cell, "wrong",
               {"right when it ran once, wrong when it was timed", "the kernel wrote nothing"});
  }
}

TEST_CASE("what a kernel changes of its rivals' processes is set back", "[cli][hostile]") {
  const scratch_folder folder;
  std::filesystem::copy_file(hostile_folder() + "/cpu/native.so", folder.path() / "rival.so");
  const auto ran = run_plugins(folder, "'./rival.so:notices_hindrance', 'native:hinders_rivals'",
                               "24", "rounds = 5", "cpu");
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    CHECK(cell.at("verdict") == "pass");
    CHECK(cell.at("checks").empty());
  }
}

TEST_CASE("a kernel is not blamed for what another one did to its process", "[cli][hostile]") {
  const scratch_folder folder;
  const auto run = [&](const std::string& plugins) {
    return run_plugins(folder, plugins, "20", "enabled = false", "cpu");
  };
  const auto excused = run("'native:spoils_others', 'native:is_spoilt'");
  INFO(excused.err);
  CHECK(excused.code == 0);
  const auto cell = excused.json().at("cells").at(1);
  CHECK(cell.at("verdict") == "pass");
  CHECK(cell.at("checks").at(0).at("check") == "own worker");
  CHECK_THAT(cell.at("checks").at(0).at("detail").get<std::string>(),
             ContainsSubstring("after native:spoils_others at 20x20x20 in the same process it was "
                               "wrong"));
  CHECK_THAT(excused.err, ContainsSubstring("suspect"));
  // One that fails by itself stays failed.
  const auto failed = run("'native:honest', 'native:wrong_now_and_then'");
  INFO(failed.err);
  CHECK(failed.code == 1);
  CHECK(failed.json().at("cells").at(1).at("verdict") == "wrong");
}

TEST_CASE("--show-errors shows a map of where C is wrong", "[cli][hostile]") {
  const std::string run =
      "quick --device cpu --sizes 8x9x10 --plugins wrong_results:drops_last_column";
  const auto shown = run_hostile(run + " --show-errors");
  CHECK_THAT(shown.out, ContainsSubstring("       0 ........o") && ContainsSubstring("expected") &&
                            ContainsSubstring("not written"));
  CHECK_THAT(run_hostile(run).out, !ContainsSubstring("........o"));
  const auto map = run_hostile(run + " --show-errors --json -").json().at("cells")[0].at("errors");
  CHECK(map.at("map") == nlohmann::json(std::vector<std::string>(8, "........o")));
  CHECK(map.at("first").at(0).at("column") == 8);
  CHECK_THAT(run_hostile("validate wrong_results:drops_last_column --show-errors --device cpu").out,
             ContainsSubstring("o not written"));
}

TEST_CASE("a plugin that has hung is not run again", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, "'launches:never_returns'", "8, 9",
                               "[verify]\ntimeout_seconds = 1", "cpu");
  REQUIRE(ran.code == 1);
  const auto cells = ran.json().at("cells");
  REQUIRE(cells.size() == 2);
  CHECK_THAT(cells[0].at("reason").get<std::string>(), ContainsSubstring("no answer within 1 s"));
  CHECK_THAT(cells[1].at("reason").get<std::string>(), ContainsSubstring("not tried again"));
}

TEST_CASE("inputs that one variant modifies do not affect the next", "[cli][hostile]") {
  const auto ran = run_quick("memory:writes_input_later,memory:honest", 20);
  INFO(ran.err);
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    if (cell.at("problem").at("dtype") != "f32") continue;
    INFO(cell.dump(1));
    if (cell.at("variant") == "honest") {
      CHECK(cell.at("verdict") == "pass");
    } else {
      CHECK(cell.at("verdict") == "wrong");
      CHECK_THAT(cell.at("reason").get<std::string>(),
                 ContainsSubstring("input A") || ContainsSubstring("written outside A"));
      CHECK(cell.at("time").is_null());
    }
  }
}

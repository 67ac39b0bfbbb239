// Kernels that are right in ways that few are, and their counterparts on a GPU that keep results.
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace kzoo::test;

namespace {

void all_pass(const std::string& plugins, const std::string& size, const std::string& device,
              const std::string& tier, const std::string& power = "both") {
  const scratch_folder folder;
  const auto ran = run_plugins(folder, plugins, size,
                               "rounds = 3\nmin_samples = 3\nmax_seconds = 0.2\npower = '" + power +
                                   "'\n[verify]\ntier = '" + tier + "'",
                               device);
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    check_cell(cell, "pass", {});
    CHECK_FALSE(cell.at("time").is_null());
  }
}

}  // namespace

TEST_CASE("unusual kernels that are right pass", "[cli][hostile]") {
  all_pass("'unusual', 'threads:thread_pool'", "48", "cpu", "quick");
  all_pass("'unusual:kahan', 'unusual:atomics', 'threads:thread_pool'", "48", "cpu", "full");
}

TEST_CASE("unusual kernels that are right pass on a GPU", "[cli][hostile][.gpu]") {
  needs_gpu();
  all_pass("'unusual', 'unusual_cuda', 'split_fp16:guarded'", "512", "cuda", "full", "burst");
  // Without pauses each takes seconds.
  all_pass("'unusual:atomics', 'unusual_cuda:graph'", "512", "cuda", "quick");
}

TEST_CASE("a result that is kept on a GPU is wrong when it is timed", "[cli][hostile][.gpu]") {
  needs_gpu();
  const scratch_folder folder;
  const auto ran =
      run_plugins(folder, "'cuda_runtime:honest', 'replays'", "1024",
                  "rounds = 6\nmin_samples = 20\npower = 'both'\nend_to_end = true", "cuda");
  INFO(ran.err);
  CHECK(ran.code == 1);
  for (const auto& cell : ran.json().at("cells")) {
    INFO(cell.dump(1));
    check_cell(cell, cell.at("variant") == "honest" ? "pass" : "wrong", {});
  }
}

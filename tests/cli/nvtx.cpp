// The names that a profiler sees: tests/nvtx/recorder.cpp stands for one.
#include "support/catch.hpp"
#include "support/program.hpp"

#include <iostream>

using kzoo::test::ContainsSubstring;
using kzoo::test::read_text;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

TEST_CASE("a worker names its cells and what it does with them", "[cli]") {
  const std::string recorder = KZOO_NVTX_RECORDER;
  if (recorder.empty()) {
    std::cerr << "skipped: a build without CUDA has no NVTX ranges\n";
    return;
  }
  const scratch_folder folder;
  const auto file = folder.write("e.toml",
                                 "plugins = ['naive:8x8', 'smem:8x8']\n[problem]\nsizes = [8]\n"
                                 "[timing]\nsamples = 1\nwarmup = 0\n");
  const auto log = (folder.path() / "log").string();
  const auto ran = runner(file + " --device cpu --no-journal",
                          "NVTX_INJECTION64_PATH='" + recorder + "' KZOO_NVTX_LOG='" + log + "'");
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  const std::string ranges = read_text(log);
  INFO(ranges);
  const std::string cell =
      "push prepare\nstart 1 naive:8x8@8x8x8\npop\npush run\npop\npush sample\npop\n"
      "push finish\nend 1\npop\n";
  CHECK_THAT(ranges, ContainsSubstring(cell));
  CHECK_THAT(ranges, ContainsSubstring("start 1 smem:8x8@8x8x8\n"));  // in a worker of its own
}

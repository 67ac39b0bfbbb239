// The NVTX ranges that a profiler sees, recorded by tests/nvtx/recorder.cpp.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"

#include <fmt/format.h>

using kzoo::test::ContainsSubstring;
using kzoo::test::read_text;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

TEST_CASE("cells and requests are marked with NVTX ranges", "[cli][.nvtx]") {
  const std::string recorder = kzoo::test::nvtx_recorder();
  if (recorder.empty()) kzoo::test::skip("a build without CUDA has no NVTX ranges");
  const scratch_folder folder;
  const auto file = folder.write("e.toml",
                                 "plugins = ['naive:8x8', 'smem:8x8']\n[problem]\nsizes = [8]\n"
                                 "[timing]\nrounds = 1\nmin_samples = 1\nwarmup = 0\n");
  const auto log = (folder.path() / "log").string();
  const auto ran = runner(file + " --device cpu --no-journal",
                          "NVTX_INJECTION64_PATH='" + recorder + "' KZOO_NVTX_LOG='" + log + "'");
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  const std::string ranges = read_text(log);
  INFO(ranges);
  const auto turn = [](const char* number, const std::string& work) {
    return fmt::format(
        "push prepare\nstart {0} naive:8x8@8x8x8\npop\npush {1}\npop\npush destroy\nend {0}\npop\n",
        number, work);
  };
  CHECK_THAT(ranges, ContainsSubstring(turn("1", "run")));
  CHECK_THAT(ranges, ContainsSubstring("start 2 smem:8x8@8x8x8\n"));
  // Turns are shuffled. On the CPU the runner judges and times, so one process has all ranges.
  const std::string timed = "run\npop\npush sample\npop\npush copy_result";
  CHECK_THAT(ranges, ContainsSubstring(turn("3", timed)) || ContainsSubstring(turn("4", timed)));
}

// `runner profile`: what it refuses on any machine, and complete runs on a GPU.
#include "support/catch.hpp"
#include "support/fake_ncu.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

using namespace kzoo::test;

TEST_CASE("the simulator has no counters, and profile says so", "[cli]") {
  check_refused("profile quick --device cpu", {"the simulator has no counters", "--device cuda"});
  for (const char* device : {"auto", "cuda", "cuda:1"}) {
    const auto none = runner(std::string("profile quick --device ") + device, kNoGpu);
    CHECK(none.code == 3);
    CHECK_THAT(none.err, ContainsSubstring("the simulator has no counters"));
  }
}

TEST_CASE("bad usage of profile is refused before anything runs", "[cli]") {
  for (const char* words :
       {"profile", "profile nosuch.toml", "profile quick --cell naive:*",
        "profile quick --cell naive:8x8@0", "profile quick --in-process", "profile quick -o report",
        "profile quick --cell naive:8x8 --plugins naive", "profile -- quick"}) {
    check_refused(words, {"error: "});
  }
  const auto help = runner("profile --help");
  CHECK(help.code == 0);
  for (const char* option : {"--cell", "--ncu", "--sizes", "--json", "--md", "-- --set full"})
    CHECK_THAT(help.out, ContainsSubstring(option));
}

TEST_CASE("a profile of a cell is shown and written", "[cli][.gpu]") {
  needs_gpu();
  const scratch_folder folder(kSharedMemory);  // where what runs under ncu may write
  const auto ncu = fake_ncu(folder, "run_target \"$@\"; raw_page\n");
  const std::string where = " --device cuda --sizes 64 --ncu " + ncu;
  const auto one = runner("profile quick --cell naive:8x8@64 --json - " + where + " -- --set full");
  INFO(one.err);
  REQUIRE(one.code == 0);
  CHECK(one.json().at("cells").at(0).at("launches").size() == 2);
  CHECK(one.json().at("ncu").at("version") == "2025.3.1.0");
  CHECK_THAT(kzoo::test::read_text(folder.path() / "arguments"),
             ContainsSubstring("--set\nfull\n"));

  const auto several = runner("profile quick --plugins naive,smem" + where);
  CHECK(several.code == 0);
  CHECK_THAT(several.out, ContainsSubstring("naive:8x8 #1") && ContainsSubstring("smem:8x8 #2"));
  CHECK(runner("profile quick --plugins naive" + where + " -- -o report").code == 2);
  CHECK_THAT(runner("profile quick --cell naiv:8x8" + where).err,
             ContainsSubstring("did you mean 'naive'?"));

  fake_ncu(folder, "run_target \"$@\"; echo '==ERROR== ERR_NVGPUCTRPERM - no'\n");
  const auto forbidden = runner("profile quick --cell naive:8x8@64" + where);
  CHECK(forbidden.code == 1);
  CHECK_THAT(forbidden.err, ContainsSubstring("may not read the GPU's performance counters"));

  fake_ncu(
      folder,
      "run_target \"$@\"\n"
      "case \"$*\" in *smem.so*) echo '==ERROR== ERR_NVGPUCTRPERM - no';; *) raw_page;; esac\n");
  const auto half = runner("profile quick --plugins naive:8x8,smem:8x8" + where);
  CHECK(half.code == 1);
  CHECK_THAT(half.out, ContainsSubstring("naive:8x8 #1"));
  CHECK_THAT(half.err, ContainsSubstring("may not read the GPU's performance counters"));
}

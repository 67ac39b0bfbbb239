// Nsight Compute's command line, and all that it can answer.
#include "profile/ncu.hpp"

#include "support/catch.hpp"
#include "support/fake_ncu.hpp"
#include "support/paths.hpp"
#include "worker/plugin.hpp"

#include <algorithm>
#include <string_view>

using namespace kzoo;
using kzoo::test::ContainsSubstring;
using kzoo::test::fake_ncu;
using kzoo::test::read_text;
using kzoo::test::scratch_folder;

namespace {

// One variant of a plugin that is built for the simulator.
std::vector<std::string> target(const std::filesystem::path& file, std::uint32_t variant = 0) {
  return profile::profiled_command(test::runner_program(),
                                   {file.string(), "cpu", variant, sized(8, 8, 8), 1});
}
std::vector<std::string> naive() { return target(test::plugin_folder("cpu") / "naive.so"); }
std::vector<std::string> hostile(const char* name) {
  return target(test::hostile_plugin("cpu", name));
}
std::vector<std::string> hostile(const char* name, std::string_view variant) {
  const auto file = test::hostile_plugin("cpu", name);
  const worker::library library(file);
  std::uint32_t index = 0;
  while (library.variant(index).id != variant) ++index;
  return target(file, index);
}

profile::counters collect(const std::string& ncu, const std::vector<std::string>& command,
                          const std::vector<std::string>& arguments = {}) {
  profile::tool tool = profile::find_tool(ncu);
  tool.arguments = arguments;
  return profile::collect(tool, profile::metric::all(90), command);
}

std::string refusal_of(const std::string& ncu, const std::vector<std::string>& arguments = {}) {
  try {
    collect(ncu, naive(), arguments);
  } catch (const profile::no_counters& e) {
    return e.what();
  }
  return "none";
}

std::string setback_of(const std::string& ncu, const std::vector<std::string>& command) {
  try {
    collect(ncu, command);
  } catch (const failure& s) {
    return std::string(name_of(s.verdict)) + ": " + s.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a cell's counters are collected, each launch apart", "[profile]") {
  const scratch_folder folder(test::kSharedMemory);  // where what runs under ncu may write
  const auto ncu = fake_ncu(folder, "run_target \"$@\"; raw_page\n");
  const auto found = collect(ncu, naive());
  REQUIRE(found.launches.size() == 2);
  CHECK(found.launches[0].value(profile::metric::kLoadSectors) == 5120);
  CHECK(found.printed.empty());
  CHECK(found.report.empty());
  // What no launch has is said to be missing; what one has is not.
  const auto is_missing = [&](const std::string& m) {
    return std::ranges::find(found.missing, m) != found.missing.end();
  };
  CHECK(is_missing(profile::metric::kTensor));
  CHECK_FALSE(is_missing(profile::metric::kDram));

  const std::string arguments = read_text(folder.path() / "arguments");
  for (const char* words : {"--profile-from-start\noff\n", "--clock-control\nnone\n", "--csv\n",
                            "--page\nraw\n", profile::metric::kFfma})
    CHECK_THAT(arguments, ContainsSubstring(words));
}

TEST_CASE("ncu's own arguments come through, and go before the defaults", "[profile]") {
  const scratch_folder folder(test::kSharedMemory);  // where what runs under ncu may write
  const auto ncu = fake_ncu(folder, "run_target \"$@\"; raw_page\n");
  collect(ncu, naive(), {"--set", "full", "--clock-control=base", "-k", "two words"});
  const std::string arguments = read_text(folder.path() / "arguments");
  CHECK_THAT(arguments, ContainsSubstring("--set\nfull\n--clock-control=base\n-k\ntwo words\n"));
  CHECK_THAT(arguments, !ContainsSubstring("--clock-control\n"));
  CHECK_THAT(arguments, ContainsSubstring("--page\nraw\n"));
}

TEST_CASE("a metric that ncu does not know costs that metric", "[profile]") {
  const scratch_folder folder(test::kSharedMemory);  // where what runs under ncu may write
  const auto ncu = fake_ncu(folder, R"sh(
for metric in sm__pipe_tensor_cycles_active lts__throughput; do
  case "$*" in *"$metric".*)
    echo "==PROF== Connected to process 1 (/x/runner)"
    echo "==ERROR== Failed to find metric regex:^$metric\\.(sum|avg)$"
    exit 1 ;;
  esac
done
run_target "$@"; raw_page
)sh");
  const auto found = collect(ncu, naive());
  CHECK(found.launches.size() == 2);
  for (const char* metric : {profile::metric::kTensor, profile::metric::kL2})
    CHECK(std::ranges::find(found.missing, metric) != found.missing.end());
}

TEST_CASE("what keeps ncu from counting is said with the way out", "[profile]") {
  const scratch_folder folder(test::kSharedMemory);  // where what runs under ncu may write
  CHECK_THAT(refusal_of(fake_ncu(folder,
                                 "run_target \"$@\"\n"
                                 "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have "
                                 "permission to access NVIDIA GPU Performance Counters'\n"
                                 "echo '==WARNING== No kernels were profiled.'\n")),
             ContainsSubstring("ERR_NVGPUCTRPERM") && ContainsSubstring("Run as root"));
  CHECK_THAT(
      refusal_of(fake_ncu(folder, "echo \"==ERROR== unrecognised option '--bogus'\"; exit 1\n"),
                 {"--bogus"}),
      ContainsSubstring("code 1") && ContainsSubstring("unrecognised option '--bogus'"));
  CHECK_THAT(refusal_of(fake_ncu(folder,
                                 "echo '==ERROR== Profiling failed because a driver "
                                 "resource was unavailable.'; exit 9\n")),
             ContainsSubstring("driver resource was unavailable"));
  CHECK_THAT(refusal_of("/no/such/ncu"), ContainsSubstring("/no/such/ncu cannot be started"));
  CHECK_THAT(refusal_of("/bin/true"), ContainsSubstring("/bin/true is not Nsight Compute's ncu"));
}

TEST_CASE("a cell that goes wrong under ncu says how", "[profile]") {
  const scratch_folder folder(test::kSharedMemory);  // where what runs under ncu may write
  const auto ncu = fake_ncu(folder,
                            "run_target \"$@\"\n"
                            "echo '==WARNING== No kernels were profiled.'\n");
  CHECK_THAT(setback_of(ncu, naive()), ContainsSubstring("error: ncu saw no kernel launch"));
  CHECK_THAT(setback_of(ncu, hostile("launches", "segfault")),
             ContainsSubstring("crashed: the process ended before the run was over") &&
                 ContainsSubstring("The application returned an error code"));
  // Also where it has left counters.
  const scratch_folder other;
  CHECK_THAT(
      setback_of(fake_ncu(other, "run_target \"$@\"; raw_page\n"), hostile("launches", "segfault")),
      ContainsSubstring("crashed: "));
  CHECK_THAT(setback_of(ncu, hostile("process", "throws")), ContainsSubstring("error: "));
  CHECK_THAT(setback_of(ncu, hostile("no_symbol")), ContainsSubstring("unavailable: is a library"));
}

TEST_CASE("a report is named, and output that is no table is shown as it is", "[profile]") {
  const scratch_folder folder(test::kSharedMemory);  // where what runs under ncu may write
  const auto ncu = fake_ncu(folder,
                            "run_target \"$@\"; while [ \"$1\" != -o ]; do shift; done\n"
                            "echo new >\"$2.ncu-rep\"; echo \"==PROF== Report: $2.ncu-rep\"\n");
  const scratch_folder own;
  const std::string name = (own.path() / "x").string();
  const auto report = collect(ncu, naive(), {"-o", name});
  CHECK(report.report == name + ".ncu-rep");
  CHECK(read_text(name + ".ncu-rep") == "new\n");
  CHECK(report.launches.empty());
  CHECK(report.printed.empty());

  CHECK_THAT(refusal_of(ncu, {"-o", name}),
             ContainsSubstring("x.ncu-rep is there already; give ncu -f"));
  CHECK(refusal_of(ncu, {"-f", "-o", name}) == "none");

  const auto details =
      collect(fake_ncu(folder, "run_target \"$@\"; echo '  tile (4, 2, 1)x(8, 16, 1), Device 0'\n"),
              naive(), {"--page", "details"});
  CHECK_THAT(details.printed, ContainsSubstring("  tile (4, 2, 1)x(8, 16, 1), Device 0\n"));
  CHECK_THAT(details.printed, !ContainsSubstring("==PROF=="));
  CHECK_THAT(details.printed, !ContainsSubstring("profiled"));
}

// `runner report` on stored results.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <sstream>

using kzoo::test::check_refused;
using kzoo::test::ContainsSubstring;
using kzoo::test::replaced;
using kzoo::test::runner;
using kzoo::test::scratch_folder;

namespace {

constexpr const char* kSmall = " --device cpu --plugins naive:8x8,smem:*,serial,cublas ";

// The experiment a100, with little time for each cell.
std::string a100_in(const scratch_folder& folder) {
  const auto file = kzoo::test::source_folder() / "configs" / "experiments" / "a100.toml";
  return folder.write("a100.toml", replaced(kzoo::test::read_text(file), "max_seconds = 5.0",
                                            "max_seconds = 0.05"));
}

// Without the lines on how the results were measured, which only a report has.
std::string tables_of(const std::string& report) {
  std::istringstream in(report);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("  measured ") && !line.starts_with("  times: ") &&
        !line.starts_with("stored in ")) {
      out += line + '\n';
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a report of stored results has the tables of the run", "[cli]") {
  const scratch_folder folder;
  const auto file = (folder.path() / "r.json").string();
  for (const std::string& experiment :
       {std::string("quick --sizes 16,7x9x5") + kSmall,
        a100_in(folder) + " --sizes 16,24 --verify quick" + kSmall,
        std::string("quick --sizes 16 --verify full --device cpu --plugins smem:8x8,cublas")}) {
    const auto ran = runner(experiment + " --json " + file);
    REQUIRE(ran.code == 0);
    const auto shown = runner("report " + file);
    INFO(shown.err);
    CHECK(shown.code == 0);
    CHECK(tables_of(shown.out) == tables_of(ran.out));
    CHECK(shown.out != ran.out);
    const auto md = runner("report --md " + file);
    CHECK(md.code == 0);
    CHECK_THAT(md.out, ContainsSubstring("| smem"));
    CHECK_THAT(md.out, ContainsSubstring("- unavailable cublas: "));
  }
}

TEST_CASE("several sizes get a table of kernel by size", "[cli]") {
  const scratch_folder folder;
  const std::string run = a100_in(folder) + " --verify quick --sizes 16";
  const auto several = runner(run + ",24" + kSmall);
  CHECK_THAT(several.out, ContainsSubstring("GFLOP/s by kernel and shape"));
  const auto one = runner(run + kSmall);
  CHECK(one.out.find("by kernel and shape") == std::string::npos);
}

TEST_CASE("a file without results is bad input", "[cli]") {
  const scratch_folder folder;
  const auto empty = folder.write("r.json", "{\"schema\": \"kzoo.results/9\"}");
  for (const std::string& file : {empty, std::string("/no/such/r.json")}) {
    check_refused("report " + file, {file + ": error: "});
  }
}

// Whether the bits of a row depend on M: said at tier full, and no failure.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <string>

using namespace kzoo::test;

TEST_CASE("tier full says up to which M the bits of a row stay", "[cli][hostile]") {
  const scratch_folder folder;
  const std::string csv = (folder.path() / "out.csv").string(),
                    json = (folder.path() / "out.json").string();
  const auto file =
      folder.write("rows.toml",
                   "plugins = ['smem:16x16', 'precision:vector_in_order',"
                   "'precision:few_in_order', 'precision:drifts_as_declared']\n"
                   "[problem]\nsizes = [16]\n[verify]\ntier = 'full'\n[timing]\nenabled = false\n");
  const auto ran = run_hostile(file + " --device cpu --json " + json + " --csv " + csv);
  INFO(ran.err);
  REQUIRE(ran.code == 0);  // none is a failure
  const std::map<std::string, std::array<std::string, 2>> expected{
      {"16x16", {"yes", "yes: rows have the same bits at M = 1, 2, 8, 16, 17, 32, 64, 100, 128"}},
      {"vector_in_order", {"no", "no: row 0 at M = 1 differs from row 0 at M = 2; N = 64"}},
      {"few_in_order",
       {"up to M = 32", "up to M = 32: row 0 at M = 1 differs from row 0 at M = 64; N = 64"}},
      {"drifts_as_declared", {"no", "no: it is declared nondeterministic"}}};
  const auto cells = nlohmann::json::parse(read_text(json)).at("cells");
  CHECK(cells.size() == expected.size());
  for (const auto& cell : cells) {
    INFO(cell.at("variant"));
    const auto& [word, sentence] = expected.at(cell.at("variant"));
    CHECK(cell.at("verdict") == "pass");
    CHECK(cell.at("batch_invariant") == word);
    CHECK(contains(cell.at("checks").dump(), sentence));
  }
  CHECK(contains(read_text(csv), ",batch_invariant,"));
  CHECK(contains(read_text(csv), ",up to M = 32,"));
  CHECK(contains(ran.out, "invariant"));
  CHECK(contains(ran.out, "up to M = 32"));
  CHECK(contains(ran.out, "ok: 4 pass"));
}

TEST_CASE("validate has a line for the bits of a row", "[cli][hostile]") {
  const auto ran = run_hostile("validate precision:few_in_order --device cpu");
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "note     batch invariance up to M = 32: row 0 at M = 1 differs"));
}

TEST_CASE("where rows of A depend on M, or sums are exact, nothing is said of a row's bits",
          "[cli]") {
  const auto what = GENERATE(as<std::string>{}, "--dtype i32", "--dtype f32 --layout tn");
  const auto ran = runner("validate every_type:naive --device cpu " + what);
  CHECK(ran.code == 0);
  CHECK_FALSE(contains(ran.out, "batch invariance"));
}

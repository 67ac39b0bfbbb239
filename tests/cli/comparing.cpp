// `runner compare` on stored results.
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/program.hpp"
#include "support/rounds_apart.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

using namespace kzoo;
using test::ContainsSubstring;
using test::runner;

namespace {

// Writes results with ten samples per cell; those of `kernel` are slower by `factor`.
std::string stored(const test::scratch_folder& folder, const std::string& name,
                   const std::string& kernel = "", double factor = 1) {
  results::document d = test::made_document();
  for (results::cell& c : d.cells) {
    if (!c.time) continue;
    std::vector<double> samples;
    const double ms = c.time->median_ms * (c.kernel.name() == kernel ? factor : 1);
    for (int i = 0; i < 10; ++i) samples.push_back(ms * (1 + 0.0005 * i));
    c.time = test::rounds_apart(samples);
  }
  return folder.write(name, storage::dumped(storage::to_json(d), 1));
}

}  // namespace

TEST_CASE("compare reports a slower kernel, with its own exit code", "[cli]") {
  const test::scratch_folder folder;
  const std::string old_file = stored(folder, "old.json");
  const auto same = runner("compare " + old_file + " " + old_file);
  INFO(same.out << same.err);
  CHECK(same.code == 0);
  CHECK_THAT(same.out, ContainsSubstring("ok: 3 same, 1 failing"));

  const std::string slow = stored(folder, "slow.json", "fast:8x8_4x4", 1.05);
  const auto found = runner("compare " + old_file + " " + slow);
  CHECK(found.code == 4);
  CHECK_THAT(found.out, ContainsSubstring("REGRESSION: 1 slower, 2 same, 1 failing"));
  const auto line = found.out.substr(found.out.find("+5.0%"));
  CHECK_THAT(line.substr(0, line.find('\n')), ContainsSubstring("slower"));
  CHECK(runner("compare --threshold 6% " + old_file + " " + slow).code == 0);
  CHECK(runner("compare " + slow + " " + old_file).code == 0);
  CHECK_THAT(runner("compare --md " + old_file + " " + slow).out, ContainsSubstring("| kernel"));
}

TEST_CASE("compare refuses what it cannot compare", "[cli]") {
  const test::scratch_folder folder;
  const std::string here = stored(folder, "here.json");
  std::string text = test::read_text(here);
  text.replace(text.find("Some GPU"), 8, "Other GPU");
  const std::string there = folder.write("there.json", text);
  check_refused("compare " + here + " " + there,
                {"different devices: Some GPU and Other GPU; --force"});
  const auto forced = runner("compare --force " + here + " " + there);
  CHECK(forced.code == 0);
  CHECK_THAT(forced.out, ContainsSubstring("note: they are from different devices"));

  for (const std::string& words :
       {here, here + " " + here + " --baseline base", here + " gone.json",
        here + " " + here + " --threshold much", here + " " + here + " --threshold -1",
        here + " " + here + " " + here, std::string()}) {
    check_refused("compare " + words, {"error: "});
  }
}

TEST_CASE("compare ranks one result against a baseline", "[cli]") {
  const test::scratch_folder folder;
  const std::string file = stored(folder, "r.json");
  const auto ranked = runner("compare " + file + " --baseline base");
  INFO(ranked.err);
  CHECK(ranked.code == 0);
  CHECK_THAT(ranked.out, ContainsSubstring("1  fast:8x8_4x4"));
  CHECK_THAT(ranked.out, ContainsSubstring("2.00x"));
  check_refused("compare " + file + " --baseline unknown", {"fast:8x8_4x4"});
}

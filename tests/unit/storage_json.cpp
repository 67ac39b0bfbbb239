// Results written to JSON and read back.
#include "input/diagnostics.hpp"
#include "results/experiment.hpp"
#include "storage/results_json.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/program.hpp"
#include "support/stored.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

using namespace kzoo;
using json = nlohmann::ordered_json;
using test::ContainsSubstring;

namespace {

// As in a file, where numbers that are not finite are null.
json stored(const results::document& d) { return json::parse(storage::to_json(d).dump()); }

// The error of read() for a file with this text; "": none.
std::string refusal(const std::string& text) {
  const test::scratch_folder folder;
  return test::refusal_of([&] { storage::read(folder.write("r.json", text)); });
}

std::string refusal_with(const char* pointer, const json& value) {
  json j = stored(test::made_document());
  j.at(json::json_pointer(pointer)) = value;
  return refusal(j.dump());
}

}  // namespace

TEST_CASE("results are read from JSON as they were written", "[results]") {
  results::document d = test::made_document();
  CHECK(stored(test::read_document(stored(d).dump())) == stored(d));

  d.experiment.pivot_table = {results::pivot_axis::kernel, results::pivot_axis::dtype,
                              results::pivot_value::ms};
  d.experiment.baseline.reset();
  d.experiment.overridden = {};
  d.experiment.published = {};
  d.cells[0].declared = 77;  // a plugin may declare any number
  CHECK(stored(test::read_document(stored(d).dump())) == stored(d));
}

TEST_CASE("layouts and batches are read as they were written", "[results]") {
  results::document d = test::made_document();
  d.experiment.overridden.layouts = {"tt"};
  d.experiment.overridden.batches = {"4"};
  problem& p = d.experiment.problems.at(0);
  p.layout = layout::tt;
  p.batch = 4;
  p.batch_padding = 3;
  p.batch_shared = shared_operand::b;
  p.allow.add(KZOO_COMPUTE_TF32);
  d.experiment.overridden.allow = {"tf32"};
  d.plugins.at(0).host_code = false;
  json j = stored(d);
  CHECK(j["cells"][0]["problem"]["layout"] == "tt");
  CHECK(j["cells"][0]["problem"]["batch"] == 4);
  CHECK(j["cells"][0]["problem"]["batch_shared"] == "b");
  CHECK(j["cells"][0]["problem"]["stride_c"] == p.stride_c());
  CHECK(j["cells"][0]["problem"]["precision"] == "fp32");
  CHECK(j["cells"][0]["problem"]["allow"] == json::array({"tf32"}));
  CHECK(j["plugins"][0]["host_code"] == false);
  CHECK(stored(test::read_document(j.dump())) == j);
  j["cells"][0]["problem"]["batch"] = 0;
  CHECK_THROWS(test::read_document(j.dump()));
}

TEST_CASE("intervals are read as they were stored", "[results]") {
  json j = stored(test::made_document());
  j["cells"][1]["speedup_over_baseline"] = 2;
  j["cells"][1]["speedup_interval"] = {0.25, 8};
  CHECK_THAT(test::csv_text(test::read_document(j.dump())), ContainsSubstring(",0.25,8,"));
}

TEST_CASE("keys in another order, as other programs write them, are read too", "[results]") {
  const std::string written = test::document_text(test::made_document());
  const std::string sorted = nlohmann::json::parse(written).dump(1);
  CHECK(test::document_text(test::read_document(sorted)) == written);
}

TEST_CASE("results without SM clocks, conditions and times end to end can be read", "[results]") {
  json j = stored(test::made_document());
  for (json& cell : j["cells"]) {
    cell.erase("conditions");
    cell.erase("end_to_end");
    if (!cell["time"].is_null()) cell["time"].erase("sm_mhz");
  }
  const results::document d = test::read_document(j.dump());
  CHECK(d.cells[0].time->sm_mhz.empty());
  CHECK(timing::median_mhz(*d.cells[0].time) == 0);
  CHECK_FALSE(d.cells[0].conditions.any());
  CHECK_FALSE(d.cells[0].end_to_end);
}

TEST_CASE("a missing key is named", "[results]") {
  const json whole = stored(test::made_document());
  for (const char* key : {"runner", "started", "experiment", "device", "plugins", "cells"}) {
    json j = whole;
    j.erase(key);
    CHECK_THAT(refusal(j.dump()), ContainsSubstring(key));
  }
}

TEST_CASE("a file that is not of results is refused with the position of the error", "[results]") {
  CHECK_THAT(refusal(""), ContainsSubstring("r.json: error: holds no results: it is empty; ") &&
                              ContainsSubstring("results/*.jsonl"));
  CHECK_THAT(refusal("no json\n"), ContainsSubstring("holds no results: it is no JSON; "));
  CHECK_THAT(refusal("{no json}\n"), ContainsSubstring("r.json:1:3: error: "));
  CHECK_THAT(refusal("[]"), ContainsSubstring("r.json: error: expected an object, found a list"));
  CHECK_THAT(refusal("{}"), ContainsSubstring("holds no results: the key \"schema\" is missing"));
  const std::string whole = stored(test::made_document()).dump(2);
  for (std::size_t length = 0; length < whole.size(); length += 101) {
    CHECK_THAT(refusal(whole.substr(0, length)), ContainsSubstring("r.json:"));
  }

  CHECK_THAT(refusal_with("/schema", "kzoo.results/7"),
             ContainsSubstring("kzoo.results/3, and not"));
  CHECK_THAT(refusal_with("/schema", "else"), ContainsSubstring("else"));
  CHECK_THAT(
      refusal_with("/cells/1/time/samples_ms/0", "soon"),
      ContainsSubstring(
          "r.json: error: cells[1].time.samples_ms[0]: expected a number, found '\"soon\"'"));
  CHECK_THAT(refusal_with("/cells/1/time/rounds", {0, 1}),
             ContainsSubstring("cells[1].time.rounds: expected one for each sample"));
  CHECK_THAT(refusal_with("/cells/1/time/rounds/0", 7), ContainsSubstring("not in order"));
  CHECK_THAT(refusal_with("/cells/1/time/sm_mhz", {1755}),
             ContainsSubstring("cells[1].time.sm_mhz: expected a clock for each sample"));
  CHECK_THAT(refusal_with("/cells/1/time/sm_mhz/2", -1), ContainsSubstring("a clock in MHz"));
  CHECK_THAT(refusal_with("/cells/0/conditions/celsius", "hot"), ContainsSubstring("celsius: "));
  CHECK_THAT(refusal_with("/cells/0/verdict", "fine"), ContainsSubstring("cells[0].verdict: "));
  CHECK_THAT(refusal_with("/cells/0/checks/1/outcome", "fine"), ContainsSubstring("checks[1]"));
  CHECK_THAT(refusal_with("/experiment/verify/tier", "some"), ContainsSubstring("verify.tier: "));
  CHECK_THAT(refusal_with("/cells/0/problem/m", 1.5), ContainsSubstring("problem.m: "));
  CHECK_THAT(refusal_with("/cells/0/launches/0/registers", -1), ContainsSubstring("from 0 to"));
  CHECK_THAT(refusal_with("/cells/0/launches/0/registers", 1ll << 40),
             ContainsSubstring("from 0 to"));
  CHECK_THAT(refusal_with("/cells/0/launches/0/grid", json::array({1})),
             ContainsSubstring("grid: "));
  CHECK_THAT(refusal_with("/cells/1/differs_from/0/kernel", "x:y"),
             ContainsSubstring("cells[1].differs_from: no earlier cell of its problem is of x:y"));
  CHECK_THAT(refusal_with("/notes", "text"), ContainsSubstring("notes: expected a list"));
  CHECK_THROWS_AS(storage::read("/no/such/file.json"), input::invalid);
  CHECK_THROWS_AS(storage::read("/tmp"), input::invalid);
  CHECK_THROWS_WITH(storage::read("/proc/self/mem"),
                    ContainsSubstring("cannot be read to its end"));
}

TEST_CASE("results that no run can have are refused", "[results]") {
  CHECK_THAT(refusal_with("/cells/1/time/rounds/0", -1),
             ContainsSubstring("cells[1].time.rounds[0]: expected a number from 0 to 1000000000"));
  CHECK_THAT(refusal_with("/cells/1/time/rounds/2", 2147483647), ContainsSubstring("rounds[2]: "));
  CHECK_THAT(refusal_with("/cells/1/time/noise", -0.5), ContainsSubstring("noise: expected"));
  CHECK_THAT(refusal_with("/cells/1/speedup_over_baseline", -2), ContainsSubstring("above 0"));
  CHECK_THAT(refusal_with("/cells/1/speedup_interval", {2, 1}), ContainsSubstring("lower number"));
  CHECK_THAT(refusal_with("/cells/1/speedup_interval", {2}), ContainsSubstring("two numbers"));
  CHECK_THAT(refusal_with("/cells/0/problem/padding", 9223372036854775807),
             ContainsSubstring("cells[0].problem: expected a padding from 0 to 65536"));
  CHECK_THAT(refusal_with("/cells/0/problem/padding", -1), ContainsSubstring("padding from 0"));
  CHECK_THAT(refusal_with("/cells/0/problem/m", 9223372036854775807),
             ContainsSubstring("expected sizes from 1 to 1048576"));
  json twice = stored(test::made_document());
  twice["cells"].push_back(twice["cells"][1]);
  CHECK_THAT(refusal(twice.dump()),
             ContainsSubstring("cells[6]: fast:8x8_4x4 on 512x512x512 f32 is there twice"));
  json list = stored(test::made_document());
  list["cells"].push_back(7);
  CHECK_THAT(refusal(list.dump()), ContainsSubstring("expected an object, found '7'"));
}

TEST_CASE("lists and objects too deep within each other are refused", "[results]") {
  constexpr std::size_t kDeep = 200000;
  const std::string brackets = std::string(kDeep, '[') + std::string(kDeep, ']');
  CHECK_THAT(refusal(brackets), ContainsSubstring("r.json:1: error: is nested deeper than 64"));
  std::string objects;
  for (std::size_t i = 0; i < kDeep; ++i) objects += "{\"a\":";
  CHECK_THAT(refusal(objects), ContainsSubstring("is nested deeper than 64"));
  std::string inside = stored(test::made_document()).dump();
  inside.insert(inside.find("\"cells\":[") + 9, brackets + ',');
  CHECK_THAT(refusal(inside), ContainsSubstring("is nested deeper than 64"));
  CHECK_THAT(refusal("{\"schema\":\"kzoo.journal/3\",\"x\":" + brackets + "}\n"),
             ContainsSubstring("is nested deeper than 64"));
}

TEST_CASE("a document has a line for each cell", "[results]") {
  const std::string text = test::document_text(test::made_document());
  CHECK(json::parse(text) == stored(test::made_document()));
  CHECK(std::count(text.begin(), text.end(), '\n') == 23);
}

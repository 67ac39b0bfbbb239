// `runner xray`: counts against those of Nsight Compute on an H200, and what it refuses.
#include "cli/commands.hpp"
#include "support/catch.hpp"
#include "support/made_results.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace kzoo;
using namespace kzoo::test;
using nlohmann::json;

namespace {

// As the metrics are ordered in the stored counters: global loads and stores, requests and sectors;
// shared loads and stores, requests and wavefronts.
using counters = std::array<long, 8>;

counters counters_of(const json& launch) {
  const json& totals = launch.at("totals");
  const auto sum = [&](const char* access, const char* what) {
    return totals.contains(access) ? totals.at(access).at(what).get<long>() : 0L;
  };
  return {sum("global load", "requests") + sum("cp.async", "requests"),
          sum("global load", "sectors") + sum("cp.async", "sectors"),
          sum("global store", "requests"),
          sum("global store", "sectors"),
          sum("shared load", "requests"),
          sum("shared load", "wavefronts"),
          sum("shared store", "requests"),
          sum("shared store", "wavefronts")};
}

json stored(const char* name = "h200-counters.json") {
  return json::parse(read_text(source_folder() / "tests" / "fixtures" / name)).at("cells");
}

// Of TMA and wgmma; stores by threads, which follow in the file, differ (docs/xray.md).
std::vector<long> stored_of_tensor(const std::string& cell) {
  auto all = stored("h100-tensor-counters.json").at(cell).get<std::vector<long>>();
  all.resize(6);
  return all;
}

std::string size_of(const std::string& cell) { return cell.substr(cell.find('@') + 1); }

// The analysis of cells of one size, in one call.
json analysed(const std::vector<std::string>& cells) {
  std::string list;
  for (const std::string& cell : cells) list += (list.empty() ? "" : ",") + cell;
  const auto ran =
      runner("xray ladder --json - --sizes " + size_of(cells.front()) + " --cell " + list);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json().at("cells");
}

std::string name_of(const json& cell, const std::string& size) {
  return cell.at("plugin").get<std::string>() + ':' + cell.at("variant").get<std::string>() + '@' +
         size;
}

bool within(long found, long expected, double share) {
  return std::abs(double(found - expected)) <= share * double(expected);
}

}  // namespace

TEST_CASE("xray writes a page with the annotated source", "[cli]") {
  const scratch_folder folder;
  const std::string file = (folder.path() / "out.html").string();
  const auto ran = runner("xray ladder --sizes 64 --cell naive:32x32 --html " + file);
  INFO(ran.err);
  CHECK(ran.code == 0);
  const std::string page = read_text(file);
  CHECK_THAT(page, ContainsSubstring("<h1>naive:32x32 on 64x64x64 f32, access by access</h1>"));
  CHECK_THAT(page, ContainsSubstring("costs most: "));
  CHECK_THAT(page, ContainsSubstring("g.a_at(row, k) * g.b_at(k, col);</code>"));
  CHECK_THAT(page, ContainsSubstring("default-src 'none'"));
}

TEST_CASE("xray counts what Nsight Compute counts on an H200", "[cli]") {
  const json truth = stored();
  for (const std::string size : {"128x128x128", "130x70x33"}) {
    const json cells = analysed({"register_tiles:128x128x8_8x8@" + size,
                                 "bank_conflict_free:128x128x8_plain@" + size,
                                 "bank_conflict_free:128x128x8_swizzled@" + size});
    REQUIRE(cells.size() == 3);
    for (const json& cell : cells) {
      const std::string name = name_of(cell, size);
      INFO(name);
      const json& launch = cell.at("launches").at(0);
      CHECK(counters_of(launch) == truth.at(name).get<counters>());
      CHECK(launch.at("findings").empty());
    }
  }
}

TEST_CASE("xray counts of TMA and wgmma what Nsight Compute counts on an H100", "[cli]") {
  const auto ran = runner(
      "xray tensor --json - --sizes 128 --cell tma:128x128x64,tma_store:128x128x64,"
      "clusters:128x256x64_2x1");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const json cells = ran.json().at("cells");
  REQUIRE(cells.size() == 3);
  for (const json& cell : cells) {
    const auto name =
        cell.at("plugin").get<std::string>() + ':' + cell.at("variant").get<std::string>();
    INFO(name);
    const json& totals = cell.at("launches").at(0).at("totals");
    std::vector<long> found;
    for (const auto& [kind, served_by] :
         {std::pair("TMA load", "sectors"), {"TMA store", "sectors"}, {"wgmma", "wavefronts"}}) {
      const bool has = totals.contains(kind);
      found.push_back(has ? totals.at(kind).at("requests").get<long>() : 0);
      found.push_back(has ? totals.at(kind).at(served_by).get<long>() : 0);
    }
    CHECK(found == stored_of_tensor(name));
    if (name == "tma_store:128x128x64")
      CHECK(totals.at("shared store").at("wavefronts") ==
            stored("h100-tensor-counters.json").at(name).at(8));
  }
}

TEST_CASE("xray finds the bank conflicts of ldmatrix without a swizzle", "[cli]") {
  const auto source = source_folder() / "tests" / "fixtures" / "ldmatrix_rows.cu";
  const auto ran =
      runner("xray tensor --sizes 64 --json - --plugins " + shell_word(source.string()));
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  std::map<std::string, std::pair<long, long>> loads;  // requests and wavefronts
  for (const json& cell : ran.json().at("cells")) {
    const json& launch = cell.at("launches").at(0);
    CHECK(launch.at("uncounted") == 0);
    const json& load = launch.at("totals").at("shared load");
    loads[cell.at("variant")] = {load.at("requests"), load.at("wavefronts")};
  }
  CHECK(loads["swizzled"] == std::pair(128L, 4 * 128L));
  CHECK(loads["plain"] == std::pair(128L, 32 * 128L));
  CHECK_THAT(ran.err,
             ContainsSubstring("plain, ldmatrix_rows.cu:28, shared load: bank conflicts, 32") &&
                 ContainsSubstring("for each request where 4 would do"));
}

TEST_CASE("xray follows stores, thread by thread, to what wgmma reads", "[cli]") {
  const auto source = source_folder() / "tests" / "fixtures" / "stores_after_fence.cu";
  const auto ran = runner("xray tensor --sizes 128 --plugins " + shell_word(source.string()));
  CHECK(ran.code == 1);
  CHECK_THAT(
      ran.out,
      ContainsSubstring("wgmma (stores_after_fence.cu:27) reads byte 0 of dynamic") &&
          ContainsSubstring("which a thread has written (stores_after_fence.cu:21) without"));
}

TEST_CASE("Nsight Compute counts here what it counted on an H200", "[cli][.ncu]") {
  needs_gpu();
  const json all =
      json::parse(read_text(source_folder() / "tests" / "fixtures" / "h200-counters.json"));
  std::string metrics;
  for (const auto& metric : all.at("metrics").get<std::vector<std::string>>())
    metrics += (metrics.empty() ? "" : ",") + metric;
  const auto ran = runner(
      "profile ladder --device cuda --json - --sizes 128,130x70x33 --cell "
      "naive:32x32@128,smem:32x32@128,float4:128x128x8_8x8@128,"
      "bank_conflict_free:128x128x8_plain@130x70x33 -- --metrics " +
      metrics);
  INFO(ran.err);
  if (ran.err.find("there is no ncu") != std::string::npos) skip("there is no ncu here");
  REQUIRE(ran.code == 0);
  const json cells = ran.json().at("cells");
  REQUIRE(cells.size() == 4);
  for (const json& cell : cells) {
    const auto problem = cell.at("problem").get<std::string>();  // 130x70x33 f32
    const std::string name = name_of(cell, problem.substr(0, problem.find(' ')));
    INFO(name);
    const auto expected = all.at("cells").at(name).get<counters>();
    const json& counted = cell.at("launches").at(0).at("metrics");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string metric = all.at("metrics").at(i);
      INFO(metric);
      // Wavefronts change a little from run to run.
      CHECK(within(counted.at(metric).get<long>(), expected[i], 0.01));
    }
  }
}

// The whole ladder takes a few minutes with its builds: kzoo_cli_tests "[ladder]".
TEST_CASE("xray counts what Nsight Compute counts, for the whole ladder", "[.ladder]") {
  const json truth = stored();
  for (const std::string size : {"128x128x128", "130x70x33", "200x136x72"}) {
    std::vector<std::string> names;
    for (const auto& [name, counts] : truth.items())
      if (size_of(name) == size) names.push_back(name);
    for (const json& cell : analysed(names)) {
      const std::string name = name_of(cell, size);
      INFO(name);
      REQUIRE(cell.at("launches").size() == 1);
      CHECK(cell.at("launches").at(0).at("findings").empty());
      const counters found = counters_of(cell.at("launches").at(0));
      const counters expected = truth.at(name).get<counters>();
      // docs/xray.md explains each difference.
      const bool early = name.starts_with("pipelined:") || name.starts_with("sliced_k:");
      for (std::size_t i = 0; i < 4; ++i) {
        const bool repeated = name == "pipelined:128x256x16_s5@128x128x128" && i == 1;
        CHECK((repeated || found[i] == expected[i]));
      }
      CHECK((early || within(found[4], expected[4], 0.01)));
      CHECK(within(found[5], expected[5], 0.01));
      const bool predicated = name == "double_buffer:128x128x8_8x8@128x128x128";
      CHECK((predicated || found[6] == expected[6]));
      CHECK(within(found[7], expected[7], 0.01));
    }
  }
}

TEST_CASE("xray finds nothing in kernels with operations of whole warps", "[.ladder]") {
  for (const char* experiment : {"tensor", "tf32"}) {
    const auto ran =
        runner(std::string("xray ") + experiment +
               " --sizes 130x70x33 --plugins wmma_every_type:*,mma_every_type:* --json -");
    INFO(ran.err);
    CHECK(ran.code == 0);
  }
}

TEST_CASE("xray runs a part of the blocks, and scales what they count", "[cli]") {
  const auto ran = runner("xray quick --sizes 128 --cell coalesced:32x32@128 --blocks 3 --json -");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.err, ContainsSubstring("3 of 16 blocks were run"));
  const json& launch = ran.json().at("cells").at(0).at("launches").at(0);
  CHECK(launch.at("blocks_run") == 3);
  // Its blocks are all alike.
  CHECK(counters_of(launch) == stored().at("coalesced:32x32@128x128x128").get<counters>());
}

TEST_CASE("xray says what a slow line costs and what to do", "[cli]") {
  const std::string cells = "xray ladder --sizes 128 --lines --cell bank_conflict_free:128x128x8_";
  const auto plain = runner(cells + "plain");
  INFO(plain.out);
  CHECK(plain.code == 0);
  CHECK_THAT(plain.out,
             ContainsSubstring("bank conflicts, 2 wavefronts for each request where 1 would do") &&
                 ContainsSubstring("pad the rows by 4 bytes") &&
                 ContainsSubstring("banks of its lanes: 0 0 1 1") &&
                 ContainsSubstring("a_tile[Layout::at(a_k, a_row)] = a4.x;"));
  const auto swizzled = runner(cells + "swizzled");
  CHECK(swizzled.code == 0);
  CHECK_THAT(swizzled.out, !ContainsSubstring("bank conflicts"));
}

TEST_CASE("xray says how a kernel crashed", "[cli][hostile]") {
  const auto ran = runner("xray quick --sizes 8 --cell launches:segfault --plugin-dir " +
                          shell_word(hostile_folder()));
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("crashed launches:segfault: ") &&
                          ContainsSubstring("it ended with SIGSEGV, an access to memory") &&
                          ContainsSubstring("an access to address 0x0, by kernel ") &&
                          ContainsSubstring(", thread (0,0,0), launches.cu:60"));
}

// Two kernels with the same requests, of which one has eight times the wavefronts: in sectors, 16.5
// and 2.5 a load, 32 and 4 a store.
TEST_CASE("source D2's two kernels", "[.ladder]") {
  const json cells = analysed({"naive:32x32@128x128x128", "coalesced:32x32@128x128x128"});
  const counters naive = counters_of(cells.at(0).at("launches").at(0));
  const counters coalesced = counters_of(cells.at(1).at("launches").at(0));
  CHECK(naive[0] == coalesced[0]);
  CHECK(naive[2] == coalesced[2]);
  CHECK(naive[1] * 10 == coalesced[1] * 66);
  CHECK(naive[3] == coalesced[3] * 8);
}

TEST_CASE("source D3's 5 120 load and 128 store transactions", "[cli]") {
  const auto d3 = runner("xray blocks --sizes 32 --cell coalesced:32x32@32 --lines --json -");
  INFO(d3.err);
  REQUIRE(d3.code == 0);
  const json& launch = d3.json().at("cells").at(0).at("launches").at(0);
  CHECK(launch.at("totals").at("global load").at("sectors") == 5120);
  CHECK(launch.at("totals").at("global store").at("sectors") == 128);
  CHECK_THAT(d3.err,
             ContainsSubstring("5120") && ContainsSubstring("g.a_at(row, k) * g.b_at(k, col)"));
  CHECK(d3.json().at("schema") == "kzoo.xray/1");
  for (const json& line : launch.at("lines"))
    CHECK_THAT(line.at("file").get<std::string>(), ContainsSubstring("coalesced.cu"));
}

// flaws.cu marks the lines of each flaw with the variant's name.
TEST_CASE("xray finds one flaw in each of 27 kernels, at its lines", "[cli]") {
  const std::map<std::string, std::vector<std::string>> expected{
      {"race in shared memory",
       {"no_barrier", "no_second_barrier", "no_warp_barrier", "two_writers", "late_write",
        "same_stage", "dynamic_race", "atomic_and_plain", "vector_overlap"}},
      {"race between blocks",
       {"all_write", "overlapping_tiles", "reads_neighbour", "sums_without_atomics"}},
      {"uninitialised read of shared memory", {"no_zeros", "stage_too_early", "dynamic_unwritten"}},
      {"uninitialised read of global memory", {"reads_c", "reads_workspace"}},
      {"atomic operation on uninitialised global memory", {"adds_to_c"}},
      {"write out of bounds", {"c_past_its_end"}},
      {"index out of bounds", {"row_too_long", "one_past", "negative", "dynamic_past"}},
      {"read out of bounds", {"a_past_its_end"}},
      {"misaligned access", {"odd_row", "padded_by_one"}}};
  std::map<std::string, std::set<int>> marked;
  int number = 0;
  for (const std::string& line : lines_of(source_folder() / "tests" / "hostile" / "flaws.cu")) {
    ++number;
    const auto mark = line.rfind("// ");
    if (mark != std::string::npos) marked[line.substr(mark + 3)].insert(number);
  }
  std::string cells = "flaws:none,flaws:other_barriers";
  std::size_t count = 0;
  for (const auto& [what, names] : expected) {
    for (const std::string& name : names) cells += ",flaws:" + name;
    count += names.size();
  }
  CHECK(count == 27);
  const auto ran = runner("xray quick --sizes 64x64x32 --json - --plugin-dir " +
                          shell_word(hostile_folder()) + " --cell " + cells);
  INFO(ran.err);
  REQUIRE(ran.code == 1);  // there are findings
  std::size_t checked = 0;
  for (const json& cell : ran.json().at("cells")) {
    const auto name = cell.at("variant").get<std::string>();
    INFO(name << ": " << cell.at("reason"));
    const json& findings = cell.at("launches").at(0).at("findings");
    if (name == "none" || name == "other_barriers") {
      CHECK(findings.empty());
      continue;
    }
    bool found = false;
    for (const json& f : findings) {
      INFO(f.dump());
      CHECK(marked[name].contains(f.at("where").at("line").get<int>()));
      const int earlier = f.at("earlier").at("line");
      CHECK((earlier == 0 || marked[name].contains(earlier)));
      const auto& names = expected.at(f.at("what").get<std::string>());
      found = found || std::ranges::find(names, name) != names.end();
    }
    CHECK(found);
    ++checked;
  }
  CHECK(checked == count);
}

TEST_CASE("a write between the rows of C is out of bounds", "[cli]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "padded.toml",
      "plugins = ['flaws:c_between_rows']\n[problem]\nsizes = ['64x64x32']\npadding = [3]\n");
  const auto ran = runner("xray " + file + " --cell flaws:c_between_rows --plugin-dir " +
                          shell_word(hostile_folder()));
  INFO(ran.err);
  CHECK_THAT(ran.out,
             ContainsSubstring("write out of bounds") &&
                 ContainsSubstring(": thread 0 of block (0,0,0), element (0, 64) of C, which is "
                                   "64x64"));
}

// What the document says was measured is what is stored.
TEST_CASE("docs/xray.md: the table against Nsight Compute", "[cli]") {
  const json truth = stored();
  int rows = 0;
  for (const std::string& line : lines_of(source_folder() / "docs" / "xray.md")) {
    if (!line.starts_with("| `") || line.find(" / ") == std::string::npos) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    INFO(line);
    const std::string cell = name + "@128x128x128";
    const auto c =
        truth.contains(cell) ? truth.at(cell).get<std::vector<long>>() : stored_of_tensor(name);
    std::string expected = "| `" + name + "` |";
    for (std::size_t i = 0; i < c.size(); i += 2)
      expected += ' ' + std::to_string(c[i]) + " / " + std::to_string(c[i + 1]) + " |";
    CHECK(line == expected);
    ++rows;
  }
  CHECK(rows == 3 + 2);
}

TEST_CASE("what is wrong on a GPU can be looked at in the simulator, at a size that it can do",
          "[cli]") {
  results::document d = made_document();
  d.plugins[1].description->native = false;
  CHECK_THAT(cli::xray_hint(d), ContainsSubstring(" in the simulator: ") &&
                                    ContainsSubstring(":8x8_4x4 --sizes 256 --lines"));
  d.cells[4].verdict = verdict::pass;
  CHECK(cli::xray_hint(d) == "");
}

TEST_CASE("for a kernel that fails a check, an experiment with its matrices is named", "[cli]") {
  const results::document d = made_document();
  results::validation v{d.device, tier::quick, {d.plugins[1]}, {}};
  v.plugins[0].description->native = false;
  v.device.id = "cpu";
  v.variants = {{.kernel = v.plugins[0].name + ":8x8", .dtype = KZOO_F32}};
  v.variants[0].findings = {{"product", results::outcome::fail, "deadlock", {}}};
  const auto hint = [&](kzoo_type type) {
    v.variants[0].dtype = type;
    return cli::xray_hint(v);
  };
  CHECK_THAT(hint(KZOO_F32),
             ContainsSubstring(" xray quick ") && ContainsSubstring(":8x8 --lines"));
  CHECK_THAT(hint(KZOO_F16),
             ContainsSubstring(" xray tensor ") && ContainsSubstring(":8x8 --sizes 128 --lines"));
  CHECK(hint(KZOO_F64) == "");
}

TEST_CASE("only one export of xray goes to stdout", "[cli]") {
  check_refused("xray quick --cell naive:8x8@64 --json - --md -",
                {"--md -: error: only one export can go to stdout"});
}

TEST_CASE("xray says what it cannot count", "[cli]") {
  check_refused("xray quick --device cuda --cell smem:8x8", {"leave out --device cuda"});
  const auto native = runner("xray quick --cell serial:ijk");
  CHECK(native.code == 1);
  CHECK_THAT(native.out, ContainsSubstring("does not run in the simulator"));
  const auto none = runner("xray quick --cell smem:9x9");
  CHECK(none.code == 2);
  check_refused("xray quick --cell smem:8x8 --blocks 0", {"--blocks: Value 0 not in range"});

  // A library that kzoo_add_plugin did not build.
  const scratch_folder folder;
  std::filesystem::create_directory(folder.path() / "cpu");
  std::filesystem::copy_file(plugin_folder("cpu") / "smem.so", folder.path() / "cpu" / "other.so");
  const auto other = runner("xray quick --cell other:8x8 --plugin-dir " + folder.path().string());
  CHECK(other.code == 1);
  CHECK_THAT(other.out, ContainsSubstring("kzoo_add_plugin"));
}

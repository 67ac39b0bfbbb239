// `runner validate`: all checks on one plugin.
#include "core/problem.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>

using kzoo::test::check_refused;
using kzoo::test::ContainsSubstring;
using kzoo::test::hostile_folder;
using kzoo::test::plugin_folder;
using kzoo::test::run_hostile;
using kzoo::test::runner;
using kzoo::test::scratch_folder;
using kzoo::test::shell_word;

namespace {

// check -> outcome, of the one variant and type in the document.
std::string outcome_of(const nlohmann::json& document, const std::string& check) {
  for (const auto& f : document.at("variants").at(0).at("checks"))
    if (f.at("check") == check) return f.at("outcome");
  return "not run";
}

// What all checks say of a right kernel, which are made once.
const std::string& validated(const std::string& kernel, const std::string& dtype) {
  static std::map<std::string, std::string> known;
  const auto [at, is_new] = known.try_emplace(kernel + " --dtype " + dtype);
  if (is_new) {
    const auto ran = runner("validate --device cpu " + at->first);
    INFO(ran.out << ran.err);
    CHECK(ran.code == 0);
    at->second = ran.out;
  }
  return at->second;
}

}  // namespace

TEST_CASE("a correct plugin passes every check, with a line for each", "[cli]") {
  const std::string f32 = validated("every_type:naive", "f32"),
                    i32 = validated("every_type:naive", "i32");
  CHECK_THAT(f32, ContainsSubstring("every_type:naive f32, declared fp32"));
  CHECK_THAT(i32, ContainsSubstring("every_type:naive i32, declared int32"));
  for (const char* check :
       {"product", "shapes", "alpha and beta", "exact integers", "precision probe", "scaled inputs",
        "layouts", "batches", "infinities", "seeds", "near its size", "new contents",
        "new addresses", "interleaving", "repeats"}) {
    CHECK_THAT(f32, ContainsSubstring(std::string("pass     ") + check));
  }
  CHECK_THAT(f32, ContainsSubstring("note     batch invariance yes: "));
  CHECK_THAT(i32, !ContainsSubstring("batch invariance"));
  CHECK_THAT(f32, ContainsSubstring("ok: 16 pass"));
  CHECK_THAT(i32, ContainsSubstring("ok: 14 pass"));
}

TEST_CASE("a variant is checked with each kind of problem that it takes", "[cli][hostile]") {
  const auto right = runner("validate fused:naive --device cpu --tier quick --dtype f32 --json -");
  INFO(right.err);
  CHECK(right.code == 0);
  CHECK_THAT(right.err, ContainsSubstring("\n  with the epilogue bias + gelu\n  pass "));
  const auto variants = right.json().at("variants");
  const auto problem = [&](std::size_t i) {
    return variants.at(i).at("problem").get<std::string>();
  };
  REQUIRE(variants.size() == 4);
  CHECK(problem(0) == "129x127x65 f32");
  CHECK_THAT(problem(1), ContainsSubstring("bias + gelu"));
  CHECK_THAT(problem(2), ContainsSubstring("row_scale + column_scale + row_bias + residual"));
  CHECK_THAT(problem(3), ContainsSubstring("clamp(-1, 1)"));

  const auto validated = [](const std::string& kernel) {
    return run_hostile("validate " + kernel + " --device cpu --tier quick");
  };
  const auto fused = validated("epilogues:left_out"), grouped = validated("groups:next_b"),
             scaled = validated("scales:next_block");
  CHECK_THAT(fused.out, ContainsSubstring("\n  with the epilogue bias + gelu\n  fail "));
  CHECK_THAT(grouped.out, ContainsSubstring("\n  with 5 groups of rows\n  fail "));
  CHECK_THAT(scaled.out, ContainsSubstring("\n  with scale blocks 1x128,128x128\n  fail "));
  for (const auto* ran : {&fused, &grouped, &scaled}) CHECK(ran->code == 1);

  const auto one =
      runner("validate fused:naive --device cpu --tier quick --dtype f32 --epilogue relu");
  INFO(one.out);
  CHECK_THAT(one.out, ContainsSubstring("  with the epilogue relu\n  pass ") &&
                          ContainsSubstring("ok: 1 pass"));
}

TEST_CASE("a library given by its file is validated on the device that it is built for", "[cli]") {
  const auto file = (plugin_folder("cpu") / "serial.so").string();
  const auto ran = runner("validate " + shell_word(file) + " --tier quick --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  const auto document = ran.json();
  CHECK(document.at("schema") == "kzoo.validation/1");
  CHECK(document.at("device").at("id") == "cpu");
  CHECK(document.at("tier") == "quick");
  CHECK(document.at("plugins").at(0).at("file") == file);
  // Those of its variants, which have no weights of 4 bits.
  CHECK(document.at("variants").size() == kzoo::kElementTypes.size() - 2 + 4);
  for (const auto& v : document.at("variants")) {
    INFO(v.dump(1));
    REQUIRE(v.at("checks").size() == 1);
    CHECK(v.at("checks").at(0).at("outcome") == "pass");
  }
  CHECK(runner("validate " + shell_word(file) + " --device cuda").code != 0);
  CHECK(runner("validate /nowhere/x.so").code == 2);
}

TEST_CASE("--json does not overwrite the validated library", "[cli]") {
  const scratch_folder folder;
  const auto file = (folder.path() / "mine.so").string();
  std::filesystem::copy(plugin_folder("cpu") / "serial.so", file);
  const auto size = std::filesystem::file_size(file);
  check_refused("validate " + file + " --tier quick --json " + file, {"it is the input file"});
  CHECK(std::filesystem::file_size(file) == size);
}

TEST_CASE("wrong results, crashes and hangs are told apart, and the other checks still run",
          "[cli][hostile]") {
  const std::string where = " --device cpu --json - --plugin-dir " + shell_word(hostile_folder());
  const auto wrong = runner("validate state:keeps_b" + where);
  CHECK(wrong.code == 1);
  CHECK(outcome_of(wrong.json(), "new addresses") == "fail");
  CHECK(outcome_of(wrong.json(), "new contents") == "pass");
  CHECK(outcome_of(wrong.json(), "repeats") == "pass");

  const auto crashing = runner("validate launches:crashes_in_destroy" + where);
  CHECK(crashing.code == 1);
  CHECK(outcome_of(crashing.json(), "product") == "crashed");
  CHECK(outcome_of(crashing.json(), "repeats") == "crashed");

  const auto hanging = runner("validate launches:never_returns --timeout 1" + where);
  CHECK(hanging.code == 1);
  CHECK(outcome_of(hanging.json(), "product") == "hung");
  CHECK(outcome_of(hanging.json(), "shapes") == "skipped");

  const auto none = run_hostile("validate no_symbol --device cpu");
  CHECK(none.code == 1);
  CHECK_THAT(none.out, ContainsSubstring("no symbol kzoo_plugin_v1"));
}

TEST_CASE("bad arguments of validate are reported", "[cli]") {
  check_refused("validate naiv", {"did you mean 'naive'?"});
  const auto tier = runner("validate naive --tier ful");
  CHECK(tier.code == 2);
  CHECK_THAT(tier.err, ContainsSubstring("did you mean \"full\"?") ||
                           ContainsSubstring("did you mean 'full'?"));
  CHECK(runner("validate naive --device cuda", kzoo::test::kNoGpu).code == 3);
  check_refused("validate grouped --groups 0", {"a number of groups from 1 to 4096"});
  check_refused("validate grouped --groups 2 --batch 3", {"with groups of rows is no batch"});
  check_refused("validate scaled --scale-blocks 1x128", {"the block of A and that of B"});
}

TEST_CASE("a plugin is validated with scales of blocks, and with groups of rows", "[cli]") {
  for (const char* call : {"scaled --dtype 'e4m3->bf16' --scale-blocks 1x128,128x128",
                           "grouped:naive --dtype f32 --groups 5"}) {
    const auto ran =
        runner("validate " + std::string(call) + " --device cpu --tier quick --json -");
    INFO(ran.err);
    CHECK(ran.code == 0);
    CHECK(ran.json().at("variants").at(0).at("checks").at(0).at("outcome") == "pass");
  }
}

TEST_CASE("an experiment's tier adds checks to its cells", "[cli]") {
  const scratch_folder folder;
  const auto file =
      folder.write("t.toml",
                   "plugins = ['smem:8x8']\n[problem]\nsizes = [20, 24]\n"
                   "[timing]\nrounds = 2\nmin_samples = 2\n[verify]\ntier = 'full'\n");
  const auto full = runner(file + " --device cpu --json -");
  INFO(full.err);
  REQUIRE(full.code == 0);
  const auto results = full.json();
  CHECK(results.at("experiment").at("verify").at("tier") == "full");
  for (const auto& cell : results.at("cells")) {
    CHECK(cell.at("checks").size() == 15);
    CHECK_FALSE(cell.at("time").is_null());
  }
  const auto quick = runner(file + " --device cpu --verify quick --json -").json();
  CHECK(quick.at("cells").at(0).at("checks").empty());
  CHECK(quick.at("experiment").at("overrides").at("tier") == "quick");
  CHECK(runner(file + " --device cpu --verify much").code == 2);
}

TEST_CASE("tier paranoid finds what only a sanitizer detects", "[cli][hostile]") {
  const std::string where =
      " --tier paranoid --device cpu --plugin-dir " + shell_word(hostile_folder());
  const auto found = runner("validate memory:reads_outside_unused --json -" + where);
  INFO(found.err);
  CHECK(found.code == 1);
  for (const auto& f : found.json().at("variants").at(0).at("checks")) {
    INFO(f.dump());
    if (f.at("check") == "memory accesses") continue;  // these have no build for that
    if (f.at("check") != "AddressSanitizer") {
      CHECK(f.at("outcome") == "pass");
      continue;
    }
    CHECK(f.at("outcome") == "fail");
    CHECK_THAT(f.at("detail").get<std::string>(), ContainsSubstring("use-after-poison") &&
                                                      ContainsSubstring("READ of size 4") &&
                                                      ContainsSubstring("#0 "));
  }
  const auto right = runner("validate memory:honest --json -" + where);
  INFO(right.err);
  CHECK(right.code == 0);
  CHECK(outcome_of(right.json(), "AddressSanitizer") == "pass");
  // The project's own plugins have such a build only with -D KZOO_ASAN=ON.
  const auto other = runner("validate naive:8x8 --dtype f32 --tier paranoid --device cpu --json -");
  INFO(other.err);
  CHECK(other.code == 0);
  CHECK(outcome_of(other.json(), "AddressSanitizer") != "fail");
  CHECK(outcome_of(other.json(), "memory accesses") == "pass");
}

TEST_CASE("tier paranoid finds the order in which a simulated kernel is wrong", "[cli][hostile]") {
  const std::string of =
      "validate launches:race_of_warps --device cpu --dtype f32 --json - "
      "--plugin-dir " +
      shell_word(hostile_folder());
  CHECK(runner(of + " --tier quick").code == 0);
  const auto found = runner(of + " --tier paranoid");
  INFO(found.err);
  CHECK(found.code == 1);
  std::string detail;
  for (const auto& f : found.json().at("variants").at(0).at("checks")) {
    if (f.at("check") == "schedules") detail = f.at("detail").get<std::string>();
  }
  INFO(detail);
  REQUIRE(contains(detail, "with --schedule "));
  const std::string seed = detail.substr(0, detail.find(':')).substr(16);
  CHECK(runner(of + " --tier quick --schedule " + seed).code == 1);
}

TEST_CASE("validate can be limited to one variant, size and type", "[cli]") {
  const auto file = shell_word(plugin_folder("cpu") / "every_type.so");
  const auto ran = runner("validate " + file + ":smem --size 20x30x40 --dtype i32 --json -");
  CHECK(ran.code == 0);
  const auto variants = ran.json().at("variants");
  REQUIRE(variants.size() == 1);
  CHECK(variants[0].at("kernel") == "every_type:smem");
  CHECK(variants[0].at("problem") == "20x30x40 i32");
  CHECK(runner("validate " + file + ":9x9").code == 2);
  const auto refused = [](const std::string& flag, const std::string& found) {
    check_refused("validate naive " + flag + " " + found,
                  {flag + ": error: expected ", ", found \"" + found + "\""});
  };
  refused("--size", "20x");
  refused("--layout", "nx");
  refused("--batch", "x");
  refused("--dtype", "f128");
  const auto transposed =
      runner("validate every_type:naive --layout tt --dtype f32 --size 20 --json -");
  CHECK(transposed.code == 0);
  CHECK(transposed.json().at("variants").at(0).at("problem") == "20x20x20 f32 tt");
}

TEST_CASE("validate does not ask a kernel for a product that its types cannot have", "[cli]") {
  const auto skipped = [](const std::string& arguments, const std::string& why) {
    const auto ran = runner("validate " + arguments + " --tier quick --json -");
    CHECK(ran.code == 1);
    const auto variants = ran.json().at("variants");
    CHECK(!variants.empty());
    for (const auto& variant : variants)
      CHECK(variant.at("checks").at(0).at("detail") == "declined: " + why);
  };
  skipped("weights --size 33", "rows of a B of i4 have an even number of elements");
  skipped("naive:8x8 --scale-blocks 1x32,none",
          "only blocks of fp8 matrices, and of a B of i4, have scales");
}

TEST_CASE("validate checks a kernel for few rows with few rows", "[cli]") {
  const auto ran = runner(
      "validate w4a16:few_rows --dtype 'bf16*i4->bf16' --layout nt --scale-blocks none,1x128 --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  for (const char* check : {"exact integers", "precision probe", "infinities", "interleaving"})
    CHECK(outcome_of(ran.json(), check) == "pass");
}

// Most of a simulated kernel's time goes into it.
TEST_CASE("K beyond 2^16 is checked with each type, in the simulator with the first", "[cli]") {
  const auto shapes = [](const std::string& kernel, const std::string& dtype) {
    const std::string& said = validated(kernel, dtype);
    const auto at = said.find("shapes ");
    REQUIRE(at != std::string::npos);
    return std::stoi(said.substr(said.find_first_of("0123456789", at)));
  };
  CHECK(shapes("every_type:naive", "f32") == shapes("every_type:naive", "i32") + 1);
  CHECK(shapes("serial:ikj", "f32") == shapes("serial:ikj", "i32"));
}

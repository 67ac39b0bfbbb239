// Plugins that misbehave on purpose in ways that one run on one problem does not reveal.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/verdicts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace kzoo::test;

namespace {

const char* const kFull = "tier = 'full'";

const char* const kFinished = "sizes = [64]\nepilogue = 'bias + gelu'";
const std::vector<expectation> kFinishedAtFull = {
    {"epilogues:keeps_bias",
     "wrong",
     {"new addresses: right at first, wrong once bias is at a new"}},
    {"epilogues:cleans_nan", "wrong", {"infinities: 97x89x101 f32"}},
    {"epilogues:stale_bias",
     "wrong",
     {"new contents: right at first, wrong once bias alone has new contents"}},
    {"epilogues:honest", "pass", {}}};

const char* const kClamped = "sizes = [64]\nepilogue = 'bias + clamp(-1, 1)'";
const std::vector<expectation> kClampedAtFull = {
    {"epilogues:fixed_limits", "wrong", {"limits of clamp: 33x70x41", "clamp(-0.75, 0.625)"}},
    {"epilogues:honest", "pass", {}}};

const char* const kBlocks =
    "sizes = ['40x144x272']\ndtype = 'e4m3->f32'\nlayout = 'nt'\n"
    "scale_block_a = '1x128'\nscale_block_b = '128x128'";
const std::vector<expectation> kBlocksAtFull = {
    {"scales:limits_scales", "wrong", {"scaled inputs: 33x70x300"}}, {"scales:honest", "pass", {}}};

const char* const kGrouped = "sizes = ['40x48x24']\ngroups = 4";
const std::vector<expectation> kGroupedAtFull = {
    {"groups:most_64", "wrong", {"groups: 135x33x24 f32 groups=67", "(group "}},
    {"groups:honest", "pass", {}}};

// Defects that tier full detects.
const std::vector<expectation> kAtFull = {
    {"state:caches_by_shape", "wrong", {}},
    {"state:caches_by_pointer", "wrong", {}},  // by whichever check first reuses an address
    {"state:caches_by_instance", "wrong", {}},
    {"state:keeps_b", "wrong", {"new addresses: right at first, wrong once B is at a new"}},
    {"state:keeps_c",
     "wrong",
     {"new addresses: right at first, wrong once C is at a new", "the kernel wrote nothing"}},
    {"state:keeps_workspace", "wrong", {"NaN in"}},
    {"state:keeps_workspace_address",
     "wrong",
     {"new addresses: right at first, wrong once the workspace is at a new", "NaN in"}},
    {"state:shares_columns", "wrong", {"interleaving: right alone, wrong between runs"}},
    {"state:shares_alpha", "wrong", {"interleaving: right alone, wrong between runs"}},
    {"state:shares_owner",
     "wrong",
     {"interleaving: right until another instance was destroyed", "nothing is written"}},
    {"wrong_results:skips_specials",
     "wrong",
     {"infinities: 97x89x101 f32", "where an infinity or NaN in A, B or C decides the result"}},
    {"wrong_results:skips_specials_in_c",
     "wrong",
     {"infinities: 97x89x101 f32", "where an infinity or NaN in A, B or C decides the result"}},
    {"wrong_results:ignores_layout", "wrong", {"layouts: ", "is layout nt ignored?"}},
    {"corners:skips_zeros",
     "wrong",
     {"infinities: 97x89x101 f32", "where an infinity or NaN in A, B or C decides the result"}},
    {"corners:unsigned_scalars", "wrong", {"alpha and beta: 33x70x41 f32 alpha=-1 beta=1"}},
    {"corners:equal_scalars", "wrong", {"alpha and beta: 33x70x41 f32 alpha=-1 beta=-1"}},
    {"corners:adds_to_numbers", "wrong", {"alpha and beta: 33x70x41 f32 fill=stale:10"}},
    {"corners:short_k", "wrong", {"shapes: 18x20x2"}},
    {"corners:half_alpha", "wrong", {"interleaving: 70x33x50 f32 alpha=0.5 beta=-0.25", "alone: "}},
    {"corners:parts", "wrong", {"shapes: 97x89x101 f32 padding=1000"}},
    {"corners:cubes", "wrong", {"alpha and beta: 40x40x40 f32", "beta C is left out"}},
    {"corners:column_exponents", "wrong", {"scaled inputs: 33x70x300 f32 fill=unequal_b"}},
    {"batches:first_32", "wrong", {"batches: 5x3x9 f32 batch=67"}},
    {"wrong_results:ldb_for_ldc", "wrong", {"shapes: 64x64x64 f32 padding=1", "written outside C"}},
    {"wrong_results:ldc_for_ldb", "wrong", {"shapes: 64x64x64 f32 padding=1"}},
    {"wrong_results:negative_beta", "wrong", {"alpha and beta: 33x70x41", "beta=-1.3"}},
    {"wrong_results:vectors", "wrong", {"alpha and beta: 1x129x65", "beta=-1.3"}},
    {"wrong_results:long_k", "wrong", {"shapes: 3x5x70001", "differ"}},
    {"wrong_results:many_elements", "wrong", {"shapes: 1160x60x8", "not written: 4064 of 69600"}},
    {"precision:unscaled_split", "wrong", {"precision probe: ", "fill=lone*2^-20: NaN in"}},
    {"precision:row_scaled_split", "wrong", {"scaled inputs: 33x70x300 f32 fill=unequal"}},
    {"precision:honest_split", "pass", {}},
    {"precision:drifts",
     "wrong",
     {"repeats: run ", "differs from the first", "not declared nondeterministic"}},
};

// Those that hostile.cpp finds at tier quick, each on a problem of its own.
const std::vector<expectation> kAlsoAtQuick = {
    {"wrong_results:even_tiles", "wrong", {"shapes: 127x1x65 f32", "terms along k are summed"}},
    {"wrong_results:only_tiles", "wrong", {"shapes: 1x1x1 f32", "the kernel wrote nothing"}},
    {"wrong_results:ignores_alpha", "wrong", {"alpha and beta:", "alpha=0"}},
    {"wrong_results:ignores_beta", "wrong", {"alpha and beta:", "beta=1"}},
    {"batches:neighbours_b", "wrong", {"batches: 64x64x64 f32 batch=2", "with B of product"}},
    {"batches:packs_c",
     "wrong",
     {"batches: 97x89x101 f32 batch=3 batch_padding=40", "past the last row of product 0"}}};
const std::vector<expectation> kFinishedAlsoAtQuick = {
    {"epilogues:before_beta", "wrong", {"alpha and beta:", "applied before beta C is added"}},
    {"epilogues:before_alpha", "wrong", {"alpha and beta:", "alpha=0"}}};
const std::vector<expectation> kGroupedAlsoAtQuick = {
    {"groups:even_split", "wrong", {"shapes: 1x1x1 f32 groups=4", "with the B of group"}},
    {"groups:keeps_offsets",
     "wrong",
     {"new contents: right at first, wrong once A and B have new contents"}}};

// Paths that a kernel chooses by size.
const std::vector<expectation> kLarge = {
    {"native:large_without_beta", "wrong", {"near its size: 272x264x40", "beta C is left out"}},
    {"native:large_without_tail", "wrong", {"near its size: 273x265x41", "terms along k"}},
    {"native:large_in_bf16", "wrong", {"near its size: 272x264x40 f32 fill=probe", "not exact"}}};

// Requires that the named check fails for each variant, whatever other checks find.
void check_validation(const std::string& selector, int variants, const std::string& check,
                      const std::string& words) {
  const auto ran = run_hostile("validate '" + selector + "' --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto validation = ran.json();
  int named = 0;
  for (const auto& variant : validation.at("variants")) {
    INFO(variant.dump(1));
    for (const auto& made : variant.at("checks")) {
      if (made.at("check") != check) continue;
      ++named;
      CHECK(made.at("outcome") == "fail");
      CHECK_THAT(made.at("detail").get<std::string>(), ContainsSubstring(words));
    }
  }
  CHECK(named == variants);
}

}  // namespace

TEST_CASE("tier full detects hostile plugins on the cpu", "[cli][hostile]") {
  check_each(kAtFull, "cpu", "sizes = [64]", kFull);
  check_each(kFinishedAtFull, "cpu", kFinished, kFull);
  check_each(kGroupedAtFull, "cpu", kGrouped, kFull);
  check_each(kClampedAtFull, "cpu", kClamped, kFull);
  check_each(kBlocksAtFull, "cpu", kBlocks, kFull);
  check_each({{"launches:race", "wrong", {}}}, "cpu", "sizes = [64]", kFull);
}

TEST_CASE("tier full detects what quick detects on some problem", "[cli][hostile][.nightly]") {
  check_each(kAlsoAtQuick, "cpu", "sizes = [64]", kFull);
  check_each(kFinishedAlsoAtQuick, "cpu", kFinished, kFull);
  check_each(kGroupedAlsoAtQuick, "cpu", kGrouped, kFull);
}

// What integers and long sums lose is found where K is as long as the experiment's.
TEST_CASE("tier full probes at the experiment's own K", "[cli][hostile]") {
  check_each({{"native:long_k_in_tf32", "wrong", {"near its size: 6x5x20000 f32 fill=probe_b"}}},
             "cpu", "sizes = ['6x5x20000']", kFull);
  check_each({{"precision:long_k_normwise", "wrong", {"near its size: 6x5x8192 f32 fill=probe: "}}},
             "cpu", "sizes = ['6x5x8192']", kFull);
  const scratch_folder folder;
  const auto file = folder.write("long.toml",
                                 "plugins = ['native:long_in_floats']\n[problem]\n"
                                 "sizes = ['100x4x20000']\ndtype = 'i8->i32'\n"
                                 "[verify]\ntier = 'full'\n[timing]\nenabled = false\n");
  const auto ran = run_hostile(file + " --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cell = ran.json().at("cells").at(0);
  check_cell(cell, "wrong", {"near its size: 100x4x20000 i8->i32 fill=probe: "});
}

// Where the bound of fp32 has room for three products of bf16 parts, or for TF32, and a kernel
// computes checks on integers in fp32: they are told neither by whole numbers nor by few bits.
TEST_CASE("kernels that are exact on integers alone are found", "[cli][hostile]") {
  const char* const kUsual = "times as large as fp32 sums of 512 terms have them";
  check_each({{"precision:fp32_unless_integers", "wrong", {kUsual}},
              {"precision:fp32_unless_few_bits", "wrong", {kUsual}}},
             "cpu", "sizes = ['48x64x512']");
  check_each({{"precision:parts_unless_integers",
               "wrong",
               {"precision probe: declares fp32_split", "64x96x4096 f32 fill=lone*2^-20"}},
              {"precision:parts_unless_few_bits",
               "wrong",
               {"precision probe: declares fp32_split", "64x96x4096 f32 fill=lone*2^-20"}}},
             "cpu", "sizes = ['48x64x512']", kFull);
  check_each({{"precision:tf32_unless_integers",
               "wrong",
               {"near its size: 6x5x70000 f32 fill=probe*2^-20"}}},
             "cpu", "sizes = ['6x5x70000']", kFull);
}

TEST_CASE("a kernel is probed on the problem that it takes, whatever it declines",
          "[cli][hostile]") {
  const scratch_folder folder;
  const auto file = folder.write("one.toml",
                                 "plugins = ['precision:parts_for_one_problem']\n[problem]\n"
                                 "sizes = ['48x64x512']\nalpha = 0.7\nbeta = 1.3\n"
                                 "[verify]\ntier = 'full'\n[timing]\nenabled = false\n");
  const auto ran = run_hostile(file + " --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 1);
  check_cell(ran.json().at("cells").at(0), "wrong",
             {"near its size: 48x64x512 f32 alpha=0.7 beta=1.3 fill=lone*2^-20"});
}

TEST_CASE("integers whose products and sums wrap are checked", "[cli][hostile]") {
  check_validation("precision:i32_low_bits", 1, "scaled inputs", "fill=full");
  check_validation("precision:i32_saturates", 1, "scaled inputs", "are not exact");
}

TEST_CASE("tier full checks near the problem's own size", "[cli][hostile]") {
  check_each(kLarge, "cpu", "sizes = ['272x264x40']", kFull);
}

TEST_CASE("checks are made for each epilogue of an experiment", "[cli][hostile]") {
  const scratch_folder folder;
  const auto file = folder.write(
      "two.toml",
      "plugins = ['epilogues:only_adds_when_flat']\n[problem]\nsizes = [64]\n"
      "epilogue = ['bias', 'bias + relu']\n[verify]\ntier = 'full'\n[timing]\nenabled = false\n");
  const auto ran = run_hostile(file + " --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 1);
  const auto cells = ran.json().at("cells");
  REQUIRE(cells.size() == 2);
  check_cell(cells.at(0), "pass", {});
  check_cell(cells.at(1), "wrong", {"shapes: ", "relu is left out"});
}

TEST_CASE("checks choose sizes that the variant takes", "[cli][hostile]") {
  check_each({{"sizes:tiles_without_beta", "wrong", {"alpha and beta: 64x72x48", "beta=1"}},
              {"sizes:aligned_rows", "wrong", {"shapes: 1x4x4 f32", "the kernel wrote nothing"}}},
             "cpu", "sizes = ['32x24x16']", kFull);
  const auto ran = run_hostile("validate 'sizes:*tiles' --device cpu --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, ContainsSubstring("PARTLY CHECKED: 32 pass"));
  CHECK_THAT(ran.err, ContainsSubstring("not checked: alpha and beta, of sizes:tiles: ") &&
                          ContainsSubstring("with padded rows, which it declines: rows must not"));
  for (const auto& variant : ran.json().at("variants")) {
    for (const auto& made : variant.at("checks")) {
      INFO(variant.at("kernel") << made.dump());
      CHECK(made.at("outcome") == "pass");
      CHECK(made.contains("not_checked") ==
            (made.at("check") == "shapes" || made.at("check") == "alpha and beta" ||
             made.at("check") == "near its size"));
    }
  }
}

TEST_CASE("a variant whose tiles are larger than any problem is not checked", "[cli][hostile]") {
  const auto ran = run_hostile("validate sizes:fits_nowhere --device cpu");
  INFO(ran.out);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out,
             ContainsSubstring("NOTHING RAN: 0 pass, 1 skipped") &&
                 ContainsSubstring("not checked: product, of sizes:fits_nowhere: declined"));
}

TEST_CASE("a variant may not take what is no multiple of what it says", "[cli][hostile]") {
  const char* const kWords = "it says that it needs M a multiple of 999983, not 64, and takes 64x";
  for (const char* verify : {"timeout_seconds = 60", kFull})
    check_each({{"sizes:claims_too_much", "error", {kWords, "multiple_m", "supports()"}}}, "cpu",
               "sizes = [64]", verify);
  const auto ran = run_hostile("validate sizes:claims_too_much --device cpu");
  INFO(ran.out);
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("needs M a multiple of 999983, not 129"));
}

TEST_CASE("what could not be checked is said in the end, and not called ok", "[cli][hostile]") {
  const scratch_folder folder;
  const auto ran = run_hostile("validate sizes:one_shape --device cpu");
  INFO(ran.out);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("skipped  alpha and beta   declined: not this one"));
  CHECK_THAT(ran.out, ContainsSubstring("not checked: interleaving, of sizes:one_shape: ") &&
                          ContainsSubstring("PARTLY CHECKED: ") && !ContainsSubstring("ok: "));
  const auto file =
      folder.write("one.toml",
                   "plugins = ['sizes:one_shape']\n[problem]\nsizes = ['129x127x65']\n"
                   "[verify]\ntier = 'full'\n[timing]\nenabled = false\n");
  const auto run = run_hostile(file + " --device cpu");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring("not checked: seeds, of sizes:one_shape: declined: not") &&
                          ContainsSubstring("skipped sizes:one_shape: ") &&
                          ContainsSubstring("checks skipped: it takes none of their sizes") &&
                          ContainsSubstring("PARTLY CHECKED: 1 pass"));
}

TEST_CASE("arithmetic narrower than declared is detected", "[cli][hostile]") {
  check_validation("precision:int32_*", 2, "precision probe",
                   "declares int32, but products of 12-bit numbers");
  check_validation("precision:bytes_in_floats", 1, "precision probe",
                   "declares int32, but products of bytes are not added exactly");
  check_validation("precision:f64_in_floats", 1, "precision probe",
                   "declares fp64, but results that fp64 represents exactly are not exact");
  const auto declared = run_hostile("validate precision:declared_fp16_sums --device cpu");
  INFO(declared.out);
  CHECK(declared.code == 0);
}

TEST_CASE("fewer products than fp32 needs are detected, whichever input is not split",
          "[cli][hostile]") {
  check_validation("precision:split_*", 3, "precision probe",
                   "declares fp32_split, but results that fp32 represents exactly are not exact");
}

TEST_CASE("parts with a narrower range than fp32 are detected by scaled inputs", "[cli][hostile]") {
  check_validation("precision:unscaled_split", 1, "scaled inputs",
                   "33x70x300 f32 alpha=8.271806125530277e-25 beta=-1.3 fill=scaled:40: NaN in "
                   "2310 of 2310 elements");
}

TEST_CASE("three products of fp16 parts are as accurate as fp32", "[cli][hostile]") {
  const auto ran = run_hostile("validate precision:honest_split --device cpu");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("declared fp32_split"));
}

TEST_CASE("cached results are detected when it is timed, whatever the cache key",
          "[cli][hostile]") {
  check_validation("state:caches_*", 3, "product", "a result kept from an earlier call");
}

TEST_CASE("tier full detects hostile plugins on the GPU", "[cli][hostile][.gpu]") {
  needs_gpu();
  for (const auto& table : {kAtFull, kAlsoAtQuick})
    check_each(table, "cuda", "sizes = [64]", kFull);
  for (const auto& table : {kFinishedAtFull, kFinishedAlsoAtQuick})
    check_each(table, "cuda", kFinished, kFull);
  check_each({{"launches:race", "wrong", {}}}, "cuda", "sizes = [1024]", kFull);
}

TEST_CASE("results may differ between runs if that is declared", "[cli][hostile]") {
  const auto ran = run_hostile(
      "quick --device cpu --plugins precision:drifts_as_declared --sizes 20 --verify full "
      "--json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.json().at("cells").at(0).at("verdict") == "pass");
}

// Whole files: defaults, every section, and every error with its position.

#include "support/catch.hpp"
#include "unit/experiment_file.hpp"

#include <unistd.h>

using namespace kzoo::experiment;
using namespace kzoo::results;
using kzoo::to_string;
using namespace kzoo::experiment::testing;

TEST_CASE("an empty file is all defaults", "[experiment]") {
  const auto e = load_text("");
  CHECK(problem_names(e) == std::vector<std::string>{"256x256x256 f32"});
  REQUIRE(e.plugins.size() == 1);
  CHECK(e.plugins[0].text == "*");
  CHECK(e.device == "auto");
  CHECK(to_string(e.device_where).ends_with("t.toml"));
  CHECK_FALSE(e.baseline);
  CHECK_FALSE(e.pivot_table);
  CHECK(e.published.columns.empty());
  CHECK(e.timing.enabled);
  CHECK(e.timing.mode == cache_mode::cold);
  CHECK(e.timing.samples_per_turn() == 1);
}

TEST_CASE("every key is read", "[experiment]") {
  const std::string text = R"(title = "T"
description = "D"
device = "cuda:1"
intended_device = "A100"
plugins = ["smem:*", "naive"]
baseline = "cublas:fp32"
[problem]
sizes = ["4x5x6"]
dtype = "bf16"
layout = "tn"
alpha = 0.5
beta = 2
padding = 8
fill = "integers"
seed = 42
[timing]
enabled = false
mode = "both"
rounds = 3
warmup = 0
min_samples = 7
max_noise = 0.5
max_seconds = 2
end_to_end = true
fresh_processes = true
require_locked_clocks = true
[verify]
timeout_seconds = 0.5
tier = "full"
impossible_time = "report"
[pivot]
rows = "n"
columns = "dtype"
value = "ms"
)";
  const auto e = load_text(text);
  CHECK(e.text == text);
  CHECK(e.title == "T");
  CHECK(e.description == "D");
  CHECK(e.device == "cuda:1");
  CHECK(to_string(e.device_where).ends_with("t.toml:3:10"));
  CHECK(e.intended_device == "A100");
  REQUIRE(e.plugins.size() == 2);
  CHECK(e.plugins[1].text == "naive");
  CHECK(to_string(e.plugins[1].where).ends_with("t.toml:5:22"));
  REQUIRE(e.baseline);
  CHECK(e.baseline->text == "cublas:fp32");
  CHECK(problem_names(e) ==
        std::vector<std::string>{"4x5x6 bf16 tn alpha=0.5 beta=2 padding=8 fill=integers seed=42"});
  CHECK_FALSE(e.timing.enabled);
  CHECK(e.timing.warmup == 0);
  CHECK(e.timing.mode == cache_mode::both);
  CHECK(e.timing.rounds == 3);
  CHECK(e.timing.min_samples == 7);
  CHECK(e.timing.samples_per_turn() == 3);
  CHECK(e.timing.max_relative_half_width == 0.5);
  CHECK(e.timing.max_seconds == 2.0);
  CHECK(e.timing.end_to_end);
  CHECK(e.timing.fresh_processes);
  CHECK(e.timing.require_locked_clocks);
  CHECK(e.verify.timeout_seconds == 0.5);
  CHECK(e.verify.tier == kzoo::tier::full);
  CHECK(e.verify.impossible_time == kzoo::results::impossible_time::report);
  REQUIRE(e.pivot_table);
  CHECK(e.pivot_table->rows == pivot_axis::n);
  CHECK(e.pivot_table->columns == pivot_axis::dtype);
  CHECK(e.pivot_table->value == pivot_value::ms);
}

TEST_CASE("an error shows the position, what was found, and the line", "[experiment]") {
  CHECK(
      fault("# a comment\nplugin = ['*']\n") ==
      "t.toml:2:1: error: unknown key 'plugin'; did you mean 'plugins'? (known here: title, "
      "description, device, intended_device, baseline, plugins, allow, problem, timing, verify, pivot, "
      "published, tune)\n"
      " 2 | plugin = ['*']\n"
      "   | ^");
  CHECK(fault("[timing]\n\tmin_samples = 0\r\n") ==
        "t.toml:2:16: error: timing.min_samples: expected an integer from 1 to 10000, found 0\n"
        " 2 |  min_samples = 0\n"
        "   |                ^");
}

TEST_CASE("an invalid baseline is not reported as a missing one", "[experiment]") {
  const std::string found = fault("baseline = 'cub las'\n[pivot]\nvalue = 'speedup'\n");
  CHECK(found.find("cub las") != std::string::npos);
  CHECK(found.find("names none") == std::string::npos);
}

TEST_CASE("an experiment may ask for all GPUs", "[experiment]") {
  CHECK(load_text("t.toml", "device = 'cuda:all'\n").device == "cuda:all");
  CHECK_THAT(fault("device = 'cpu:all'\n"),
             kzoo::test::ContainsSubstring("found the string \"cpu:all\""));
}

TEST_CASE("A, B and C may have types of their own", "[experiment]") {
  CHECK(problem_names(
            load_text("[problem]\nsizes = [8]\ndtype = ['bf16->f32', 'f64', 'i8->i32']\n")) ==
        std::vector<std::string>{"8x8x8 bf16->f32", "8x8x8 f64", "8x8x8 i8->i32"});
  CHECK(problem_names(load_text("[problem]\nsizes = [8]\ndtype = 'e4m3*e5m2->bf16'\nscale_a = 0.5\n"
                                "scale_b = 2\n")) ==
        std::vector<std::string>{"8x8x8 e4m3*e5m2->bf16 scale_a=0.5 scale_b=2"});
}

TEST_CASE("a kernel without pauses needs beta = 0", "[experiment]") {
  const auto loaded = load_text("[timing]\npower = \"both\"");
  CHECK(loaded.timing.power == kzoo::results::power_mode::both);
  CHECK_THAT(fault("[problem]\nbeta = [0, 1]\n[timing]\npower = \"sustained\""),
             kzoo::test::ContainsSubstring(":2:8: error: timing.power = \"sustained\" repeats") &&
                 kzoo::test::ContainsSubstring("beta = 0"));
}

TEST_CASE("layouts are a list, which the command line replaces", "[experiment]") {
  const char* const text = "[problem]\nsizes = [8, 9]\nlayout = ['tn', 'nn']\n";
  CHECK(problem_names(load_text(text)) ==
        std::vector<std::string>{"8x8x8 f32 tn", "9x9x9 f32 tn", "8x8x8 f32", "9x9x9 f32"});
  overrides over;
  over.layouts = {"tt"};
  CHECK(problem_names(load_text(text, over)) ==
        std::vector<std::string>{"8x8x8 f32 tt", "9x9x9 f32 tt"});
  over.layouts = {"tx"};
  CHECK(fault(text, over) ==
        "--layouts: error: expected \"nn\", \"nt\", \"tn\" or \"tt\", found \"tx\"");
}

TEST_CASE("a problem may be computed in less than its types hold, where that is allowed",
          "[experiment]") {
  const auto names = [](const std::string& text, const overrides& over = {}) {
    return problem_names(load_text(text, over));
  };
  using list = std::vector<std::string>;
  CHECK(names("allow = ['bf16', 'tf32']\n[problem]\nsizes = [8]\ndtype = ['f32', 'f16']\n") ==
        list{"8x8x8 f32 allow=\"tf32, bf16\"", "8x8x8 f16 allow=\"bf16\""});
  CHECK(names("allow = 'tf32'\n[[problem]]\nsizes = [8]\n[[problem]]\nsizes = [9]\nallow = []\n"
              "[[problem]]\nsizes = [7]\nallow = 'bf16'\n") ==
        list{"8x8x8 f32 allow=\"tf32\"", "9x9x9 f32", "7x7x7 f32 allow=\"bf16\""});
  overrides over;
  over.allow = {"fp16 sums"};
  CHECK(names("problem.sizes = [8]\n", over) == list{"8x8x8 f32 allow=\"fp16 sums\""});
  over.allow = {"half"};
  CHECK_THAT(
      fault("problem.sizes = [8]\n", over),
      kzoo::test::ContainsSubstring("--allow: error: expected a precision such as \"tf32\""));
  CHECK_THAT(fault("[problem]\nsizes = [8]\nallow = ['fp64']\n"),
             kzoo::test::ContainsSubstring(
                 "3:9: error: problem.allow: is for less than the fp32 that dtype f32 "
                 "demands"));
  CHECK_THAT(fault("allow = ['tf32']\n[problem]\nsizes = [8]\ndtype = 'f16'\n"),
             kzoo::test::ContainsSubstring(
                 "1:9: error: allow: is no less than what the types of any problem"));
}

TEST_CASE("problems are named by their numbers among all that there would be", "[experiment]") {
  const std::string text = "problem.sizes = [8, 16, 24, 32, 40]\n";
  overrides over;
  over.problems = {"3-4", "1", "3"};
  CHECK(problem_names(load_text(text, over)) ==
        std::vector<std::string>{"16x16x16 f32", "32x32x32 f32", "40x40x40 f32"});
  over.sizes = {"7", "9"};
  over.problems = {"1"};
  CHECK(problem_names(load_text(text, over)) == std::vector<std::string>{"9x9x9 f32"});
  over.problems = {"0-2"};
  CHECK(fault(text, over) ==
        "--problems: error: there is no problem 2: the experiment has 2, numbered from 0");
  for (const char* bad : {"", "x", "-1", "1-", "2-1", "1.5"}) {
    over.problems = {bad};
    CHECK(fault(text, over) ==
          "--problems: error: expected a number from 0 such as 3, or a range of them such as "
          "12-15, found \"" +
              std::string(bad) + "\"");
  }
}

TEST_CASE("batches are lists, and one product has no ways to be stored", "[experiment]") {
  const char* const text =
      "[problem]\nsizes = [8]\nbatch = [1, 4]\nbatch_padding = [0, 3]\nbatch_shared = ['none', "
      "'b']\n";
  CHECK(problem_names(load_text(text)) ==
        std::vector<std::string>{"8x8x8 f32", "8x8x8 f32 batch=4",
                                 "8x8x8 f32 batch=4 batch_shared=b",
                                 "8x8x8 f32 batch=4 batch_padding=3",
                                 "8x8x8 f32 batch=4 batch_padding=3 batch_shared=b"});
  overrides over;
  over.batches = {"1"};
  CHECK(problem_names(load_text(text, over)) == std::vector<std::string>{"8x8x8 f32"});
  over.batches = {"2", "16"};
  CHECK(problem_names(load_text("[problem]\nsizes = [8]\n", over)) ==
        std::vector<std::string>{"8x8x8 f32 batch=2", "8x8x8 f32 batch=16"});
  for (const char* bad : {"0", "-1", "65537", "x", ""}) {
    over.batches = {bad};
    CHECK(fault(text, over) ==
          "--batches: error: expected a number of products from 1 to 65536, found \"" +
              std::string(bad) + "\"");
  }
}

TEST_CASE("blocks with scales, and groups of rows", "[experiment]") {
  CHECK(problem_names(load_text("[problem]\nsizes = [8]\ndtype = 'e4m3->f32'\n"
                                "scale_block_a = '1x128'\nscale_block_b = '128x128'\n")) ==
        std::vector<std::string>{"8x8x8 e4m3->f32 scale_block_a=1x128 scale_block_b=128x128"});
  CHECK(problem_names(load_text("[problem]\nsizes = [8]\ngroups = [2, 3]\n"
                                "group_rows = ['even', 'skewed']\n")) ==
        std::vector<std::string>{"8x8x8 f32 groups=2", "8x8x8 f32 groups=2 group_rows=skewed",
                                 "8x8x8 f32 groups=3", "8x8x8 f32 groups=3 group_rows=skewed"});
}

TEST_CASE("epilogues are a list, each a problem", "[experiment]") {
  CHECK(problem_names(load_text("[problem]\nsizes = [8]\ndtype = ['f32', 'bf16']\n"
                                "epilogue = ['', 'bias + relu']\n")) ==
        std::vector<std::string>{"8x8x8 f32", "8x8x8 f32 epilogue=\"bias + relu\"", "8x8x8 bf16",
                                 "8x8x8 bf16 epilogue=\"bias + relu\""});
}

TEST_CASE("invalid values are refused at their position", "[experiment]") {
  struct wrong {
    const char *text, *message;
  };
  const wrong all[] = {
      {"title = 1", "1:9: error: title: expected a string, found 1"},
      {"device = 'gpu'",
       "1:10: error: device: expected \"auto\", \"cpu\", \"cuda\", \"cuda:all\" or \"cuda:N\" with "
       "N a device number from 0, found the string \"gpu\""},
      {"plugins = []",
       "1:11: error: plugins: the plugin list is empty; name some, or leave the key out for all of "
       "them"},
      {"problem = 3",
       "1:11: error: problem: expected a table: [problem], or [[problem]] for "
       "several, found 3"},
      {"problem = []",
       "1:11: error: problem: the list is empty; leave the key out for its default"},
      {"timing = [1]", "1:10: error: timing: expected a table, found a list"},
      {"[[verify]]", "1:1: error: verify: expected a table, found a list"},
      {"[timing]\nenabled = 'yes'",
       "2:11: error: timing.enabled: expected true or false, found the string \"yes\""},
      {"[timing]\nwarmup = -1",
       "2:10: error: timing.warmup: expected an integer from 0 to 1000, found -1"},
      {"[timing]\nmin_samples = 10001",
       "2:15: error: timing.min_samples: expected an integer from 1 to 10000, found 10001"},
      {"[timing]\nmin_samples = 5.0",
       "2:15: error: timing.min_samples: expected an integer from 1 to 10000, found 5.0"},
      {"[problem]\nepilogue = 1",
       "2:12: error: problem.epilogue: expected the stages of an epilogue, as in \"bias + relu\", "
       "found 1"},
      {"[problem]\nepilogue = ['bias', 'bias + tanh']",
       "2:21: error: epilogue: \"tanh\" is none of bias, row_bias, residual, column_scale, "
       "row_scale, relu, gelu, gelu_tanh, silu, clamp(LOW, HIGH)"},
      {"[problem]\ndtype = 'i8->i32'\nepilogue = 'relu'",
       "3:12: error: problem.epilogue: epilogues are for results of f32, f16 and bf16, and dtype "
       "i8->i32 is none of them"},
      {"[problem]\ndtype = ['e4m3->f32', 'f16']\nscale_a = 0.5",
       "3:11: error: problem.scale_a: only fp8 matrices have scales, and dtype f16 is not fp8"},
      {"[problem]\ndtype = 'e4m3->f32'\nscale_b = 0",
       "3:11: error: problem.scale_b: expected a number above 0 and up to 1e+30, found 0"},
      {"[problem]\ndtype = 'f16'\nscale_block_b = '1x128'",
       "3:17: error: problem.scale_block_b: blocks of fp8 matrices, and of a B of i4, have scales, "
       "and not those of dtype f16"},
      {"[problem]\ndtype = 'e4m3->f32'\nscale_block_a = '1by128'",
       "3:17: error: problem.scale_block_a: expected a block with a scale, up to 65536 rows "
       "(columns) and steps of K, as in \"1x128\", found the string \"1by128\""},
      {"[problem]\ndtype = 'e4m3->f32'\nscale_block_a = '1x128'\nscale_a = 2",
       "3:17: error: problem.scale_block_a: give either 'scale_block_a' or 'scale_a'"},
      {"[problem]\ngroups = 0",
       "2:10: error: problem.groups: expected an integer from 1 to 4096, found 0"},
      {"[problem]\ngroup_rows = 'skewed'",
       "2:14: error: problem.group_rows: says how many rows groups have, and there are none; add "
       "groups = 8"},
      {"[problem]\ngroups = 3\ngroup_rows = 'uneven'",
       "3:14: error: problem.group_rows: expected one of \"even\", \"skewed\", \"half_empty\", "
       "\"single\", "
       "found the string \"uneven\"; did you mean 'even'?"},
      {"[problem]\ngroups = 3\nbatch = 2",
       "2:10: error: problem.groups: a problem with groups of rows is no batch"},
      {"[problem]\ndtype = 'i8->i32'\nalpha = 0.5",
       "3:9: error: alpha = 0.5 is not an integer, and dtype i8->i32 needs one"},
      {"[problem]\ndtype = 'i8->i32'\nfill = 'normal'",
       "3:8: error: problem.fill: \"normal\" fills with fractions, and dtype i8->i32 needs integers"},
      {"[problem]\nlayout = 'nx'",
       "2:10: error: problem.layout: expected one of \"nn\", \"nt\", \"tn\", \"tt\", found the "
       "string \"nx\"; did you mean 'nn'?"},
      {"[problem]\nbatch = 0",
       "2:9: error: problem.batch: expected an integer from 1 to 65536, found 0"},
      {"[problem]\nbatch = [4, -8]",
       "2:13: error: problem.batch: expected an integer from 1 to 65536, found -8"},
      {"[problem]\nbatch = 4\nbatch_padding = -16",
       "3:17: error: problem.batch_padding: expected an integer from 0 to 65536, found -16, with "
       "which products would overlap"},
      {"[problem]\nbatch = 4\nbatch_shared = 'c'",
       "3:16: error: problem.batch_shared: expected one of \"none\", \"a\", \"b\", found the "
       "string \"c\""},
      {"[problem]\nbatch_shared = 'a'",
       "2:16: error: problem.batch_shared: says how a batch is stored, and there is none; add batch "
       "= 8"},
      {"[timing]\nmode = 'warm'",
       "2:8: error: timing.mode: expected one of \"cold\", \"hot\", \"both\", found the string "
       "\"warm\""},
      {"[timing]\nrounds = 0",
       "2:10: error: timing.rounds: expected an integer from 1 to 1000, found 0"},
      {"[timing]\nmax_noise = 1.5",
       "2:13: error: timing.max_noise: expected a number above 0 and up to 1, found 1.5"},
      {"[timing]\nend_to_end = 1",
       "2:14: error: timing.end_to_end: expected true or false, found 1"},
      {"[timing]\nmax_seconds = 0",
       "2:15: error: timing.max_seconds: expected a number above 0 and up to 86400, found 0"},
      {"[timing]\nmax_seconds = nan",
       "2:15: error: timing.max_seconds: expected a number above 0 and up to 86400, found nan"},
      {"[verify]\ntimeout_seconds = inf",
       "2:19: error: verify.timeout_seconds: expected a number above 0 and up to 86400, found inf"},
      {"[verify]\ntimeout_seconds = 1979-05-27",
       "2:19: error: verify.timeout_seconds: expected a number above 0 and up to 86400, found a "
       "date or time"},
      {"[verify]\nimpossible_time = 'allow'",
       "2:19: error: verify.impossible_time: expected one of \"refuse\", \"report\", found the "
       "string \"allow\""},
      {"[problem]\ndtype = 'fp32'",
       "2:9: error: problem.dtype: expected one of \"f32\", \"f16\", \"bf16\", \"i32\", "
       "\"f16->f32\", \"bf16->f32\", \"f64\", \"i8->i32\", \"e4m3->f32\", \"e4m3->bf16\", "
       "\"e4m3*e5m2->bf16\", \"e5m2*e4m3->bf16\", \"f16*i4->f16\", \"bf16*i4->bf16\", found the "
       "string \"fp32\"; did you mean 'f32'?"},
      {"[problem]\ndtype = ['i32', 'f32']\nalpha = [1, 0.7]",
       "3:13: error: alpha = 0.7 is not an integer, and dtype i32 needs one"},
      {"[problem]\ndtype = 'i32'\nbeta = 2147483648",
       "3:8: error: beta = 2147483648 is not within dtype i32, -2147483648 to 2147483647"},
      {"[problem]\nbeta = inf",
       "2:8: error: problem.beta: expected a finite number from -3.4028234663852886e+38 to "
       "3.4028234663852886e+38, found inf"},
      {"[problem]\nalpha = true",
       "2:9: error: problem.alpha: expected a finite number from -3.4028234663852886e+38 to "
       "3.4028234663852886e+38, found true"},
      {"[problem]\npadding = 65537",
       "2:11: error: problem.padding: expected an integer from 0 to 65536, found 65537"},
      {"[problem]\nseed = -1",
       "2:8: error: problem.seed: expected an integer from 0 to 9223372036854775807, found -1"},
      {"[problem]\nfill = 'random'",
       "2:8: error: problem.fill: expected one of \"uniform\", \"integers\", \"probe\", \"signs\", "
       "\"normal\", \"zeros\", \"ones\", \"sparse:N\" with a number N from 0 to 1, \"powers:N\" with "
       "an integer N from 0 to 24, \"few_bits:N\" with an integer N from 0 to 23, \"unequal\", \"probe_b\", found the string "
       "\"random\""},
      {"[pivot]\nrows = 'n'\ncolumns = 'n'",
       "3:11: error: pivot.columns: rows and columns are the same; choose two different ones"},
      {"[pivot]\nrows = 'variant'",
       "2:8: error: pivot.rows: rows and columns are the same; choose two different ones"},
      {"[pivot]\nvalue = 'gflop'",
       "2:9: error: pivot.value: expected one of \"ms\", \"gflops\", \"speedup\", \"error\", found "
       "the string \"gflop\"; did you mean 'gflops'?"},
      {"[pivot]\nvalue = 'speedup'",
       "2:9: error: pivot.value: a speedup needs a baseline, and the file names none; add "
       "baseline = \"...\""},
      {"[timing]\nmax_nois = 1",
       "2:1: error: unknown key 'max_nois' in timing; did you mean 'max_noise'? (known here: "
       "enabled, mode, power, rounds, warmup, min_samples, max_noise, max_seconds, end_to_end, "
       "fresh_processes, require_locked_clocks, drop_slower)"},
      {"[verify]\nplugins = ['*']",
       "2:1: error: unknown key 'plugins' in verify; 'plugins' goes at the top of the file, above "
       "the first [table] (known here: tier, timeout_seconds, "
       "impossible_time)"},
      {"sizes = [64]",
       "1:1: error: unknown key 'sizes'; 'sizes' goes under [problem] (known here: title, "
       "description, device, intended_device, baseline, plugins, allow, problem, timing, verify, pivot, "
       "published, tune)"},
      {"[timing]\ntier = 'full'",
       "2:1: error: unknown key 'tier' in timing; 'tier' goes under [verify] (known here: enabled, "
       "mode, power, rounds, warmup, min_samples, max_noise, max_seconds, end_to_end, "
       "fresh_processes, require_locked_clocks, drop_slower)"},
      {"title = \"\\u001b[31m\\n\"\n[timing]\n\"\\u001b\" = 1",
       "3:1: error: unknown key '\\x1b' in timing (known here: enabled, mode, power, rounds, "
       "warmup, min_samples, max_noise, max_seconds, end_to_end, fresh_processes, "
       "require_locked_clocks, drop_slower)"},
  };
  for (const wrong& each : all) {
    INFO(each.text);
    CHECK(first_line(fault(each.text)) == std::string("t.toml:") + each.message);
  }
}

TEST_CASE("syntax errors have a position too", "[experiment]") {
  // The column is chosen by the parser.
  CHECK(fault("title = 'a'\ntitle = 'b'\n").starts_with("t.toml:2:"));
  CHECK(fault("device = 'cpu'\nx = \xff").starts_with("t.toml:2:"));
  const std::string open = fault("[problem\n");
  CHECK(open.starts_with("t.toml:1:9: error: "));
  CHECK(open.ends_with("\n 1 | [problem\n   |         ^"));
}

TEST_CASE("a long line is no error", "[experiment]") {
  std::string sizes = "[problem]\nsizes = [1";
  for (int i = 0; i < 3000; ++i) sizes += ", 1";
  CHECK(load_text(sizes + "]\n").problems.size() == 1);
}

TEST_CASE("all errors of a file are reported together, ten at most", "[experiment]") {
  const std::string two = fault("[timing]\nmin_samples = 0\n[problem]\nsizes = [0]\ntitel = 1\n");
  CHECK(two.find("t.toml:2:15: ") < two.find("t.toml:4:10: "));
  CHECK(two.find("t.toml:4:10: ") < two.find("t.toml:5:1: "));
  std::string many = "[problem]\nsizes = [";
  for (int i = 0; i < 13; ++i) many += "0, ";
  CHECK(fault(many + "]").ends_with("t.toml: and 3 more errors"));
}

TEST_CASE("files that cannot be experiments are refused", "[experiment]") {
  const folder here;
  CHECK(fault_of(here.path() / "none.toml", here) == "none.toml: error: there is no such file");
  std::filesystem::create_directory(here.path() / "d");
  CHECK(fault_of(here.path() / "d", here) ==
        "d: error: is a directory; name an experiment file (.toml) in it");
  const std::string comment(1 << 20, '#');
  CHECK(fault_of(here.write("full.toml", comment), here) == "");
  CHECK(fault_of(here.write("large.toml", comment + "#"), here) ==
        "large.toml: error: is larger than 1 MiB, too large for an experiment file");
  CHECK(fault_of(std::filesystem::path(here.write("a.toml", "")) / "b.toml", here) ==
        "a.toml/b.toml: error: cannot be read: Not a directory");
  const auto secret = here.write("secret.toml", "");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  if (geteuid() != 0)  // root may read every file
    CHECK(fault_of(secret, here) == "secret.toml: error: cannot be read: Permission denied");
}

TEST_CASE("the command line overrides the file", "[experiment]") {
  overrides over;
  over.device = "cpu";
  over.plugins = {"naive:*", "smem"};
  const auto e = load_text("device = 'cuda'\nplugins = ['*']\nbaseline = 'naive'\n", over);
  CHECK(e.device == "cpu");
  CHECK(to_string(e.device_where) == "--device");
  REQUIRE(e.plugins.size() == 2);
  CHECK(e.plugins[0].text == "naive:*");
  CHECK(to_string(e.plugins[0].where) == "--plugins");
  CHECK(e.baseline->text == "naive");
  CHECK(e.verify.tier == kzoo::tier::quick);
  over.tier = "paranoid";
  CHECK(load_text("[verify]\ntier = 'full'\n", over).verify.tier == kzoo::tier::paranoid);

  over.tier = "fulll";
  CHECK_THAT(fault("", over), kzoo::test::ContainsSubstring("--verify: error: expected \"quick\""));
  over.device = "cudo";
  over.plugins = {"a:b:c"};
  const std::string both = fault("", over);
  CHECK(both.find("--device: error: expected \"auto\"") != std::string::npos);
  CHECK(both.find("--plugins: error: expected a plugin such as") != std::string::npos);
}

// Spaces of parameters: what they say, and the points that they have.

#include "experiment/tuning_space.hpp"
#include "source/description.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/rounds_apart.hpp"
#include "support/text.hpp"
#include "timing/summary.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace kzoo;
using results::tuning_point;

namespace {

results::tuning_space space_in(const std::string& toml) {
  input::diagnostics report("mine.toml", toml);
  const experiment::node_table document = experiment::parse_document(toml, report);
  experiment::table_reader keys(document, "", report);
  const auto space = experiment::read_tuning_space(*keys.find("tune"));
  report.throw_if_any();
  return *space;
}

std::vector<std::string> names_in(const std::string& toml) {
  std::vector<std::string> names;
  for (const tuning_point& point : experiment::points_of(space_in(toml)))
    names.push_back(results::point_name(point));
  return names;
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a space has a point for each combination that its restrictions allow", "[tune]") {
  CHECK(names_in("[tune]\nBM = [64, 128]\nBN = 32\n") == strings{"BM64_BN32", "BM128_BN32"});
  CHECK(names_in("[tune]\nA1 = '4..12 by 4'\nB_ = {from = 1, to = 2}\n"
                 "restrictions = ['A1 * B_ <= 12', 'A1 > 4 || B_ == 2']\n") ==
        strings{"A14_B_2", "A18_B_1", "A112_B_1"});
  CHECK(names_in("[tune]\nS = ['-1..1', 5]\n") == strings{"S-1", "S0", "S1", "S5"});
}

TEST_CASE("ranges and lists have a size that can be tried", "[tune]") {
  const auto fault_in = [](const std::string& values) {
    return test::refusal_of([&] { space_in("[tune]\nA = " + values + "\n"); });
  };
  const auto check = [&](const std::string& values, const std::string& words) {
    INFO(values);
    CHECK_THAT(fault_in(values), test::ContainsSubstring(words));
  };
  check("'1..8 by 0'", "the step must be at least 1, and is 0");
  check("{from = 1, to = 8, step = -2}", "the step must be at least 1, and is -2");
  check("'8..1'", "the range from 8 to 1 is empty");
  for (const char* range : {"'-9223372036854775808..5'", "'5..9223372036854775807'",
                            "'-9223372036854775808..9223372036854775807'"})
    check(range, "is not within -1000000000 to 1000000000");
  check("'1..10001'", "has more than 10000 values");
  check("['1..10000', '10001..20000', '20001..30000']", "A has more than 10000 values");
  CHECK(fault_in("'-1000000000..1000000000 by 1000000'").empty());
  CHECK(fault_in("'1..10000'").empty());
}

TEST_CASE("a source's lines have the same space as a manifest", "[tune]") {
  const std::string text =
      "// kzoo: arch=90a tune\tBM=64,128 BN=\"8..16 by 8\"\n// a comment\n"
      "// kzoo: tune restrictions=BM*BN<=1024\n"
      "// kzoo: tune \trestrictions=BM>64||BN<16,BM>0\n// kzoo: native\nint BM, BN;\n";
  const source::description d = source::describe("/nowhere/mine.cpp", "mine.cpp", text);
  const auto space = source::tuning_space_in(d);
  REQUIRE(space);
  strings names;
  for (const auto& point : experiment::points_of(*space))
    names.push_back(results::point_name(point));
  CHECK(names == strings{"BM64_BN8", "BM128_BN8"});
  CHECK(space->restrictions.size() == 3);
  CHECK(d.keys.size() == 3);  // arch, tune, native
}

TEST_CASE("values take the place of their names in what is said of a launch", "[tune]") {
  input::diagnostics report("", "");
  const std::string text =
      "entry = 'f<BM, BMX, -BM>'\nid = 'BM'\nblock = ['BM * 2', 'M / BM']\ngranularity = ['BM', 1, "
      "1]\n[[variant]]\nshared = 'BM*N'\n";
  const experiment::node_table keys =
      source::with_values(experiment::parse_document(text, report), {{"BM", -4}});
  const auto at = [&](const char* key) {
    return std::ranges::find(keys, key, &experiment::table_entry::key)->content.value;
  };
  CHECK(std::get<std::string>(at("entry")) == "f<(-4), BMX, -(-4)>");
  CHECK(std::get<std::string>(at("id")) == "BM");
  const auto block = std::get<experiment::node_list>(at("block"));
  CHECK(std::get<std::int64_t>(block[0].value) == -8);
  CHECK(std::get<std::string>(block[1].value) == "M / (-4)");
  CHECK(std::get<std::int64_t>(std::get<experiment::node_list>(at("granularity"))[0].value) == -4);
  CHECK(source::definitions({{"BM", 64}, {"X", -1}}) == strings{"-DBM=64", "-DX=-1"});
}

TEST_CASE("macros of values stand behind the SDK's headers that a source always includes",
          "[tune]") {
  const test::scratch_folder folder;
  folder.write("more.hpp",
               "// once\n#ifndef MORE\n#define MORE\n#include <kzoo/wmma.hpp>\n"
               "#include \"mine.cu\"\n#include \"kzoo/own.hpp\"\n#endif\n");
  folder.write("kzoo/own.hpp", "#include <kzoo/mma.hpp>\n" + std::string(1'000'000, ' ') + "\n");
  const auto source = folder.write("mine.cu",
                                   "#include <cuda_fp16.h>\r\n # include <kzoo/plugin.hpp>\n"
                                   "#if defined(A)\n#ifdef B\n#endif\n#include <kzoo/wgmma.hpp>\n"
                                   "#endif\n#include \"more.hpp\"\n#include <kzoo/plugin.hpp>\n");
  CHECK(source::preamble(source, {{"T", 4}, {"A", -1}}) ==
        "#if __has_include(<kzoo/plugin.hpp>)\n#include <kzoo/plugin.hpp>\n#endif\n"
        "#if __has_include(<kzoo/wmma.hpp>)\n#include <kzoo/wmma.hpp>\n#endif\n"
        "#if __has_include(<kzoo/mma.hpp>)\n#include <kzoo/mma.hpp>\n#endif\n"
        "#define T 4\n#define A -1\n");
  CHECK(source::preamble(source, {}).empty());
}

TEST_CASE("a variant's name tells its point", "[tune]") {
  CHECK(results::is_variant_of("BM64", "BM64"));
  CHECK(results::is_variant_of("rows_BM64", "BM64"));
  CHECK_FALSE(results::is_variant_of("rowsBM64", "BM64"));
  CHECK_FALSE(results::is_variant_of("BM64_BN8", "BM64"));
}

TEST_CASE("a kernel is slower once the interval of the ratio is beyond the margin", "[tune]") {
  using timing::is_slower;
  const auto fast = test::rounds_apart({1.00, 1.01, 1.00, 1.02, 0.99});
  const auto slow = test::rounds_apart({1.10, 1.12, 1.10, 1.13, 1.09});
  CHECK(is_slower(slow, fast, 0.01, {}));
  CHECK_FALSE(is_slower(fast, slow, 0.01, {}));
  CHECK_FALSE(is_slower(fast, fast, 0.01, {}));
  CHECK_FALSE(is_slower(slow, fast, 0.2, {}));          // within the margin
  CHECK_FALSE(is_slower(slow, fast, 0.01, {0, 0.06}));  // processes differ as much
  // One round in which it was the faster one.
  CHECK_FALSE(is_slower(test::rounds_apart({1.10, 0.90, 1.10, 0.95, 1.09}), fast, 0.01, {}));
  // Too few rounds for an interval.
  CHECK_FALSE(
      is_slower(test::rounds_apart({9, 9, 9, 9}), test::rounds_apart({1, 1, 1, 1}), 0.01, {}));
}

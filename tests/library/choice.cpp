// Which kernel libkzoo calls: by name, by a tuned table, by default.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"

#include <kzoo/kzoo.hpp>

#include <fmt/format.h>

#include <vector>

using kzoo::test::ContainsSubstring;
using kzoo::test::scratch_folder;

namespace {

const std::string kPlugins = kzoo::test::plugin_folder("cpu").string();

kzoo::handle_options on_cpu(const std::string& kernels, const std::string& tuned = "") {
  return {.device = KZOO_CPU, .plugins = kPlugins, .kernels = kernels, .tuned = tuned};
}

// What computes a product of zeros.
std::string kernel_for(const kzoo::handle& handle, std::int64_t m, std::int64_t n, std::int64_t k,
                       kzoo_operation transa = KZOO_OP_N) {
  const std::vector<float> zeros(std::size_t(std::max({m * n, n * k, m * k})));
  std::vector<float> c(std::size_t(m * n));
  handle.sgemm_row_major(transa, KZOO_OP_N, m, n, k, 1, zeros.data(), transa == KZOO_OP_N ? k : m,
                         zeros.data(), n, 0, c.data(), n);
  return kzoo_last_kernel();
}

constexpr const char* kTable = R"({{
  "schema": "kzoo.tuned/1", "device": {{"id": "cpu"}}, "made_by": "hand",
  "problems": [
    {{"problem": {{"m": 16, "n": 16, "k": 16}},
      "ranked": [{{"plugin": "serial", "variant": "ijk"}}, {{"plugin": "serial", "variant": "ikj"}}]}},
    {{"problem": {{"m": 64, "n": 64, "k": 64, "dtype": "f32", "layout": "nn", "batch": 1}},
      "ranked": [{{"plugin": "{}", "variant": "{}"}}]}},
    {{"problem": {{"m": 64, "n": 64, "k": 65}}, "ranked": []}},
    {{"problem": {{"m": 128, "n": 128, "k": 128, "epilogue": "relu"}},
      "ranked": [{{"plugin": "fused", "variant": "smem"}}]}},
    {{"problem": {{"m": 16, "n": 16, "k": 16, "layout": "tn"}},
      "ranked": [{{"plugin": "every_type", "variant": "naive"}}]}}
  ]
}})";

// For the second of its problems.
std::string table(const std::string& plugin, const std::string& variant) {
  return fmt::format(fmt::runtime(kTable), plugin, variant);
}

}  // namespace

TEST_CASE("of a list of names the first kernel that takes the problem computes it") {
  CHECK(kernel_for(kzoo::handle(on_cpu("serial:ijk")), 3, 3, 3) == "serial:ijk");
  CHECK(kernel_for(kzoo::handle(on_cpu("serial")), 3, 3, 3) == "serial:ijk");
  // It takes row-major matrices alone.
  const kzoo::handle handle(on_cpu("naive,serial:ikj"));
  CHECK_THAT(kernel_for(handle, 3, 3, 3), ContainsSubstring("naive:"));
  CHECK(kernel_for(handle, 3, 4, 5, KZOO_OP_T) == "serial:ikj");
  const kzoo::handle alone(on_cpu("naive"));
  CHECK_THROWS_WITH(kernel_for(alone, 3, 4, 5, KZOO_OP_T),
                    ContainsSubstring("no kernel takes the problem") &&
                        ContainsSubstring("it takes layout nn, not tn"));
}

TEST_CASE(
    "a kernel that computes in less than fp32 is not called, a split one if that is allowed") {
  CHECK_THROWS_WITH(kernel_for(kzoo::handle(on_cpu("wmma_every_type")), 64, 64, 64),
                    ContainsSubstring("options.precision does not allow"));
  kzoo::handle_options options = on_cpu("split_tf32,serial:ikj");
  CHECK(kernel_for(kzoo::handle(options), 64, 64, 64) == "serial:ikj");
  options.precision = KZOO_COMPUTE_FP32_SPLIT;
  CHECK_THAT(kernel_for(kzoo::handle(options), 64, 64, 64), ContainsSubstring("split_tf32:"));
}

TEST_CASE("a kernel that rounds differently from run to run is called if that is allowed") {
  kzoo::handle_options options{
      .device = KZOO_CPU, .plugins = kzoo::test::hostile_folder(), .kernels = "native:pauses"};
  CHECK_THROWS_WITH(kernel_for(kzoo::handle(options), 3, 4, 5),
                    ContainsSubstring("options.nondeterministic is 0"));
  options.nondeterministic = true;
  CHECK(kernel_for(kzoo::handle(options), 3, 4, 5) == "native:pauses");
}

TEST_CASE("a problem is declined for which a plugin is chosen that is not to be called") {
  kzoo::handle_options options = on_cpu("naive,unheard_of:fp32");
  options.declined = "other,unheard_of";
  const kzoo::handle handle(options);
  CHECK_THAT(kernel_for(handle, 3, 4, 5), ContainsSubstring("naive:"));
  CHECK_THROWS_WITH(kernel_for(handle, 3, 4, 5, KZOO_OP_T),
                    "unheard_of:fp32 is chosen, of a plugin in options.declined");
}

TEST_CASE("by default a list is used, of which one takes every problem") {
  const kzoo::handle handle(on_cpu(""));
  CHECK_THAT(kernel_for(handle, 3, 4, 5),
             ContainsSubstring("serial:") || ContainsSubstring("openblas:"));
  const scratch_folder empty;
  CHECK_THROWS_WITH(kzoo::handle({.device = KZOO_CPU, .plugins = empty.path().string()}),
                    ContainsSubstring("none of the plugins that are used by default is in " +
                                      empty.path().string()));
}

TEST_CASE(
    "a split kernel is preferred where it is allowed, and dispatch is no default on the cpu") {
  const scratch_folder folder;
  const auto put = [&](const std::filesystem::path& file, const std::string& name) {
    std::filesystem::copy_file(file, folder.path() / (name + ".so"));
  };
  kzoo::handle_options options{.device = KZOO_CPU, .plugins = folder.path().string()};
  put(kzoo::test::plugin_folder("cpu") / "serial.so", "serial");
  CHECK(kernel_for(kzoo::handle(options), 3, 3, 3) == "serial:ikj");
  put(kzoo::test::library_stand_in("cpu/dispatch_stand_in.so"), "dispatch");
  CHECK(kernel_for(kzoo::handle(options), 3, 3, 3) == "serial:ikj");
  options.kernels = "dispatch:fp32_split,dispatch:fp32";
  CHECK(kernel_for(kzoo::handle(options), 3, 3, 3) == "dispatch:fp32");
  options.precision = KZOO_COMPUTE_FP32_SPLIT;
  CHECK(kernel_for(kzoo::handle(options), 3, 3, 3) == "dispatch:fp32_split");
}

TEST_CASE("a tuned table chooses for its problems, and for others the nearest one's kernel") {
  const scratch_folder folder;
  const kzoo::handle handle(
      on_cpu("serial:ikj", folder.write("tuned.json", table("every_type", "naive"))));
  CHECK(kernel_for(handle, 16, 16, 16) == "serial:ijk");
  CHECK(kernel_for(handle, 64, 64, 64) == "every_type:naive");
  CHECK(kernel_for(handle, 31, 31, 31) == "serial:ijk");
  CHECK(kernel_for(handle, 33, 33, 33) == "every_type:naive");
  CHECK(kernel_for(handle, 128, 64, 16) == "every_type:naive");    // by the logarithms
  CHECK(kernel_for(handle, 128, 128, 128) == "every_type:naive");  // which has no epilogue
  CHECK(kernel_for(handle, 3, 4, 5, KZOO_OP_T) == "every_type:naive");

  // An nt problem has no entry; a column-major nn one is the row-major nn of its transpose.
  const std::vector<float> zeros(64);
  std::vector<float> c(16);
  handle.sgemm_row_major(KZOO_OP_N, KZOO_OP_T, 4, 4, 4, 1, zeros.data(), 4, zeros.data(), 4, 0,
                         c.data(), 4);
  CHECK(std::string(kzoo_last_kernel()) == "serial:ikj");
  handle.sgemm(KZOO_OP_N, KZOO_OP_T, 4, 4, 4, 1, zeros.data(), 4, zeros.data(), 4, 0, c.data(), 4);
  CHECK(std::string(kzoo_last_kernel()) == "every_type:naive");
}

TEST_CASE("where the nearest kernel of a table declines the next one is asked") {
  const scratch_folder folder;
  // wmma_every_type computes in TF32.
  const kzoo::handle handle(on_cpu(
      "serial:ikj", folder.write("tuned.json", table("wmma_every_type", "128x64x32_64x32"))));
  CHECK(kernel_for(handle, 64, 64, 64) == "serial:ijk");
}

TEST_CASE("a table that is not one, or of another device, is refused with its reason") {
  const scratch_folder folder;
  const auto message = [&](const std::string& text) -> std::string {
    try {
      const kzoo::handle handle(on_cpu("", folder.write("tuned.json", text)));
    } catch (const kzoo::error& e) {
      CHECK(e.status == KZOO_INVALID_TABLE);
      return e.what();
    }
    return "";
  };
  CHECK(message(table("serial", "ikj")).empty());
  CHECK_THAT(message(""), ContainsSubstring("tuned.json:1:1: error: "));
  CHECK_THAT(message("{}"), ContainsSubstring("the key \"schema\" is missing"));
  CHECK_THAT(message(R"({"schema": "\u001b[31mX"})"),
             ContainsSubstring("reads kzoo.tuned/1, and not \\x1b[31mX"));
  CHECK_THAT(message(R"({"schema": "kzoo.tuned/1", "problems": []})"), ContainsSubstring("device"));
  CHECK_THAT(message(R"({"schema": "kzoo.tuned/1", "device": {"id": "cuda:1"}, "problems": []})"),
             ContainsSubstring("made on another device: its kind is 'cuda', here it is 'cpu'"));
  CHECK_THAT(message(R"({"schema": "kzoo.tuned/1", "device": {"id": "cpu"},
                         "problems": [{"problem": {"m": 0, "n": 1, "k": 1}, "ranked": [{}]}]})"),
             ContainsSubstring("problems[0].problem.m: expected a whole number from 1 on"));
  const auto with = [&](const std::string& keys) {
    return message(R"({"schema": "kzoo.tuned/1", "device": {"id": "cpu"}, )" + keys + "}");
  };
  CHECK_THAT(with(R"("problems": null)"),
             ContainsSubstring("problems: expected a list, found 'null'"));
  CHECK_THAT(with(R"("problems": [{"problem": {"m": 1, "n": 1, "k": 1}, "ranked": null}])"),
             ContainsSubstring("tuned.json: error: problems[0].ranked: expected a list"));
  CHECK_THAT(with(R"("problems": [{"problem": {"m": 1, "n": 1, "k": 1},
                                   "ranked": [{"plugin": null, "variant": "ikj"}]}])"),
             ContainsSubstring("problems[0].ranked[0].plugin: expected a string"));
  for (const char* m : {"18446744073709551615", "1.5", "true"}) {
    CHECK_THAT(with(fmt::format(R"("problems": [{{"problem": {{"m": {}, "n": 1, "k": 1}},
                                                "ranked": [{{}}]}}])",
                                m)),
               ContainsSubstring("problems[0].problem.m: expected an integer"));
  }
}

TEST_CASE("a kernel that a table names is looked for in the places of plugins alone") {
  const scratch_folder folder;
  std::filesystem::create_directory(folder.path() / "empty");
  std::filesystem::copy_file(kzoo::test::plugin_folder("cpu") / "serial.so",
                             folder.path() / "mine.so");
  const std::string file = (folder.path() / "mine.so").string();
  const auto open = [&](const std::string& plugin, const std::string& places) {
    const std::string tuned = folder.write("tuned.json", R"({"schema": "kzoo.tuned/1",
        "device": {"id": "cpu"}, "plugins": [{"name": "mine", "file": ")" +
                                                             file + R"("}],
        "problems": [{"problem": {"m": 16, "n": 16, "k": 16},
                      "ranked": [{"plugin": ")" + plugin + R"(", "variant": "ijk"}]}]})");
    return kzoo::handle(
        {.device = KZOO_CPU, .plugins = places, .kernels = "serial:ikj", .tuned = tuned});
  };
  const std::string places = (folder.path() / "empty").string() + ":" + kPlugins;
  for (const std::string& path : {std::string("../mine"), (folder.path() / "mine").string()}) {
    CHECK_THROWS_WITH(open(path, places),
                      ContainsSubstring("tuned.json: names " + path + ":ijk, and '" + path +
                                        ":ijk' names no kernel"));
  }
  CHECK_THROWS_WITH(
      open("unheard_of", places),
      ContainsSubstring("names unheard_of:ijk, and there is no plugin 'unheard_of'") &&
          !ContainsSubstring("was made with"));
  CHECK_THROWS_WITH(
      open("mine", places),
      ContainsSubstring("tuned.json: names mine:ijk, and there is no plugin 'mine'") &&
          ContainsSubstring("made with " + file + ": put that file first in"));
  CHECK(kernel_for(open("mine", file + ":" + places), 16, 16, 16) == "mine:ijk");
}

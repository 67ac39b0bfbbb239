// Selectors, nearest words, device names.

#include "support/catch.hpp"
#include "unit/experiment_file.hpp"

using namespace kzoo::experiment;
using namespace kzoo::results;
using kzoo::matches;
using kzoo::to_string;
using kzoo::input::nearest;
using namespace kzoo::experiment::testing;

TEST_CASE("selectors match plugins and variants", "[experiment]") {
  CHECK(matches("smem", "smem", ""));
  CHECK(matches("smem", "smem", "16x16"));
  CHECK_FALSE(matches("smem", "smem2", ""));
  CHECK_FALSE(matches("smem", "sme", ""));
  CHECK(matches("smem:*", "smem", "16x16"));
  CHECK(matches("smem:16*", "smem", "16x16"));
  CHECK_FALSE(matches("smem:16*", "smem", "32x32"));
  CHECK(matches("smem:16x16", "smem", "16x16"));
  CHECK_FALSE(matches("smem:16x16", "naive", "16x16"));
  CHECK_FALSE(matches("smem:16x16", "smem", "16x16x2"));
  CHECK(matches("*", "anything", "at_all"));
  CHECK(matches("*:8x8", "naive", "8x8"));
  CHECK_FALSE(matches("*:8x8", "naive", "16x16"));
  CHECK(matches("register_*", "register_tiles", ""));
  CHECK_FALSE(matches("register_*", "smem", ""));
  CHECK(matches("*a*b*c", "xaxxbxbxc", ""));
  CHECK_FALSE(matches("*a*b*c", "xaxxcxbx", ""));
  CHECK(matches("v?", "v1", ""));
  CHECK_FALSE(matches("v?", "v", ""));
}

TEST_CASE("a variant's selector matches the plugin that may hold it", "[experiment]") {
  CHECK(matches("smem:16x16", "smem", ""));
  CHECK_FALSE(matches("smem:16x16", "naive", ""));
}

TEST_CASE("malformed selectors are refused", "[experiment]") {
  for (const char* bad :
       {"", ":", "smem:", ":8x8", "a:b:c", "a b", "./a.cu:", "./a.cu:b c", "a:[0-9]", "\u00e9"}) {
    INFO(bad);
    CHECK(first_line(fault("plugins = ['" + std::string(bad) + "']"))
              .starts_with("t.toml:1:12: error: plugins: expected a plugin such as \"smem\""));
  }
  CHECK(fault("plugins = ['a.b-c_D9:x?*']").empty());
  CHECK(fault("plugins = ['./a b.cu:x?*', 'mine.cu', '../mine/']").empty());
  CHECK(
      first_line(fault("baseline = 'a:b:c'")).starts_with("t.toml:1:12: error: baseline: expect"));
}

TEST_CASE("a selector with a slash or a source's suffix names a file", "[experiment]") {
  const auto path = [](const char* text) { return kzoo::as_file(text).value().path; };
  const auto variant = [](const char* text) { return kzoo::as_file(text).value().variant; };
  CHECK(path("./mine.cu") == "./mine.cu");
  CHECK(variant("./mine.cu") == "");
  CHECK(path("mine.cu:16x16") == "mine.cu");
  CHECK(variant("mine.cu:16x*") == "16x*");
  CHECK(path("a:b/mine.cpp:v") == "a:b/mine.cpp");
  CHECK(path("mine/") == "mine/");
  CHECK(path("build/mine.so") == "build/mine.so");
  CHECK(path("mine.cuh") == "mine.cuh");
  CHECK_FALSE(kzoo::as_file("mine"));
  CHECK_FALSE(kzoo::as_file("mine:16x16"));
  CHECK_FALSE(kzoo::as_file("mine.cu.orig"));
}

TEST_CASE("the nearest word is found, but only if it is close", "[experiment]") {
  const std::vector<std::string> known = {"title", "plugins", "device", "samples", "m", "f32"};
  CHECK(nearest("plugin", known) == "plugins");
  CHECK(nearest("plguins", known) == "plugins");
  CHECK(nearest("PLUGINS", known) == "plugins");
  CHECK(nearest("plug", known) == "plugins");
  CHECK(nearest("sampels", known) == "samples");
  CHECK(nearest("fp32", known) == "f32");
  CHECK_FALSE(nearest("colour", known));
  CHECK_FALSE(nearest("x", known));
  CHECK_FALSE(nearest("", known));
  CHECK_FALSE(nearest("title", {}));
}

TEST_CASE("device names", "[experiment]") {
  for (const char* good : {"auto", "cpu", "cuda", "cuda:0", "cuda:15"})
    CHECK_NOTHROW(check_device_name(good, "--device"));
  for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:01", "CPU",
                          "cuda:99999999999999999999", "cpu:0", "cuda:all", "cpu:all"}) {
    INFO(bad);
    CHECK_THROWS_AS(check_device_name(bad, "--device"), kzoo::input::invalid);
  }
  CHECK_THROWS_WITH(
      check_device_name("cudo", "--device"),
      "--device: error: expected \"auto\", \"cpu\", \"cuda\", \"cuda:all\" or \"cuda:N\" "
      "with N a device number from 0, found \"cudo\"; did you mean 'cuda'?");
}

TEST_CASE("a position is written as editors read it", "[experiment]") {
  CHECK(to_string({"a.toml", 3, 7}) == "a.toml:3:7");
  CHECK(to_string({"--sizes"}) == "--sizes");
}

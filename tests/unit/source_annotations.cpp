// The `// kzoo:` lines at the head of a source.

#include "compile/source_plugin.hpp"
#include "source/annotations.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

#include <string>

using namespace kzoo;
using strings = std::vector<std::string>;

namespace {

source::build_settings settings_in(const std::string& text) {
  input::diagnostics report("mine.cu", text);
  const experiment::node_table table = source::annotations(text, report);
  experiment::table_reader keys(table, "", report);
  source::build_settings s = source::read_build_settings(keys);
  keys.finish();
  report.throw_if_any();
  return s;
}

std::string fault_in(const std::string& text) {
  const std::string words = test::refusal_of([&] { settings_in(text); });
  return words.substr(0, words.find('\n'));
}

}  // namespace

TEST_CASE("a source's first lines say how it is built", "[compile]") {
  const auto s = settings_in(
      "// A kernel for Hopper.\n"
      "\n"
      "//kzoo: arch=90a-real,80 libraries=cublas,cublasLt\n"
      "  // kzoo: options=-DX=1,\"-DY=a b\" native\n"
      "#include <x>\n"
      "// kzoo: bogus=1\n");
  CHECK(s.architectures == strings{"90a-real", "80"});
  CHECK(s.libraries == strings{"cublas", "cublasLt"});
  CHECK(s.options == strings{"-DX=1", "-DY=a b"});
  CHECK(s.native);
  CHECK(settings_in("int x;\n// kzoo: arch=90a\n").architectures.empty());
  CHECK(settings_in("// kzoo is a word here\n").architectures.empty());
}

TEST_CASE("what is wrong in such a line is said with its place", "[compile]") {
  CHECK(fault_in("// kzoo: arch=sm_90")
            .starts_with("mine.cu:1:15: error: arch: expected an architecture as CMake writes it"));
  CHECK(fault_in("// kzoo: arhc=90").starts_with("mine.cu:1:10: error: unknown key 'arhc'"));
  CHECK(fault_in("// x\n// kzoo: arch= 90").starts_with("mine.cu:2:15: error: expected a value"));
  CHECK_THAT(
      fault_in("// kzoo: arch=80, 90"),
      test::ContainsSubstring("1:18: error: expected a value after '=' or ','; a space ends"));
  CHECK(fault_in("// kzoo: options=\"-DX").starts_with("mine.cu:1:18: error: a quote that"));
  CHECK(fault_in("// kzoo: ,").starts_with("mine.cu:1:10: error: expected KEY=VALUE"));
  CHECK(fault_in("// kzoo: arch=90 arch=80").starts_with("mine.cu:1:18: error: arch is given"));
  CHECK(fault_in("// kzoo: libraries=-lfoo").starts_with("mine.cu:1:20: error: libraries: exp"));
  CHECK(fault_in("// kzoo: native=7").starts_with("mine.cu:1:17: error: native: expected true"));
}

TEST_CASE("annotations stand behind a byte order mark and comments of several lines") {
  const auto s = settings_in(
      "\xef\xbb\xbf/* A licence\r\n // kzoo: arch=80\n */ /* more */\r\n// kzoo: arch=90a\r\n/* x */ int "
      "y;\n// kzoo: native\n");
  CHECK(s.architectures == strings{"90a"});
  CHECK_FALSE(s.native);
  CHECK(settings_in("/* no end\n// kzoo: native\n").native == false);
}

TEST_CASE("a source in C is refused, with how it is built") {
  const test::scratch_folder folder;
  const test::environment cache("XDG_CACHE_HOME", folder.path().string());
  compile::recipe how;
  how.device = "cpu";
  how.include = "/sdk/include";
  CHECK_THROWS_WITH(
      compile::source_plugin("mine.c", how, {}, compile::cache()),
      test::ContainsSubstring("mine.c: error: is C, and sources are compiled as C++") &&
          test::ContainsSubstring("cc -O2 -shared -fPIC -I /sdk/include mine.c -o mine.so"));
}

TEST_CASE("a source for nvcc has a path that nvcc takes") {
  const test::scratch_folder folder;
  const test::environment cache("XDG_CACHE_HOME", folder.path().string());
  compile::recipe how;
  how.device = "cuda";
  CHECK_THROWS_WITH(compile::source_plugin("a$b/mine.cu", how, {}, compile::cache()),
                    test::ContainsSubstring("a$b/mine.cu: error: nvcc takes no path with"));
}

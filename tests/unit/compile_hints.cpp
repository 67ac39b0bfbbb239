// Sentences about why a source does not compile.

#include "compile/hints.hpp"
#include "support/catch.hpp"

#include <string>

using kzoo::compile::hints;
using kzoo::test::ContainsSubstring;

TEST_CASE("instructions of sm_90a without it get a sentence that names ARCH", "[compile]") {
  const std::string ptxas =
      "ptxas /tmp/x.ptx, line 30; error   : Instruction 'wgmma.fence' not supported on .target "
      "'sm_80'\n";
  CHECK_THAT(hints("cuda", "mine.cu", "", ptxas), ContainsSubstring("mine.cu: note: ") &&
                                                      ContainsSubstring("ARCH 90a-real") &&
                                                      ContainsSubstring("// kzoo: arch=90a"));
  CHECK(hints("cuda", "mine.cu", "", "mine.cu(3): error: identifier \"x\" is undefined\n") == "");
}

TEST_CASE("a construct that the compiler does not object to gets no sentence", "[compile]") {
  const std::string source = "// asm\nint basm = 1;\nextern __shared__ float x[];\nasm(\"\");\n";
  CHECK(hints("cpu", "m.cu", source, "m.cu:2:1: error: x\n") == "");
  CHECK_THAT(hints("cpu", "m.cu", source, "m.cu:3:1: error: x\n"),
             ContainsSubstring("m.cu:3: note"));
  CHECK_THAT(hints("cpu", "m.cu", source, "/tmp/cc.s: Assembler messages:\n"),
             ContainsSubstring("m.cu:4: note: inline PTX"));
}

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

TEST_CASE("a header of CUDA that is not simulated gets the SDK's own", "[compile]") {
  const std::string source =
      "#include <mma.h>\n#include <cuda_pipeline.h>\n#include <cuda/barrier>\n";
  const std::string missing = "m.cu:1:10: fatal error: mma.h: No such file or directory\n";
  CHECK(hints("cpu", "m.cu", source, missing) ==
        "m.cu:1: note: the simulator's nvcuda::wmma is in <kzoo/wmma.hpp> (docs/porting.md)\n");
  const std::string within =
      "In file included from /usr/include/cuda_pipeline_helpers.h:53,\n"
      "                 from m.cu:2,\n/usr/include/x.h:323:9: error: x\n";
  CHECK_THAT(hints("cpu", "m.cu", source, within), ContainsSubstring("<kzoo/async_copy.hpp>"));
  CHECK_THAT(hints("cpu", "m.cu", source, "m.cu:3:10: fatal error: x\n"),
             ContainsSubstring("<kzoo/mbarrier.hpp>"));
}

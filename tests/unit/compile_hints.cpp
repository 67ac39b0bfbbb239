// Sentences about why a source does not compile.

#include "compile/run_compiler.hpp"
#include "support/catch.hpp"

#include <string>

using kzoo::compile::hints;
using kzoo::compile::host_code_hints;
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
  const std::string source = "#include <cuda_pipeline.h>\n#include <cuda/barrier>\n";
  const std::string within =
      "In file included from /usr/include/cuda_pipeline_helpers.h:53,\n"
      "                 from m.cu:1,\n/usr/include/x.h:323:9: error: x\n";
  CHECK_THAT(hints("cpu", "m.cu", source, within), ContainsSubstring("<kzoo/async_copy.hpp>"));
  CHECK_THAT(hints("cpu", "m.cu", source, "m.cu:2:10: fatal error: x\n"),
             ContainsSubstring("<kzoo/mbarrier.hpp>") && ContainsSubstring("on a GPU"));
  CHECK_THAT(hints("cpu", "m.cu", "#include <cute/tensor.hpp>\n", "m.cu:1:10: fatal error: x\n"),
             ContainsSubstring("m.cu:1: note: CUTLASS's headers are inline PTX"));
}

TEST_CASE("functions of CUDA's runtime are named, and names that begin as they do are not",
          "[compile]") {
  const auto noted = [](const std::string& name) {
    return hints("cpu", "m.cu", "",
                 "m.cu:1:1: error: '" + name + "' was not declared in this scope\n");
  };
  CHECK_THAT(noted("cudaMalloc"), ContainsSubstring("note: cuda… functions are not there"));
  CHECK_THAT(noted("cublasCreate"), ContainsSubstring("note: cublas… functions are not there"));
  CHECK(noted("cuda::barrier") == "");
  CHECK(noted("cuda" + std::string(1 << 20, 'A')) == "");  // and no overflow of the stack
}

TEST_CASE("names of CUDA that are not simulated are named", "[compile]") {
  const std::string said =
      "m.cu:1:1: error: \u2018__vadd4\u2019 was not declared in this scope\n"
      "m.cu:2:1: error: there are no arguments to '__vadd4' that depend on a template parameter, so "
      "a declaration of '__vsub4' must be available\n"
      "m.cu:3:1: error: \u2018this_grid\u2019 is not a member of \u2018cooperative_groups\u2019\n"
      "m.cu:4:1: error: \u2018mine\u2019 was not declared in this scope\n";
  const std::string notes = hints("cpu", "m.cu", "", said);
  for (const std::string name : {"__vadd4", "__vsub4", "this_grid"})
    CHECK_THAT(notes, ContainsSubstring("note: " + name + " is not there in the simulator"));
  CHECK_THAT(notes, !ContainsSubstring("mine"));
}

TEST_CASE("what the linker misses is named as the word of a kzoo: line", "[compile]") {
  const auto noted = [](const std::string& name) {
    return hints("cuda", "m.cu", "", "m.cu:(.text+0x8): undefined reference to `" + name + "'\n");
  };
  CHECK(
      noted("cublasCreate_v2") ==
      "m.cu: note: what the linker misses comes with `// kzoo: libraries=cublas` in the first lines\n");
  CHECK_THAT(noted("cublasLtMatmul"), ContainsSubstring("libraries=cublasLt`"));
  CHECK_THAT(noted("cuTensorMapEncodeTiled"), ContainsSubstring("libraries=cuda`"));
  CHECK_THAT(noted("omp_get_num_threads"), ContainsSubstring("options=-fopenmp`"));
  CHECK(noted("cudaMine") == "");
  CHECK(noted("mine") == "");
}

TEST_CASE("what is not there of PyTorch is named, as each compiler says it", "[compile]") {
  const auto noted = [](const std::string& device, const std::string& words) {
    return hints(device, "m.cu", "", "m.cu:1:2: error: " + words + "\n");
  };
  constexpr const char* kNote = "m.cu: note: torch::matmul is not there: operators of PyTorch";
  CHECK_THAT(noted("cpu", "'matmul' is not a member of 'torch'"), ContainsSubstring(kNote));
  CHECK_THAT(noted("cuda", "namespace \"torch\" has no member \"matmul\""),
             ContainsSubstring(kNote));
  CHECK_THAT(noted("cpu", "'class at::Tensor' has no member named 'to'"),
             ContainsSubstring("note: Tensor::to is not there"));
  CHECK_THAT(noted("cuda", "class \"at::Tensor\" has no member \"to\""),
             ContainsSubstring("note: Tensor::to is not there"));
  CHECK(noted("cpu", "'matmul' is not a member of 'mine'") == "");
}

TEST_CASE("where to cut a file is said by its line", "[compile]") {
  const kzoo::source::needed_code code{"", {{"help", 3, 5}, {"other", 8, 9}}, 7};
  const std::string notes = host_code_hints("m.cu", code, "m.cu(4): error: x\n");
  CHECK_THAT(host_code_hints("m.cu", code, "other.cu(4): error: x\n"), !ContainsSubstring("help"));
  CHECK_THAT(notes, ContainsSubstring("m.cu:3: note: help is not marked as __device__") &&
                        ContainsSubstring("cut out lines 3 to 5") &&
                        ContainsSubstring("m.cu:7: note: a bracket in this line has no end") &&
                        !ContainsSubstring("other"));
}

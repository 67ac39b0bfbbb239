// What is left of whole programs for the sake of a kernel.

#include "source/files.hpp"

#include "os/text.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>

using kzoo::source::needed_by;
using kzoo::source::needed_code;
using kzoo::test::ContainsSubstring;

namespace {

needed_code needed(const std::string& source, const std::string& entry = "mine") {
  return needed_by({entry}, source, {}, {.simulated = true});
}

// Whether it is there, and nothing of what is not.
bool keeps(const std::string& source, const std::string& part) {
  return needed(source).text.find(part) != std::string::npos;
}

const std::string kKernel = "__global__ void mine(float* c) { c[0] = 1; }\n";

}  // namespace

TEST_CASE("a program's kernel stays in its lines, and its host code goes", "[compile]") {
  const std::string source = R"(#include <cublas_v2.h>
// A brace in a comment: {
const char* text = "}"; /* } */ char brace = '{';
__global__ void mine(float* c) {
  c[threadIdx.x] = 1;  // }
}
template <class T, int kSize = (3 > 2)>
void launch(T* c) {
  mine<<<1, dim3(32)>>>(c);
#pragma unroll
  for (int i = 0; i < kSize; ++i) cudaDeviceSynchronize();
}
static cublasHandle_t handle = make();
struct matrix { float* data; matrix(int n) { cudaMalloc(&data, n); } ~matrix() {} };
torch::Tensor product(torch::Tensor a, torch::Tensor b);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &launch<float>, "}"); }
int main(int argc, char** argv) try {
  std::string raw = R"x(} " ' //)x";
  launch<float>(nullptr);
} catch (...) { return 1'000; }
)";
  const needed_code found = needed(source);
  const auto was = kzoo::lines_of(source), is = kzoo::lines_of(found.text);
  REQUIRE(was.size() == is.size());
  for (const std::size_t kept : {0, 3, 4, 5}) CHECK(was[kept] == is[kept]);
  for (const char* gone :
       {"launch", "unroll", "handle", "matrix", "torch", "PYBIND", "main", "catch"})
    CHECK_THAT(found.text, !ContainsSubstring(gone));
  CHECK_FALSE(found.open_line);
  CHECK(found.unmarked.empty());
}

TEST_CASE("what a kernel mentions stays, and what that mentions", "[compile]") {
  const std::string source = R"(
#define TILE 16
#define DEVICE __device__ __forceinline__
#define SQUARE(x) square(x)
namespace host { void help() { cudaFree(0); } }
namespace {
constexpr int kTile = TILE;
enum { kRows = 4, kCols };
struct size { int m, n; };
typedef struct { int x; } point;
using number = float;
__constant__ number table[kRows];
DEVICE number square(number x) { return x * x; }
template <int N> struct twice { static constexpr int value = 2 * N; };
template <> struct twice<3> { static constexpr int value = 7; };
__device__ float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
}
extern "C" {
__global__ void __launch_bounds__(256) mine(number* c) {
  __shared__ number tile[kTile][kCols];
  size s{1, 2};
  point p{3};
  c[s.m + p.x] = SQUARE(table[twice<2>::value]) + tile[0][0];
}
__global__ void other(float* c) { asm("bad"); }
}
void square(double) {}
)";
  for (const char* part : {"kTile = TILE", "kRows = 4", "struct size", "} point;", "using number",
                           "__constant__", "DEVICE number square", "twice<3>", "operator+"})
    CHECK(keeps(source, part));
  for (const char* part : {"help", "other", "square(double)"}) CHECK_FALSE(keeps(source, part));
}

TEST_CASE("kernels that macros make stay", "[compile]") {
  CHECK(keeps("#define KERNEL(name) __global__ void name\nKERNEL(mine)(float* c) { c[0] = 1; }\n",
              "KERNEL(mine)(float"));
  CHECK(keeps("#define KERNEL(name) __global__ void name(float* c)\nKERNEL(mine) { c[0] = 1; }\n",
              "KERNEL(mine) {"));
  const std::string pasted =
      "#define KERNEL(n) __global__ void kernel_##n(float* c) { c[n] = 1; }\n"
      "#define LAUNCH(n) void launch_##n() { kernel_##n<<<1, 1>>>(0); }\nKERNEL(1)\nLAUNCH(1)\n";
  const needed_code found = needed(pasted, "kernel_1");
  CHECK_THAT(found.text, ContainsSubstring("\nKERNEL(1)\n") && !ContainsSubstring("\nLAUNCH(1)\n"));
  CHECK_FALSE(keeps(kKernel + "template void launch<float>(float*);\n", "launch"));
}

TEST_CASE("of #if and #else with a brace each one counts", "[compile]") {
  const std::string source =
      "#ifdef LONG\n__global__ void mine(float* c, int n) {\n#else\n__global__ void mine(float* c) {\n"
      "#endif\n  c[0] = 1;\n}\nint main() {\n#if 1\n  if (1) {\n#else\n  {\n#endif\n  }\n}\n" +
      std::string("__device__ int after;\n");
  const std::string text = needed(source).text;
  CHECK_THAT(text, ContainsSubstring("c[0] = 1") && !ContainsSubstring("main"));
  CHECK(std::ranges::count(text, '#') == std::ranges::count(source, '#'));
}

TEST_CASE("a wrapper with the kernel's name goes, a function that the kernel calls stays",
          "[compile]") {
  const std::string source =
      "void help(float* c) { *c = 1; }\n__global__ void mine(float* c) { help(c); int check = 0; }\n"
      "void mine(float* a, int n) { mine<<<1, 1>>>(a); }\nvoid check(int) { exit(1); }\n";
  const needed_code found = needed(source);
  CHECK_THAT(found.text, ContainsSubstring("void help") && !ContainsSubstring("int n") &&
                             !ContainsSubstring("exit"));
  REQUIRE(found.unmarked.size() == 1);
  CHECK(found.unmarked[0].name == "help");
  CHECK(found.unmarked[0].first_line == 1);
}

TEST_CASE("where no declaration has the kernel's name, kernels stay", "[compile]") {
  const needed_code found = needed(kKernel + "int main() {}\n", "mime");
  CHECK_THAT(found.text, ContainsSubstring("void mine") && !ContainsSubstring("main"));
  // It is in a header, which uses what stands before.
  const std::string before = "constexpr int kTile = 8;\n#include \"k.cuh\"\nint main() {}\n";
  const std::string with_header =
      needed_by({"mine"}, before, {"__global__ void mine(float* c) { c[kTile] = 0; }"}, {}).text;
  CHECK_THAT(with_header, ContainsSubstring("kTile") && !ContainsSubstring("main"));
}

TEST_CASE("the line of a bracket without an end is known", "[compile]") {
  const needed_code found = needed(kKernel + "int main() {\n");
  CHECK_THAT(found.text, ContainsSubstring("void mine") && !ContainsSubstring("main"));
  CHECK(found.open_line == 2);
}

TEST_CASE("dynamic shared memory is what the simulator has for it", "[compile]") {
  const std::string source =
      "__global__ void mine(float* c) {\n  extern __shared__ __align__(16) unsigned char\n      tile[];\n"
      "  extern __shared__ float sums[]; c[0] = tile[0];\n}\n";
  const std::string text = needed(source).text;
  CHECK_THAT(
      text, ContainsSubstring("unsigned char* tile = kzoo::dynamic_shared<unsigned char>();\n\n") &&
                ContainsSubstring("  float* sums = kzoo::dynamic_shared<float>(); c[0]"));
  CHECK(needed_by({"mine"}, source, {}, {}).text == source);
}

TEST_CASE("dynamic shared memory may have rows", "[compile]") {
  const std::string rows =
      "__global__ void mine(float* c) {\n  extern __shared__ __align__(8) half tile[][4][kCols + 1];\n"
      "  c[0] = tile[0][0][0];\n}\n";
  CHECK_THAT(needed(rows).text,
             ContainsSubstring("\n  auto* tile = reinterpret_cast<half(*)[4][kCols + 1]>("
                               "kzoo::dynamic_shared<half>());\n"));
}

TEST_CASE("a function of the host may have the name of its kernel", "[compile]") {
  const std::string source =
      kKernel + "void mine(float* c, int n) { mine<<<1, n>>>(c); }\nvoid other() {}\n";
  const std::string text = needed_by({"mine"}, source, {}, {.for_host = true}).text;
  CHECK_THAT(text, ContainsSubstring("int n") && ContainsSubstring("__global__") &&
                       !ContainsSubstring("other"));
}

TEST_CASE("namespaces of headers that are not here are declared", "[compile]") {
  const std::string source =
      "namespace cg = cooperative_groups;\nusing namespace cg;\nusing namespace torch::nn;\n" +
      kKernel;
  CHECK_THAT(needed_by({"mine"}, source, {}, {.lacks_headers = true}).text,
             ContainsSubstring(
                 "\nusing namespace cg;\nnamespace torch::nn {} using namespace torch::nn;"));
}

TEST_CASE("macros that stand in themselves or in one another often end", "[compile]") {
  CHECK(keeps("#define A(x) ; A(x)\n#define B C\n#define C B\nA(1)\nB x;\n" + kKernel, "mine"));
  constexpr int kDeep = 20'000;
  std::string often, deep;
  for (int i = 0; i < 30; ++i) {
    const std::string uses = "M" + std::to_string(i + 1), name = "M" + std::to_string(i);
    often += "#define " + name + "(x)";
    for (int j = 0; j < 30; ++j) often += ' ' + uses + "(x)";
    often += "\n#define " + name + "0 " + uses + "0 " + uses + "0\n";
  }
  for (int i = 0; i < kDeep; ++i)
    deep += "#define D" + std::to_string(i) + "(x) D" + std::to_string(i + 1) + "(x)\n";
  CHECK(keeps(often + "M0(1)\nint x = M00;\n" + kKernel, "mine"));
  CHECK(keeps(deep + "D0(1)\n__device__ int x = D0(1);\n" + kKernel, "mine"));
}

TEST_CASE("a program that ends anywhere is cut in time", "[compile]") {
  const std::string program =
      "#define ALIGN(n) __align__(n)\n#define K(n) __global__ void n() {\n#if 1\ntemplate <int N, "
      "int M = (1 << N), class... T>\nstruct ALIGN(16) four { float v[4]; } x = {1, 'a', R\"x(})x\"};\n"
      "#else\nextern \"C\" { K(mine) /* } */ asm(\"\\n\"); }\n#endif\nnamespace a = b;\nusing "
      "namespace a;\ntypedef struct { int y; } z; int main() try { K } catch (...) {}\n" +
      kKernel;
  for (std::size_t end = 0; end <= program.size(); ++end) {
    const std::string part = program.substr(0, end);
    const std::string text = needed(part).text;
    CHECK(std::ranges::count(text, '\n') == std::ranges::count(part, '\n'));
    needed(program.substr(end));
  }
  constexpr int kMany = 20'000;
  std::string chain = kKernel;  // each needs the next
  for (int i = kMany; i > 0; --i)
    chain += "__device__ int f" + std::to_string(i - 1) + "() { f" + std::to_string(i) + "(); }\n";
  chain += "__device__ int g() { f0(); }\n" + std::string(kMany, '<') + std::string(kMany, '(');
  CHECK(needed_by({"g"}, chain, {}, {}).open_line > kMany);
}

TEST_CASE("an apostrophe between #if and #endif is no literal beyond its line", "[compile]") {
  const std::string text =
      needed(kKernel + "#if 0\nThis doesn't work\n#endif\nint main() {}\n").text;
  CHECK_THAT(text, ContainsSubstring("#endif\n") && !ContainsSubstring("main"));
}

TEST_CASE("a macro in the head of a class makes no function of it", "[compile]") {
  const std::string kernel = "__global__ void mine(float* c) { four f; other g; }\n";
  const std::string text =
      needed(
          "#define ALIGN(n) __align__(n)\nstruct ALIGN(16) four { float v[4]; };\n"
          "class __align__(8) ALIGN(16) other : base { int i; };\nstruct ALIGN(2) host {};\n"
          "struct point from(int i) { return {i}; }\n" +
          kernel)
          .text;
  CHECK_THAT(text, ContainsSubstring("four {") && ContainsSubstring("other : base") &&
                       !ContainsSubstring("point") && !ContainsSubstring("host"));
}

TEST_CASE("macros of quoted headers count, and so does an entry without a mark", "[compile]") {
  const std::string source =
      "#include \"hd.h\"\nstruct v2 { float x; };\nHD v2 operator+(v2 a, v2 b) { return a; }\n"
      "KERNEL void mine(float* c) { v2 v; BODY(c); }\nvoid help() {}\n"
      "__global__ void other(float* c) {}\nint main() {}\n";
  const std::string text =
      needed_by(
          {"mine"}, source,
          {"#define HD __host__ __device__\n#define KERNEL __global__\n#define BODY(c) help()\n"},
          {})
          .text;
  CHECK_THAT(text, ContainsSubstring("operator+") && ContainsSubstring("KERNEL void mine") &&
                       ContainsSubstring("help() {}") && !ContainsSubstring("main") &&
                       !ContainsSubstring("other"));
  CHECK(keeps("#include <not_here.h>\nKERNEL void mine(float* c) {}\n__global__ void other() {}\n",
              "void mine"));
}

TEST_CASE("an #else ends what a head before its #if has begun", "[compile]") {
  const std::string text =
      needed(
          "#ifdef LONG\n__global__ void __launch_bounds__(128) mine(float* c, int n) {\n#else\n"
          "__global__ void __launch_bounds__(256) mine(float* c) {\n#endif\n  c[0] = 1;\n}\n"
          "int main() {}\n")
          .text;
  CHECK_THAT(text, ContainsSubstring("(128)") && ContainsSubstring("(256)") &&
                       ContainsSubstring("  c[0] = 1;\n}\n") && !ContainsSubstring("main"));
}

TEST_CASE("shifts and comparisons are no brackets of a template", "[compile]") {
  for (const char* value : {"1 << N", "N <= 4", "(N > 4)"}) {
    const std::string text = needed("template <int N, int M = " + std::string(value) +
                                    "> struct host {};\n" + kKernel + "int main() {}\n")
                                 .text;
    CHECK_THAT(text, ContainsSubstring("void mine") && !ContainsSubstring("host") &&
                         !ContainsSubstring("main"));
  }
}

TEST_CASE("macros with one brace stay, and what they begin is looked at", "[compile]") {
  const std::string text = needed("#define BEGIN namespace foo {\n#define END }\nBEGIN\n" +
                                      kKernel + "END\nvoid run() {}\n",
                                  "foo::mine")
                               .text;
  CHECK_THAT(text, ContainsSubstring("\nBEGIN\n") && ContainsSubstring("\nEND\n") &&
                       ContainsSubstring("void mine") && !ContainsSubstring("run"));
}

TEST_CASE("what host code includes within its braces goes with it", "[compile]") {
  const std::string text =
      needed(kKernel +
             "int main() {\n#ifndef X\n#error \"no X\"\n#endif\n#include \"body.inc\"\n}\n")
          .text;
  CHECK_THAT(text, ContainsSubstring("#endif") && !ContainsSubstring("error") &&
                       !ContainsSubstring("body.inc"));
}

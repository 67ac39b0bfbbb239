// What is left of whole programs for the sake of a kernel.

#include "compile/needed_code.hpp"

#include "os/text.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>

using kzoo::compile::needed_by;
using kzoo::compile::needed_code;
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
  CHECK(found.open_line == 0);
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

TEST_CASE("namespaces of headers that are not here are declared", "[compile]") {
  const std::string source =
      "namespace cg = cooperative_groups;\nusing namespace cg;\nusing namespace torch::nn;\n" +
      kKernel;
  CHECK_THAT(needed_by({"mine"}, source, {}, {.lacks_headers = true}).text,
             ContainsSubstring(
                 "\nusing namespace cg;\nnamespace torch::nn {} using namespace torch::nn;"));
}

// CUDA C++ in the strings of Python files.

#include "source/description.hpp"

#include "os/text.hpp"
#include "support/catch.hpp"

#include <string>

using kzoo::source::cuda_code_in;
using kzoo::test::ContainsSubstring;

TEST_CASE("the strings with kernels and headers are what is compiled, in their lines",
          "[compile]") {
  const std::string code = cuda_code_in(R"py(# kzoo: layouts=nt
"""What it's for: `__global_`."""
head = '''
#include <x.h>
'''  # it's a "comment"
name = "it's __global__"
code = head + r"""
__global__ void f(float* a) { printf("\n"); }
"""
more = """__global__ void g() { printf("\\n"); }"""
other = """int x;"""
load_inline(functions=['f', "g"])
)py");
  const auto lines = kzoo::lines_of(code);
  CHECK(lines.at(0) == "// kzoo: layouts=nt");
  CHECK(lines.at(3) == "#include <x.h>");
  CHECK(lines.at(7) == R"(__global__ void f(float* a) { printf("\n"); })");
  CHECK(lines.at(9) == R"(__global__ void g() { printf("\n"); })");
  CHECK_THAT(code, !ContainsSubstring("int x") && ContainsSubstring("PYBIND11_MODULE(f g, m)"));
}

TEST_CASE("Python without a kernel of CUDA C++ has no code, whatever it is", "[compile]") {
  for (const char* python : {"", "import triton\n", "x = '''#include <a>'''", "'__global__'", "'''",
                             "\"\"\"\\", "x = '", "# \"\"\"__global__"})
    CHECK(cuda_code_in(python).empty());
}

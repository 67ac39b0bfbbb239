// `runner compile`: libraries for machines that run them.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

// Of an author, whose folder has a space and a letter beyond ASCII.
struct author {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};
  std::string out = shell_word(folder.path() / "für später");

  std::string mine(const std::string& line = "") const {
    return shell_word(folder.write(
        "mine.cu", line + read_text(source_folder() / "sdk" / "template" / "mine.cu")));
  }
  fs::path library(const char* name) const { return folder.path() / "für später" / name; }
};

constexpr const char* kPtx = R"(// kzoo: entry=product<32> grid=ceil_div(N,32),M block=32
// kzoo: arguments=M,N,K,alpha,A,B,beta,C
template <int kWidth>
__global__ void product(int M, int N, int K, float alpha, const float* A, const float* B,
                        float beta, float* C) {
  const int row = blockIdx.y, col = blockIdx.x * kWidth + threadIdx.x;
  if (col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k)
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(A[row * K + k]), "f"(B[k * N + col]));
  C[row * N + col] = alpha * sum + (beta == 0 ? 0 : beta * C[row * N + col]);
}
)";

}  // namespace

TEST_CASE("a library for the cpu is compiled, and runs", "[cli]") {
  const author a;
  const auto made = runner("compile --device cpu -o " + a.out + ' ' + a.mine());
  INFO(made.err);
  REQUIRE(made.code == 0);
  CHECK(made.out == a.library("mine.so").string() + '\n');
  const auto ran = runner("quick --device cpu --no-journal --sizes 16 --plugins " +
                          shell_word(a.library("mine.so")));
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "mine:16x16"));
}

TEST_CASE("what cannot be compiled is refused with a way out", "[cli]") {
  const author a;
  const std::string mine = a.mine();
  check_refused("compile none.cu", {"there is no file none.cu"});
  check_refused("compile " + mine + " --arch 9",
                {"--arch: error: expected an architecture as CMake", "found \"9\""});
  check_refused("compile --device cpu --arch 90 " + mine, {"--arch: error: is of a GPU"});
  check_refused("compile --device gpu " + mine, {"expected cuda or cpu, found \"gpu\""});
  check_refused("compile " + shell_word(a.folder.path()), {"is a folder; name a source in it"});
  check_refused("compile " + shell_word(hostile_plugin("cpu", "memory")), {"is compiled already"});
  check_refused("compile --device cpu " + mine + " sub/mine.cu",
                {"mine.cu and sub/mine.cu would both become ./mine.so"});
  const std::string broken = a.folder.write("broken.cu", "__global__ void f(\n");
  check_refused("compile --device cpu " + broken, {"has a kernel and no plugin"});
  const auto ran = runner("compile --device cpu -o /proc/none " + mine);
  CHECK(ran.code == 5);
  CHECK(contains(ran.err, "the folder /proc/none cannot be made"));
}

TEST_CASE("a kernel with inline PTX is compiled for a GPU that is not here", "[cli][.nvcc]") {
  nvcc();
  const author a;
  const std::string source = shell_word(a.folder.write("ptx.cu", kPtx));
  const auto made = runner("compile --arch 90a-real -o " + a.out + ' ' + source, kNoGpu);
  INFO(made.err);
  REQUIRE(made.code == 0);
  CHECK_FALSE(contains(made.err, " for cpu"));
  const std::string library = read_text(a.library("ptx.so"));
  CHECK(contains(library, "kzoo_plugin_v1"));
  CHECK(contains(library, "nvcc 1"));  // its build information
  CHECK(contains(library, "for 90a-real"));

  // On the cpu the sentence about it says what to do.
  const auto ran = runner("quick --device cpu --no-journal --sizes 8 --plugins " + source);
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "runner compile FILE -o DIR"));
}

TEST_CASE("a cubin's template is named as C++ has it", "[cli][.nvcc]") {
  const std::string compiler = nvcc();
  const author a;
  const std::string text =
      std::string(kPtx) +
      "template __global__ void product<32>(int, int, int, float, const float*, "
      "const float*, float, float*);\n";
  const std::string source = shell_word(a.folder.write("k.cu", text));
  const std::string cubin = shell_word(a.folder.path() / "k.cubin");
  REQUIRE(std::system((compiler + " -cubin -arch=sm_90a " + source + " -o " + cubin).c_str()) == 0);
  const auto manifest = [&](const std::string& entry) {
    return shell_word(a.folder.write(
        "product.toml", "kernel = 'k.cubin'\nentry = '" + entry +
                            "'\ngrid = ['ceil_div(N, 32)', 'M']\nblock = 32\n"
                            "arguments = ['M', 'N', 'K', 'alpha', 'A', 'B', 'beta', 'C']\n"));
  };
  const auto made = runner("compile -o " + a.out + ' ' + manifest("product<32>"), kNoGpu);
  INFO(made.err);
  if (contains(made.err, "what launches them is not built")) skip("the launcher is not built");
  REQUIRE(made.code == 0);
  const std::string packed = read_text(a.library("product.so"));
  CHECK(contains(packed, R"("entry":"_Z7productILi32EEviiifPKfS1_fPf")"));
  CHECK(contains(packed, R"("id":"product_32")"));
  check_refused("compile " + manifest("product<16>"),
                {"k.cubin: error: has no kernel 'product<16>'; those in it: 'product<32>'"});
}

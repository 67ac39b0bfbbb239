// docs/plugins.md#porting: a port that does what each point says passes, and fails without it.
// Point 8 is in unit/compile_hints.cpp.

#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

#include <string>

using namespace kzoo::test;

namespace {

// A kernel as other repositories have it, after the port.
constexpr const char* kPort = R"(#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <kzoo/plugin.hpp>

__global__ void tiled(int m, int n, int k, float alpha, const float* a, long lda, const float* b,
                      long ldb, float beta, float* c, long ldc) {
  float* tile = kzoo::dynamic_shared<float>();
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 8) {
    tile[threadIdx.y * 8 + threadIdx.x] = a[row * lda + k0 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += tile[threadIdx.y * 8 + i] * b[(k0 + i) * ldb + col];
    __syncthreads();
  }
  float& out = c[row * ldc + col];
  out = beta == 0 ? alpha * sum : alpha * sum + beta * out;
}

struct port {
  using types = kzoo::types<float>;
  static constexpr kzoo::granularity granularity{.m = 8, .n = 8, .k = 8};

  void run(const kzoo::gemm<float>& g, kzoo::stream_t stream) const {
    const dim3 grid(g.n / 8, g.m / 8), block(8, 8);
    kzoo::launch({.grid = grid, .block = block, .dynamic_shared = 256, .stream = stream}, tiled, g.m,
                 g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc);
  }
};

KZOO_PLUGIN("port", "A port", kzoo::variant<port>("8x8", "x"));
)";

struct ported {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  // Of the port with one piece of its text replaced, on sizes that are multiples of 8 and others,
  // with and without beta and padded rows.
  run_result run(const std::string& from = "", const std::string& to = "",
                 const std::string& device = "cpu") const {
    return runner("quick --no-journal --sizes 16,33 --device " + device + " --plugins " +
                  folder.write("port.cu", replaced(kPort, from, to)));
  }
};

}  // namespace

TEST_CASE("porting: a port that follows the page passes") {
  const auto ran = ported().run();
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.out, "it needs M to be a multiple of 8, not 33"));
}

TEST_CASE("porting: what the page says to change does not compile, or is found wrong") {
  const ported p;
  const auto wrong = p.run("beta == 0 ? alpha * sum : alpha", "alpha");  // 3
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.out, "wrong"));
  const auto mutable_a = p.run("const float* a,", "float* a,");  // 4
  CHECK(mutable_a.code == 2);
  CHECK(contains(mutable_a.err, "launch_argument<5, float*, const float*"));
  const auto any_size = p.run("{.m = 8, .n = 8, .k = 8}", "{}");  // 5
  CHECK(any_size.code == 1);
  const auto packed = p.run("row * lda + k0", "row * k + k0");  // 6
  CHECK(packed.code == 1);
  CHECK(contains(packed.out, "padding=3"));
}

TEST_CASE("porting: launches and shared memory as CUDA has them get a sentence on the cpu") {
  const ported p;
  const auto launch = p.run(  // 1
      "kzoo::launch({.grid = grid, .block = block, .dynamic_shared = 256, .stream = stream}, tiled, g.m",
      "tiled<<<grid, block, 256>>>(g.m");
  CHECK(launch.code == 2);
  CHECK(contains(launch.err, "a launch with <<<>>> needs nvcc"));
  const auto shared = p.run("float* tile = kzoo::dynamic_shared<float>();",
                            "extern __shared__ float tile[];");  // 7
  CHECK(shared.code == 2);
  CHECK(contains(shared.err, "kzoo::dynamic_shared<T>()"));
}

TEST_CASE("porting: host code calls neither the runtime nor cuBLAS") {
  const auto ran =
      ported().run("const dim3 grid(", "cudaDeviceSynchronize(); const dim3 grid(");  // 2
  CHECK(ran.code == 2);
  CHECK(contains(ran.err, "note: cuda… functions are not there in the simulator"));
}

TEST_CASE("porting: what is made once for a problem does not keep the matrices' addresses") {
  const ported p;
  const auto validated = [&](const std::string& member, const std::string& before) {
    std::string text = replaced(
        kPort, "struct port {",
        "struct port {\n  port(const kzoo_problem& p, const kzoo_device&) : blocks(p.n / 8, p.m / 8) {}\n"
        "  dim3 blocks;\n" +
            member);
    text =
        replaced(text, "const dim3 grid(g.n / 8, g.m / 8),", before + "const dim3 grid = blocks,");
    if (!member.empty()) text = replaced(text, "g.alpha, g.a,", "g.alpha, first,");
    return runner("validate --device cpu --size 16 " + p.folder.write("port.cu", text));
  };
  CHECK(validated("", "").code == 0);
  const auto kept =
      validated("  mutable const float* first = nullptr;\n", "if (!first) first = g.a; ");  // 9
  CHECK(kept.code == 1);
  CHECK(contains(kept.out,
                 "wrong once A is at a new address: was a pointer kept from the first call?"));
}

TEST_CASE("porting: on a GPU <<<>>> may stay, and a launch that fails is found", "[.gpu]") {
  needs_gpu();
  const ported p;
  const std::string launch =
      "kzoo::launch({.grid = grid, .block = block, .dynamic_shared = 256, .stream = stream}, tiled, g.m";
  const auto right = p.run(launch, "tiled<<<grid, block, 256, stream>>>(g.m", "cuda");
  INFO(right.out << right.err);
  CHECK(right.code == 0);
  const auto failing = p.run(launch, "tiled<<<grid, 2048, 256, stream>>>(g.m", "cuda");
  INFO(failing.out);
  CHECK(failing.code == 1);
  CHECK(contains(failing.out, "launch failed, and the plugin did not say so"));
}

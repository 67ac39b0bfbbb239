// Kernels of which only device code is the author's: what is compiled of them, and how `judge`
// tells them from others.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"
#include "support/verdicts.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace kzoo::test;
using json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Host code that ends the process that loads it, in each way in which it would run by itself.
constexpr const char* kOfHost = R"(
#include <cstdlib>
__attribute__((constructor)) static void first() { std::abort(); }
static const int kBefore = (std::abort(), 1);
extern const char kText[] = "of its author's host code";
struct at_start { at_start() { std::abort(); } } const kObject;
)";

constexpr const char* kOfDevice = R"(// kzoo: entry=product<16,T> grid=ceil_div(N,16),ceil_div(M,16)
// kzoo: block=16,16 types=f32,f16 arguments=A,B,C,M,N,K,alpha
#include <cuda_fp16.h>
template <int kSide, class T>
__global__ void product(const T* a, const T* b, T* c, int m, long n, unsigned k, float alpha) {
  const int col = blockIdx.x * kSide + threadIdx.x, row = blockIdx.y * kSide + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (unsigned l = 0; l < k; ++l) sum += float(a[row * k + l]) * float(b[l * n + col]);
  c[row * n + col] = T(alpha * sum);
}
)";

struct device_author {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  device_author() {
    folder.write("product.cu", kOfDevice);
    folder.write("host.hpp", kOfHost);
    folder.write("hostile.cu", std::string(kOfDevice) + "#include \"host.hpp\"\n");
    folder.write("mine.cu", read_text(source_folder() / "sdk" / "template" / "mine.cu"));
    folder.write("gemm.toml", "baseline = 'serial:ikj'\n[problem]\nsizes = [16]\n");
  }

  run_result run(const std::string& words) const { return runner(words, in(folder)); }

  std::vector<json> compiled(const std::string& words) const {
    const auto ran = run("judge --compile-only --json -o built --arch 90a " + words);
    INFO(ran.err);
    std::vector<json> all;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
  }
};

// The library that launches compiled kernels.
void needs_launcher() {
  nvcc();
  if (!fs::exists(plugin_folder("launcher") / "compiled_kernel.so"))
    skip("the launcher is not built");
}

}  // namespace

TEST_CASE("nothing but the device code of a bare kernel is compiled for a GPU", "[cli][.nvcc]") {
  const device_author a;
  needs_launcher();
  const auto found = a.compiled("--device-code-only hostile.cu");
  REQUIRE(found.size() == 1);
  INFO(found[0].dump(1));
  CHECK(found[0].at("status").is_null());
  CHECK(found[0].at("host_code") == false);
  const std::string library = read_text(a.folder.path() / "built" / "hostile.so");
  CHECK(contains(library, R"("entry":"_Z7productILi16E6__halfEvPKT0_S3_PS1_iljf")"));
  CHECK_FALSE(contains(library, "of its author's host code"));

  // It is loaded, and nothing of its author's runs then.
  const auto described = a.run("describe built/hostile.so");
  INFO(described.err);
  CHECK(described.code == 0);
  CHECK(contains(described.out, "f32 in fp32, f16 in fp16"));
  CHECK(contains(described.out, "for 90a"));
  // With host code it does.
  const auto on_cpu = a.run("describe hostile.cu");
  INFO(on_cpu.out << on_cpu.err);
  CHECK(contains(on_cpu.out + on_cpu.err, "SIGABRT"));
}

TEST_CASE("a kernel with host code is refused where device code alone is asked for",
          "[cli][.nvcc]") {
  const device_author a;
  needs_launcher();
  CHECK(a.compiled("mine.cu").at(0).at("host_code") == true);
  const auto found = a.compiled("--device-code-only mine.cu product.cu").at(0);
  CHECK(found.at("status") == "COMPILE_ERROR");
  CHECK(found.at("check") == "host code");
  CHECK(found.at("library").is_null());
  CHECK(contains(found.at("reason"), "mine is a plugin, with host code of its own"));
  a.folder.write("tensors.cu", R"(__global__ void product(float* c) { c[0] = 1; }
torch::Tensor start(torch::Tensor a, torch::Tensor b) {
  auto c = torch::zeros({a.size(0), b.size(1)}, a.options());
  product<<<1, 1>>>(c.data_ptr<float>());
  return c;
}
)");
  CHECK(a.compiled("tensors.cu").at(0).at("host_code") == true);
  CHECK(a.compiled("--device-code-only tensors.cu").at(0).at("check") == "host code");
}

TEST_CASE("a packed manifest that lies is refused", "[cli][.nvcc]") {
  const device_author a;
  needs_launcher();
  a.compiled("product.cu");
  const std::string library = read_text(a.folder.path() / "built" / "product.so");
  using lie = std::pair<const char*, const char*>;
  for (const auto& [is, lies] :
       std::initializer_list<lie>{{R"("kind":0,"map":0)", R"("kind":8,"map":7)"},
                                  {R"("kind":0,"map":0)", R"("kind":9,"map":1)"},
                                  {R"("kind":2,"map":0,"type":0)", R"("kind":2,"map":0,"type":9)"},
                                  {R"("layout":0)", R"("layout":5)"},
                                  {R"("multiples":[1,1,1])", R"("multiples":[1,0,1])"}}) {
    INFO(lies);
    REQUIRE(contains(library, is));
    a.folder.write("lies.so", replaced(library, is, lies));
    const auto described = a.run("describe ./lies.so");
    CHECK(described.code != 0);
    CHECK_FALSE(contains(described.out, "product_16_T"));
  }
}

TEST_CASE("a parameter that is a class is refused at the line of the arguments", "[cli][.nvcc]") {
  const device_author a;
  needs_launcher();
  a.folder.write("struct.cu",
                 "// kzoo: entry=f grid=1 block=1 arguments=C,alpha\nstruct half_size { "
                 "half_size(float); float x; };\n__global__ void f(float*, half_size) {}\n");
  const auto ran = a.run("compile struct.cu");
  CHECK(ran.code == 2);
  INFO(ran.err);
  CHECK(contains(ran.err, "struct.cu(1): error: static assertion failed"));
  CHECK(contains(ran.err, "parameter 2 of f is no pointer and no number"));
}

TEST_CASE("on the cpu all of a kernel is host code", "[cli]") {
  const device_author a;
  const auto refused =
      a.run("judge --device cpu --problems gemm.toml --device-code-only product.cu");
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK(
      contains(refused.err, "--device-code-only: error: on the cpu device a kernel is host code"));
  const auto judged =
      a.run("judge --device cpu --problems gemm.toml --verify quick --json product.cu");
  INFO(judged.err);
  CHECK(judged.code == 0);
  CHECK(json::parse(judged.out).at("host_code") == true);
}

TEST_CASE("on a GPU kernels are judged of which only device code is the author's", "[cli][.gpu]") {
  needs_gpu();
  const device_author a;
  const auto judge = [&](const std::string& words) {
    const auto ran = a.run(
        "judge --device cuda --problems gemm.toml --baseline naive:8x8 --verify "
        "quick --json " +
        words);
    INFO(ran.err);
    return json::parse(ran.out);
  };
  const json bare = judge("--device-code-only hostile.cu");
  INFO(bare.dump(1));
  CHECK(bare.at("status") == "PASSED");
  CHECK(bare.at("host_code") == false);
  CHECK(bare.at("precisions") == json::array({"fp32"}));
  CHECK(bare.at("problems").at(0).at("baseline_precision") == "fp32");

  // What was compiled elsewhere is known by its bytes; one of them changed, it is a library like
  // any.
  a.compiled("--arch native hostile.cu");
  const std::string library = read_text(a.folder.path() / "built" / "hostile.so");
  CHECK(judge("--device-code-only built/hostile.so").at("host_code") == false);
  std::string other = library;
  other[other.find("GCC: (") + 1] = 'c';  // a comment in the launcher
  a.folder.write("other.so", other);
  const json refused = judge("--device-code-only ./other.so");
  CHECK(refused.at("status") == "COMPILE_ERROR");
  CHECK(refused.at("check") == "host code");

  const json plugin = judge("--device-code-only mine.cu");
  CHECK(plugin.at("check") == "host code");
  CHECK(judge("mine.cu").at("host_code") == true);
}

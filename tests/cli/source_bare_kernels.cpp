// Kernels that are no plugins, launched as their manifests say: examples/bare has twelve, a ladder
// from the naive one to two stages of tiles.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace kzoo::test;
namespace fs = std::filesystem;

namespace {

struct bench {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", (folder.path() / "cache").string()};

  run_result run(const std::string& plugins, const std::string& options = "--sizes 64") const {
    return runner("quick --device cpu --no-journal --json - " + options + " --plugins " + plugins);
  }
};

constexpr const char* kKernel = R"(
__global__ void product(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                        float* C, long ldc) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * ldc + col] = alpha * sum + (beta == 0 ? 0 : beta * C[row * ldc + col]);
}
)";

constexpr const char* kLaunch = "// kzoo: entry=product block=32\n";
constexpr const char* kArguments = "// kzoo: arguments=M,N,K,alpha,A,B,beta,C,ldc\n";
constexpr const char* kGrid = "// kzoo: grid=ceil_div(N,32),M\n";

}  // namespace

TEST_CASE("a kernel that reads C is analysed with the C that a judged run has") {
  const bench b;
  const auto file = b.folder.write("reads_c.cu", R"(// kzoo: entry=product block=32 reads_c
// kzoo: arguments=M,N,K,alpha,A,B,beta,C,ldc grid=ceil_div(N,32),M
__global__ void product(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                        float* C, long ldc) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * ldc + col] = alpha * sum + beta * C[row * ldc + col];
}
)");
  const auto ran = runner("validate " + file + " --device cpu --tier paranoid --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  bool analysed = false;
  for (const auto& made : ran.json().at("variants").at(0).at("checks")) {
    INFO(made.dump());
    CHECK((made.at("outcome") == "pass" || made.at("outcome") == "skipped"));
    analysed = analysed || (made.at("check") == "memory accesses" && made.at("outcome") == "pass");
  }
  CHECK(analysed);
}

TEST_CASE("the reason of a wrong kernel says which thread, which sizes, or what is not declared") {
  const bench b;
  // Two-dimensional blocks of 16 x 16; the body has i, j and sum.
  const auto judged = [&](const std::string& name, const std::string& words,
                          const std::string& body) {
    const auto file = b.folder.write(name,
                                     "// kzoo: entry=product block=16,16 arguments=A,B,C,M,N,K\n"
                                     "// kzoo: grid=ceil_div(N,16),ceil_div(M,16)" +
                                         words + R"(
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
)" + body + "}\n");
    const auto ran = runner("judge " + file + " --device cpu --json --explain");
    INFO(ran.err);
    return ran.json().at("reason").get<std::string>();
  };
  const std::string sums = "  for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];\n";
  const std::string is_outside = "  if (i >= m || j >= n) return;\n";

  CHECK_THAT(
      judged("rows.cu", "", "  if (j >= n) return;\n" + sums + "  c[i * n + j] = sum;\n"),
      ContainsSubstring("; only right where M is a multiple of 16: Mx16x16 is right at M = 16, "
                        "32, 48, 64, wrong at 1, ") &&
          ContainsSubstring("; write out of bounds, rows.cu:8: thread (0,1,0) of block 0, element "
                            "(1, 0) of C, which is 1x1 (on 1x1x1 f32); a thread whose row or "
                            "column lies outside C must not write"));
  const std::string whole_steps =
      "  for (int l = 0; l < k / 16 * 16; ++l) sum += a[i * k + l] * b[l * n + j];\n";
  const std::string tail =
      judged("tail.cu", "", is_outside + whole_steps + "  c[i * n + j] = sum;\n");
  CHECK_THAT(tail,
             ContainsSubstring("; only right where K is a multiple of 16: 16x16xK is right at "
                               "K = 16, 32, 48, 64, wrong at 1, 4, 8, 15, 17, 24") &&
                 !ContainsSubstring("out of bounds"));
  const std::string added = is_outside + sums + "  atomicAdd(&c[i * n + j], sum);\n";
  CHECK_THAT(
      judged("added.cu", "", added),
      ContainsSubstring("; atomic operation on uninitialised global memory, added.cu:8: ") &&
          ContainsSubstring("C must be zero before the kernel adds to it: declare reads_c") &&
          !ContainsSubstring("multiple of"));
  const std::string crash = judged("far.cu", "", sums + "  c[i * n + j + 8192] = sum;\n");
  CHECK_THAT(crash, ContainsSubstring("an access to memory around C"));
  CHECK(crash.find("SIGSEGV") == crash.rfind("SIGSEGV"));
  CHECK(judged("declared.cu", " reads_c", added).empty());
}

TEST_CASE("twelve bare kernels pass, with at most ten lines of manifest each") {
  const bench b;
  std::string list;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() / "examples" / "bare")) {
    if (entry.path().extension() != ".cu") continue;
    ++count;
    list += (list.empty() ? "" : ",") + entry.path().string();
    fs::path manifest = entry.path();
    manifest.replace_extension(".toml");
    const auto lines = lines_of(fs::exists(manifest) ? manifest : entry.path());
    const auto is_manifest = [&](const std::string& line) {
      return fs::exists(manifest) || line.starts_with("// kzoo:");
    };
    CHECK(std::ranges::count_if(lines, is_manifest) <= 10);
  }
  CHECK(count == 12);
  const auto ran = b.run(shell_word(list), "--sizes 128");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  std::set<std::string> passed;
  bool has_variant = false;
  for (const auto& cell : ran.json().at("cells")) {
    if (cell.at("verdict") == "pass") passed.insert(cell.at("plugin"));
    has_variant = has_variant || cell.at("variant") == "tiles_1d_64_64_8_8";
  }
  CHECK(has_variant);
  CHECK(passed.size() == count);
}

TEST_CASE("a bare kernel takes what its manifest says, and declines the rest") {
  const bench b;
  b.folder.write("product.cu", std::string(kLaunch) + kArguments + kGrid + kKernel);
  const auto types = b.folder.write("types.toml",
                                    "plugins = ['./product.cu']\n[[problem]]\nsizes = [8]\n"
                                    "padding = 3\n[[problem]]\nsizes = [8]\ndtype = 'i32'\n");
  const auto ran = runner(types + " --device cpu --no-journal --json -");
  INFO(ran.err);
  CHECK(ran.code == 1);  // it declines both
  CHECK(contains(ran.err, "not judged: product, which declined every problem"));
  std::set<std::string> reasons;
  for (const auto& cell : ran.json().at("cells"))
    if (cell.at("verdict") != "pass") reasons.insert(cell.at("reason"));
  CHECK(reasons.contains(
      "its arguments do not have lda, so it needs rows that follow each other without a gap"));
  CHECK(reasons.contains("it computes f32, not i32"));
}

TEST_CASE("a bare kernel with an epilogue runs where the problem has that one") {
  const bench b;
  b.folder.write("layer.cu", R"(// kzoo: entry=layer grid=ceil_div(N,32),M block=32 types=f32
// kzoo: epilogue="bias + relu" arguments=M,N,K,A,B,bias,C
__global__ void layer(int M, int N, int K, const float* A, const float* B, const float* bias,
                      float* C) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= N) return;
  float sum = bias[col];
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum > 0 ? sum : 0;
}
)");
  const auto file = b.folder.write(
      "layers.toml",
      "plugins = ['./layer.cu']\n[verify]\ntier = 'full'\n[problem]\nsizes = ['40x50x30']\n"
      "epilogue = ['', 'bias', 'bias + relu', 'bias:f16 + relu', 'row_bias + relu']\n");
  const auto ran = runner(file + " --device cpu --no-journal --json -");
  INFO(ran.err);
  std::vector<std::string> verdicts;
  for (const auto& cell : ran.json().at("cells")) {
    verdicts.push_back(cell.at("verdict"));
    if (cell.at("problem").value("epilogue", "") == "bias + relu") continue;
    CHECK(cell.at("reason") == "it computes a product with another epilogue");
  }
  CHECK(verdicts == std::vector<std::string>{"unsupported", "unsupported", "pass", "unsupported",
                                             "unsupported"});
}

TEST_CASE("a bare kernel gets the scales of blocks, and where groups of rows begin") {
  const bench b;
  b.folder.write("experts.cu",
                 R"(// kzoo: entry=experts grid=ceil_div(N,32),M block=32 types=e4m3->f32
// kzoo: scale_block_a=1x16 scale_block_b=8x16 groups=true
// kzoo: arguments=N,K,A,B,C,scale_a,scale_b,offsets,ceil_div(M,4)*4,ceil_div(K,16)
#include <cuda_fp8.h>
__global__ void experts(int N, int K, const __nv_fp8_e4m3* A, const __nv_fp8_e4m3* B, float* C,
                        const float* scale_a, const float* scale_b, const int* offsets,
                        int ld_scale_a, int k_blocks) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= N) return;
  int group = 0;
  while (offsets[group + 1] <= row) ++group;
  B += static_cast<size_t>(group) * K * N;
  const int ld = (k_blocks + 3) / 4 * 4;
  scale_b += group * ((N + 7) / 8) * ld;
  float sum = 0;
  for (int k = 0; k < K; ++k)
    sum += float(A[row * K + k]) * float(B[k * N + col]) * scale_a[k / 16 * ld_scale_a + row] *
           scale_b[col / 8 * ld + k / 16];
  C[row * N + col] = sum;
}
)");
  const auto file = b.folder.write(
      "experts.toml",
      "plugins = ['./experts.cu']\n[[problem]]\nsizes = ['18x40x33']\ndtype = 'e4m3->f32'\n"
      "scale_block_a = '1x16'\nscale_block_b = '8x16'\ngroups = 4\ngroup_rows = 'skewed'\n"
      "[[problem]]\nsizes = ['18x40x33']\ndtype = 'e4m3->f32'\ngroups = 4\n");
  const auto ran = runner(file + " --device cpu --no-journal --json -");
  INFO(ran.err);
  const auto cells = ran.json().at("cells");
  CHECK(cells.at(0).at("verdict") == "pass");
  CHECK(cells.at(1).at("reason") == "its blocks of A that have a scale are 1x16, not none");
}

TEST_CASE("a bare kernel takes a batch where its launch has one") {
  const bench b;
  const auto source = [&](const std::string& grid, const std::string& arguments) {
    return b.folder.write("many.cu", "// kzoo: entry=many block=32 reads_c grid=ceil_div(N,32),M" +
                                         grid + "\n// kzoo: arguments=M,N,K,A,B,C" + arguments +
                                         R"(
__global__ void many(int m, int n, int k, const float* a, const float* b, float* c, long sa, long sb) {
  const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (col >= n) return;
  a += blockIdx.z * sa, b += blockIdx.z * sb, c += long(blockIdx.z) * m * n;
  for (int l = 0; l < k; ++l) c[row * n + col] += a[row * k + l] * b[l * n + col];
}
)");
  };
  const auto cells = [&](const std::string& file) {
    const auto problems = b.folder.write(
        "problems.toml", "device = 'cpu'\nverify.tier = 'full'\nplugins = ['" + file + R"(']
[[problem]]
sizes = ["33x40x17"]
batch = [1, 3]
[[problem]]
sizes = ["33x40x17"]
batch = 3
batch_shared = "a"
)");
    const auto ran = runner("run " + problems + " --no-journal --json -");
    INFO(ran.err);
    std::string all;
    for (const auto& cell : ran.json().at("cells"))
      all += cell.at("verdict").get<std::string>() + ' ' + cell.value("reason", "") + '\n';
    return all;
  };
  CHECK(cells(source(",batch", ",stride_a,stride_b")) == "pass \npass \npass \n");
  CHECK(cells(source(",batch", ",M*K,stride_b")) ==
        "pass \npass \nunsupported its arguments do not have stride_a, so it needs A that follow "
        "each other without a gap\n");
  const std::string none =
      "unsupported it computes one product at a time, not a batch: batch is not in its grid or "
      "arguments\n";
  CHECK(cells(source("", ",0,0")) == "pass \n" + none + none);
}

TEST_CASE("what is wrong in a manifest is said with its place") {
  const bench b;
  const auto said = [&](const std::string& text) {
    const auto ran = b.run(b.folder.write("product.cu", text));
    CHECK(ran.code == 2);
    return ran.err;
  };
  const std::string kernel = kKernel, launch = kLaunch, arguments = kArguments, grid = kGrid;
  CHECK(contains(said(kernel), "has a kernel and no plugin: say how the kernel is launched"));
  CHECK(contains(said(kernel), "`entry=product arguments=M,N,K,alpha,A,B,beta,C,ldc`"));
  CHECK(contains(said(launch + arguments + kernel),
                 "product.cu:1:1: error: variant 'product' has no grid: how many blocks"));
  CHECK(contains(said(launch + arguments + "// kzoo: grid=ceil_div(Q,32),M\n" + kernel),
                 "product.cu:3:15: error: grid: unknown name 'Q' (known: M, N, K, lda, ldb, ldc"));
  CHECK(contains(said(launch + grid + "// kzoo: arguments=M,N,K,A,B,C,bias\n" + kernel),
                 "product.cu:3:20: error: arguments: a kernel has 'bias' by epilogue = \"bias\""));
  CHECK(contains(said(launch + grid + "// kzoo: arguments=M,N,K,A,B,C,offsets\n" + kernel),
                 "product.cu:3:20: error: arguments: a kernel has 'offsets' by groups = true"));
  CHECK(
      contains(said(launch + grid + "// kzoo: arguments=M,N,K,A,B,C,SFA\n" + kernel),
               "arguments: unknown name 'SFA' (known: A, B, C, workspace, null, alpha, beta, M, "));
  CHECK(contains(said(launch + grid + "// kzoo: epilogue=bias+tanh\n" + arguments + kernel),
                 "product.cu:3:19: error: epilogue: \"tanh\" is none of bias, row_bias"));
  CHECK_FALSE(contains(said(launch + arguments + "// kzoo: grid=N\x1b[31m\n" + kernel), "\x1b"));
  CHECK(contains(said(launch + arguments + "// kzoo: grid=M,N,1,1\n" + kernel),
                 "product.cu:3:15: error: grid: has 4 dimensions; there are x, y and z"));
  CHECK(contains(said(launch + arguments + grid + "// kzoo: types=f33\n" + kernel),
                 "types: expected one of \"f32\", "));
  CHECK(contains(said(launch + arguments + grid + "// kzoo: entyr=x\n" + kernel),
                 "unknown key 'entyr'; did you mean 'entry'?"));
  CHECK(contains(said("// kzoo: entry=x;y block=32\n" + arguments + grid + kernel),
                 "entry: expected the name of a __global__ function"));
  // The compiler objects to the manifest's line.
  CHECK(contains(said("// kzoo: entry=produkt block=32\n" + arguments + grid + kernel),
                 "product.cu:1:"));
  const std::string few = said(launch + "// kzoo: arguments=M,N,K,A,B,C\n" + grid + kernel);
  CHECK(contains(few, "product.cu:2:"));
  CHECK(contains(few, "product has another number of parameters than the 6 of arguments"));
  CHECK(contains(few, "(9 == 6)"));
  const std::string swapped =
      said(launch + "// kzoo: arguments=M,N,K,A,alpha,B,beta,C,ldc\n" + grid + kernel);
  CHECK(contains(swapped, "parameter 4 of product does not take A"));
  CHECK(contains(swapped, "parameter 5 of product does not take alpha"));
  for (const std::string& words : {few, swapped}) CHECK(!contains(words, "instantiation"));
  b.folder.write("product.toml", "entry = 'product'\ngrid = ['N / 0', 'M']\nblok = 32\n");
  CHECK(contains(said(kernel), "product.toml:3:1: error: unknown key 'blok'"));
  b.folder.write("product.toml", "[[tensor_map]]\nname = 'map_a'\n");
  CHECK(contains(said(kernel), "product.toml:1:1: error: tensor_map: tensor maps are made for"));
}

TEST_CASE("a source and its manifest may lie in any folder, and be anything") {
  const bench b;
  const fs::path odd = b.folder.path() / "a b'\"c$x\\d #\u00e9";
  fs::create_directory(odd);
  const std::string inside = odd.filename().string() + '/';
  const std::string text =
      "\xef\xbb\xbf/* A licence */\r\n" + std::string(kLaunch) + kArguments + kGrid;
  b.folder.write(inside + "product.cu", text + kKernel);
  const auto at = [&](const std::string& name) {
    return runner("quick --device cpu --sizes 64 --no-journal --quiet --plugins ./" + name,
                  "cd " + b.folder.path().string() + "/a*d* &&");
  };
  const auto first = at("product.cu");
  INFO(first.err);
  CHECK(first.code == 0);
  CHECK_FALSE(contains(at("product.cu").err, "compiled"));  // it is found again
  b.folder.write(inside + "product.cu", text + "int printf();\n// entry=product\n");
  b.folder.write(inside + "value.cu", "__global__ int value(int M);\n");
  const std::string manifest = "entry = 'value'\ngrid = 1\nblock = 1\narguments = 'M'\n";
  b.folder.write(inside + "value.toml", manifest);
  CHECK(contains(at("value.cu").err, "is no __global__ function, which returns void"));
  b.folder.write(inside + "value.toml", manifest + std::string(2 << 20, '#'));
  CHECK(contains(at("value.cu").err,
                 "value.toml: error: is larger than 1 MiB, too large for a manifest"));
  fs::remove(odd / "value.toml");
  fs::create_symlink("value.toml", odd / "value.toml");
  CHECK(contains(at("value.cu").err, "value.toml: error: cannot be read: Too many levels"));
  fs::create_symlink("loop.cu", odd / "loop.cu");
  CHECK(contains(at("loop.cu").err, "loop.cu: Too many levels of symbolic links"));
  b.folder.write(inside + "zero.cu", std::string(10, '\0'));
  CHECK(contains(at("zero.cu").err, "zero.cu: error: is no source"));
}

TEST_CASE("a problem for which a manifest has no launch is declined, and the expression named") {
  const bench b;
  const auto reasons = [&](const std::string& grid) {
    const auto ran = b.run(
        b.folder.write("product.cu", std::string(kLaunch) + kArguments + grid + "\n" + kKernel));
    std::string words;
    for (const auto& cell : ran.json().at("cells"))
      if (cell.at("verdict") == "unsupported") words += cell.at("reason").get<std::string>() + "\n";
    return words;
  };
  CHECK(
      contains(reasons("// kzoo: grid=N/(M-64),M"), "division by zero at column 2 of 'N/(M-64)'"));
  CHECK(
      contains(reasons("// kzoo: grid=M*9223372036854775807"), "overflow of 64 bits at column 2"));
  CHECK(contains(reasons("// kzoo: grid=N/1000,M"), "grid.x = N/1000 is 0, not 1 to 2147483647"));
  CHECK(contains(reasons("// kzoo: grid=M,N*4294967296"), "grid.y = N*4294967296 is 274877906944"));
}

TEST_CASE("a manifest of a source has all that one of compiled kernels has, variants too") {
  const bench b;
  const std::string file = b.folder.write("sums.cu", R"(
template <class T>
__global__ void sums(int M, int N, int K, double alpha, const T* A, const T* B, T* C, float* scratch,
                     const void* nothing, int SMs) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= N || nothing != nullptr || SMs < 1) return;
  float* const sum = scratch + row * N + col;
  *sum = 0;
  for (int k = 0; k < K; ++k) *sum += float(A[row * K + k]) * float(B[k * N + col]);
  C[row * N + col] = T(float(alpha) * *sum);
}
)");
  b.folder.write("sums.toml", R"toml(
summary = 'says "\n"'
arguments = ["M", "N", "K:i64", "alpha:f64", "A", "B", "C", "workspace", "null", "SMs"]
workspace = "4 * M * N"
[[variant]]
entry = "sums<float>"
grid = ["ceil_div(N, 32)", "M"]
block = 32
[[variant]]
id = "half"
summary = "in binary16"
entry = "sums<T>"
types = ["f16", "bf16"]
grid = ["ceil_div(N, 64)", "M"]
block = 64
)toml");
  const std::string kinds =
      b.folder.write("kinds.toml",
                     "plugins = './sums.cu'\n[problem]\nsizes = 33\ndtype = ['f32', 'f16', "
                     "'bf16']\nalpha = 2\n");
  const auto ran = runner("run " + kinds + " --device cpu --no-journal --json -");
  INFO(ran.err);
  CHECK(ran.code == 0);
  std::set<std::string> passed;
  for (const auto& cell : ran.json().at("cells"))
    if (cell.at("verdict") == "pass")
      passed.insert(cell.at("variant").get<std::string>() + " " +
                    cell.at("problem").at("dtype").get<std::string>());
  CHECK(passed == std::set<std::string>{"sums_float f32", "half f16", "half bf16"});
  b.folder.write("sums.toml",
                 "arguments = 'A'\ngrid = 1\nblock = 1\n[[variant]]\nentry = 'sums<T>'\n"
                 "[[variant]]\nentry = 'sums<T>'\n");
  CHECK(
      contains(b.run(file).err,
               "sums.toml:6:1: error: variant: two variants are called 'sums_T'; give each an id"));
}

namespace {

// As whole programs and extensions of PyTorch are: the kernel alone needs nothing that is not here.
constexpr const char* kProgram = R"(// kzoo: entry=gemm::product<16> block=16,16 shared=2048
// kzoo: grid=ceil_div(N,16),ceil_div(M,16) arguments=A,B,C,M,N,K
#include <cublas_v2.h>
#include <cooperative_groups.h>
#include <torch/extension.h>
#include "helpers/not_here.h"
#define CHECK_CUDA(x) if ((x) != cudaSuccess) exit(1)
#define DEVICE __device__ __forceinline__
namespace cg = cooperative_groups;
using namespace torch::indexing;
static cublasHandle_t handle = make_handle();
namespace gemm {
struct sizes { int m, n, k; };  // } for both
struct buffer { float* p; buffer(size_t n) { CHECK_CUDA(cudaMalloc(&p, n)); } };
DEVICE float times(float a, float b) { return a * b; }
template <int T>
__global__ void __launch_bounds__(T * T) product(const float* a, const float* b, float* c, int m,
                                                 int n, int k) {
  extern __shared__ float tiles[];
  float *ta = tiles, *tb = tiles + T * T;
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    ta[y * T + x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0;
    tb[y * T + x] = col < n && k0 + y < k ? b[(k0 + y) * n + col] : 0;
    cg::this_thread_block().sync();
    for (int i = 0; i < T; ++i) sum += times(ta[y * T + i], tb[i * T + x]);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
template <int T>
void launch(float* a, float* b, float* c, sizes s) {
  product<T><<<dim3(s.n / T, s.m / T), dim3(T, T), 2048>>>(a, b, c, s.m, s.n, s.k);
  CHECK_CUDA(cudaGetLastError());
}
}  // namespace gemm
__global__ void other(float* c) { asm volatile("no instruction"); }
torch::Tensor matmul(torch::Tensor a, torch::Tensor b) { return torch::mm(a, b); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("matmul", &matmul); }
int main() {
  gemm::buffer x(100);
  gemm::launch<16>(x.p, x.p, x.p, {1, 1, 1});
  cublasDestroy(handle);
}
)";

}  // namespace

TEST_CASE("the kernel of a whole program runs, and its host code needs nothing") {
  const bench b;
  const auto ran = b.run(b.folder.write("program.cu", kProgram), "--sizes 33");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.json().at("cells").at(0).at("verdict") == "pass");
}

TEST_CASE("the kernel of a whole program compiles for a GPU", "[.nvcc]") {
  nvcc();
  const bench b;
  const auto ran = runner("compile " + b.folder.write("program.cu", kProgram) + " --arch 80 -o " +
                          b.folder.path().string());
  INFO(ran.err);
  CHECK(ran.code == 0);
}

TEST_CASE("what a kernel of a whole program lacks is named, and where to cut the file") {
  const bench b;
  const auto said = [&](const std::string& from, const std::string& to) {
    const auto ran =
        b.run(b.folder.write("program.cu", replaced(kProgram, from, to)), "--sizes 33");
    CHECK(ran.code == 2);
    return ran.err;
  };
  const std::string of_torch = said("float sum = 0;", "float sum = torch::zero();");
  CHECK(contains(of_torch, "program.cu:22:"));
  CHECK(contains(of_torch, "note: torch/extension.h is not here, and was left out"));
  CHECK(contains(said("cg::this_thread_block()", "cg::this_grid()"),
                 "note: this_grid is not there in the simulator"));
  CHECK(contains(said("float sum = 0;", "float sum = matmul(0, 0);"),
                 "program.cu:39: note: matmul is not marked as __device__, and was compiled"));
}

TEST_CASE("a file that compiles as it stands is not cut, and one that is cut has its own headers") {
  const bench b;
  b.folder.write("mma.h", "__device__ inline float mine(float x) { return x; }\n");
  // What no kernel mentions is not compiled where the file is cut.
  const std::string text = "#include \"mma.h\"\n" +
                           replaced(kKernel, "alpha * sum", "alpha * mine(sum)") +
                           "inline void host() { static_assert(sizeof(int) == 4); ";
  const auto warned = [&](const std::string& name, const std::string& rest) {
    const auto ran =
        b.run(b.folder.write(name, std::string(kLaunch) + kArguments + kGrid +
                                       "// kzoo: options=-Wunused-variable\n" + text + rest));
    INFO(ran.err);
    CHECK(ran.code == 0);
    return contains(ran.err, "never_used");
  };
  CHECK(warned("whole.cu", "int never_used; }\n"));
  CHECK_FALSE(warned("cut.cu", "int never_used; no_such_function(); }\n"));
}

TEST_CASE("a kernel may be in a header, with host code that lacks what it includes") {
  const bench b;
  b.folder.write("host.h",
                 "#pragma once\n#include <pybind11/numpy.h>\n"
                 "pybind11::array_t<float> multiply(pybind11::array_t<float> a);\n"
                 "inline void check(cudnnStatus_t s) { if (s != 0) exit(1); }\n"
                 "constexpr int kWidth = 32;\n");
  b.folder.write("kernels/product.cuh",
                 "#include \"../host.h\"\n" +
                     replaced(replaced(kKernel, "float sum = 0;",
                                       "extern __shared__ float sums[][kWidth];\n"
                                       "  float& sum = sums[0][threadIdx.x];\n  sum = 0;"),
                              "A[row", "static_cast<const float*>(A)[row"));
  const auto file = b.folder.write(
      "program.cu", std::string(kLaunch) + kArguments + kGrid + "// kzoo: shared=4*32\n" +
                        "#include \"kernels/product.cuh\"\nint main() { check(run()); }\n");
  const auto ran = b.run(file, "--sizes 33");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.err, "note: pybind11/numpy.h is not here, and was left out"));
  // Without a description: it has a kernel.
  CHECK_THAT(b.run(b.folder.write("plain.cu", "#include \"kernels/product.cuh\"\n")).err,
             ContainsSubstring("plain.cu has a kernel and no plugin"));
}

TEST_CASE("a vector may be written as its elements") {
  const bench b;
  const auto file = b.folder.write("vectors.cu", R"(// kzoo: entry=product types=f16 block=1
// kzoo: arguments=A,B,C,M,N,K grid=N/8,M granularity=1,8,1 row_bytes=16
#include <cuda_fp16.h>
__global__ void product(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  const int row = blockIdx.y, col = 8 * blockIdx.x;
  float sums[8] = {};
  for (int i = 0; i < k; ++i) {
    const uint4 loaded = *reinterpret_cast<const uint4*>(&b[i * n + col]);
    const __half* elements = reinterpret_cast<const __half*>(&loaded);
    for (int j = 0; j < 8; ++j)
      sums[j] += __half2float(a[row * k + i]) * __half2float(elements[j]);
  }
  uint4 stored;
  __half* elements = reinterpret_cast<__half*>(&stored);
  for (int j = 0; j < 8; ++j) elements[j] = __float2half(sums[j]);
  *reinterpret_cast<uint4*>(&c[row * n + col]) = stored;
}
)");
  const auto ran = runner("judge " + file + " --device cpu --json --problems " +
                          b.folder.write("p.toml", "[problem]\nsizes = [32]\ndtype = 'f16'\n"));
  INFO(ran.err << ran.out);
  CHECK(ran.json().at("status") == "PASSED");
}

TEST_CASE("a header that is not here is said each time, and used when it is") {
  const bench b;
  const auto file = b.folder.write(
      "product.cu", std::string(kLaunch) + kArguments + kGrid + "#include \"config.h\"\n" +
                        "#ifndef WRONG\n#define WRONG 0\n#endif\n" +
                        replaced(kKernel, "alpha * sum", "alpha * sum + WRONG"));
  constexpr const char* kNote = "product.cu: note: config.h is not here, and was left out";
  const auto first = b.run(file), again = b.run(file);
  INFO(first.err);
  CHECK((first.code == 0 && contains(first.err, kNote) && contains(first.err, "compiled")));
  CHECK((again.code == 0 && contains(again.err, kNote) && !contains(again.err, "compiled")));
  b.folder.write("config.h", "#define WRONG 1\n");
  const auto with = b.run(file);
  CHECK((with.code == 1 && !contains(with.err, kNote)));
}

TEST_CASE("tiles in static shared memory begin where nvcc has them, with <mma.h> as it is") {
  const bench b;
  const auto file = b.folder.write("tiles.cu", R"(// kzoo: entry=tiles<half> types="f16->f32"
// kzoo: grid=N/16,M/16 block=32 granularity=16,16,16 arguments=A,lda,B,ldb,C,ldc,K
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
template <class T>
__global__ void tiles(const T* a, int lda, const T* b, int ldb, float* c, int ldc, int k) {
  __shared__ T ta[16 * 16];
  __shared__ T tb[16 * 16];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      ta[i] = a[(blockIdx.y * 16 + i / 16) * lda + k0 + i % 16];
      tb[i] = b[(k0 + i / 16) * ldb + blockIdx.x * 16 + i % 16];
    }
    __syncthreads();
    wmma::load_matrix_sync(fa, ta, 16);
    wmma::load_matrix_sync(fb, tb, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncthreads();
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * ldc + blockIdx.x * 16, fc, ldc, wmma::mem_row_major);
}
)");
  const auto types = b.folder.write(
      "types.toml", "plugins = ['" + file + "']\n[problem]\nsizes = [64]\ndtype = 'f16->f32'\n");
  const auto ran = runner(types + " --device cpu --no-journal --json -");
  INFO(ran.err);
  CHECK(ran.json().at("cells").at(0).at("verdict") == "pass");
}

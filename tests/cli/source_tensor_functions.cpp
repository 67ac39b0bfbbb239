// Sources whose kernel is launched by a function that takes tensors, as extensions of PyTorch have
// it: they are judged as they stand.

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace kzoo::test;

namespace {

struct judged_extension {
  scratch_folder folder;
  environment cache{"XDG_CACHE_HOME", shared_cache().string()};

  run_result run(const std::string& text, const std::string& problem = "sizes = [33]",
                 const std::string& tier = usual_tier()) const {
    const auto source = folder.write("product.cu", text);
    const auto file =
        folder.write("problem.toml", "plugins = ['" + source + "']\n[verify]\ntier = '" + tier +
                                         "'\n[problem]\n" + problem);
    return runner("run " + file + " --device cpu --no-journal --json -");
  }
  std::string verdict(const run_result& ran) const {
    INFO(ran.err);
    const auto cell = ran.json().at("cells").at(0);
    return cell.at("verdict").get<std::string>() + ' ' + cell.value("reason", "");
  }
};

constexpr const char* kExtension = R"(#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda() && x.is_contiguous(), #x " is no matrix")
template <int kTile>
__global__ void product_kernel(const float* __restrict__ a, const float* b, float* c, int m, int n,
                               int k) {
  __shared__ float ta[kTile][kTile], tb[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y,
            col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    ta[y][x] = row < m && k0 + x < k ? a[row * k + k0 + x] : 0;
    tb[y][x] = col < n && k0 + y < k ? b[(k0 + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += ta[y][i] * tb[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
torch::Tensor product(torch::Tensor a, const torch::Tensor& b) {
  CHECK_INPUT(a);
  CHECK_INPUT(b);
  TORCH_CHECK(a.dim() == 2 && a.size(-1) == b.size(0), "sizes ", a.sizes(), " and ", b.sizes());
  const at::cuda::OptionalCUDAGuard guard(device_of(a));
  const int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options());
  const dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  product_kernel<16><<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
      a.contiguous().data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return c;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("product", &product, py::arg("a") = 1); }
)";

// With types, temporary tensors, a macro that launches, and a kernel whose types are deduced.
constexpr const char* kExtensionInParts = R"(#include <torch/types.h>
template <typename T>
__global__ void parts(const T* a, const T* b, float* p, int m, int n, int k, int chunk) {
  extern __shared__ float sums[];
  const int row = blockIdx.x, part = blockIdx.y, end = min(k, (part + 1) * chunk);
  for (int col = threadIdx.x; col < n; col += blockDim.x) {
    sums[threadIdx.x] = 0;
    for (int i = part * chunk; i < end; ++i)
      sums[threadIdx.x] += float(a[row * k + i]) * float(b[i * n + col]);
    p[(part * m + row) * n + col] = sums[threadIdx.x];
  }
}
template <typename T>
__global__ void sum_up(const float* p, T* c, int count, int n_parts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int part = 0; part < n_parts; ++part) sum += p[part * count + i];
  c[i] = T(sum);
}
#define SUM_UP(T) \
  sum_up<T><<<(m * n + 63) / 64, \
              64>>>(p.data_ptr<float>(), c.data_ptr<T>(), m * n, 3)
torch::Tensor in_parts(torch::Tensor a, torch::Tensor b, int64_t n_parts = 3) {
  int m = a.size(0), k = a.size(1), n = b.size(1);
  auto p = torch::zeros({n_parts, m, n}, torch::dtype(torch::kFloat32).device(a.device()));
  auto c = torch::empty({m, n}, torch::device("cuda").dtype(a.dtype()));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "in_parts", ([&] {
    static bool is_set = false;
    if (!is_set)
      cudaFuncSetAttribute(parts<scalar_t>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    is_set = true;
    parts<<<dim3(m, 3), 32, 60000>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(),
                                                  p.data_ptr<float>(), m, n, k, (k + 2) / 3);
    SUM_UP(scalar_t);
  }));
  if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("no");
  cudaDeviceSynchronize();
  return c;
}
torch::Tensor expected(torch::Tensor a, torch::Tensor b) { return torch::matmul(a, b); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("in_parts", &in_parts); }
)";

}  // namespace

TEST_CASE("a function that takes tensors is judged as it stands") {
  const judged_extension b;
  const auto ran = b.run(kExtension, "sizes = [33]", "full");
  CHECK(b.verdict(ran) == "pass ");
  CHECK(ran.json().at("cells").at(0).at("variant") == "product");
  CHECK(contains(ran.err, "product.cu: note: product launches its kernels"));
  CHECK_THAT(b.verdict(b.run(replaced(kExtension, "k0 + y) * n + col]", "k0 + y) * n]"))),
             ContainsSubstring("wrong "));
}

TEST_CASE("a function may write its last tensor, and take sizes") {
  const judged_extension b;
  std::string text =
      replaced(kExtension, "torch::Tensor product(torch::Tensor a, const torch::Tensor& b) {",
               "namespace x { void product(at::Tensor& output, at::Tensor a, "
               "at::Tensor b, int n) {");
  text = replaced(text, "n = b.size(1);", "unused = 0;");
  text = replaced(text, "  auto c = torch::empty({m, n}, a.options());\n", "");
  text = replaced(text, "c.data_ptr<float>()", "output.data_ptr<float>()");
  text = replaced(text, "  return c;\n}", "}\n}");
  text = replaced(text, "&product,", "&x::product,");
  CHECK(b.verdict(b.run(text)) == "pass ");
}

TEST_CASE("a function may take a bias") {
  const judged_extension b;
  const std::string head = "torch::Tensor product(torch::Tensor a, const torch::Tensor& b) {";
  std::string text = "// kzoo: epilogue=bias+relu\n" + std::string(kExtension);
  text = replaced(text, head, replaced(head, "& b)", "& b, torch::Tensor bias)"));
  text = replaced(text, "float* c, int m", "float* c, const float* bias, int m");
  text = replaced(text, "c[row * n + col] = sum", "c[row * n + col] = max(sum + bias[col], 0.0f)");
  text = replaced(text, "c.data_ptr<float>(), m", "c.data_ptr<float>(), bias.data_ptr<float>(), m");
  CHECK(b.verdict(b.run(text, "sizes = [33]\nepilogue = 'bias + relu'")) == "pass ");
  CHECK_THAT(b.verdict(b.run(text)), ContainsSubstring("unsupported "));
}

TEST_CASE("types are dispatched, other tensors have memory, and launches may stand in macros") {
  const judged_extension b;
  const auto ran = b.run(kExtensionInParts, "sizes = [17]\ndtype = ['f32', 'f16']", "full");
  INFO(ran.err);
  for (const auto& cell : ran.json().at("cells")) CHECK(cell.at("verdict") == "pass");
  CHECK(ran.json().at("cells").size() == 2);
}

TEST_CASE("a kernel may get tensors with their sizes and strides") {
  const judged_extension b;
  CHECK(b.verdict(b.run(R"(#include <torch/extension.h>
template <typename T>
using matrix = torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits>;
template <typename T>
__global__ void product_kernel(const matrix<T> a, const matrix<T> b, matrix<T> c) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= c.size(1)) return;
  T sum = 0;
  for (int k = 0; k < a.size(1); ++k) sum += a[row][k] * b[col][k];
  c[row][col] = sum;
}
at::Tensor product(at::Tensor a, at::Tensor b) {
  at::Tensor columns = b.t(), c = at::empty({a.size(0), b.size(1)}, a.options());
  TORCH_CHECK(!columns.is_contiguous() || b.size(0) == 1 || b.size(1) == 1);
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "product", [&] {
    constexpr auto kTwo = 2;
    product_kernel<scalar_t><<<dim3((c.size(1) + 31) / 32, c.size(0)), 32>>>(
        a.packed_accessor32<scalar_t, kTwo, torch::RestrictPtrTraits>(),
        columns.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        c.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  });
  return c;
}
)")) == "pass ");
}

TEST_CASE("a tensor that is not C becomes C, and one of another shape is an error") {
  const judged_extension b;
  const std::string copied =
      replaced(kExtension, "  return c;",
               "  auto other = torch::empty_like(c);\n"
               "  cudaMemcpyAsync(other.data_ptr(), c.data_ptr(), c.nbytes(),\n"
               "                  cudaMemcpyDeviceToDevice);\n"
               "  c.zero_();\n  return other;");
  CHECK(b.verdict(b.run(copied)) == "pass ");
  CHECK_THAT(
      b.verdict(b.run(replaced(kExtension, "return c;", "return c.t();"), "sizes = ['9x5x3']")),
      ContainsSubstring("the function returns a tensor of Float [5, 9] that is a view, and C "
                        "is one of Float [9, 5]"));
}

TEST_CASE("a tensor that a function keeps for its next call is an error") {
  const judged_extension b;
  CHECK_THAT(
      b.verdict(b.run(replaced(kExtension, "  auto c = ", "  static auto c = "))),
      ContainsSubstring("error a tensor is kept from an earlier call, whose memory is gone"));
}

TEST_CASE("a problem that the function refuses is declined with its words") {
  const judged_extension b;
  const auto ran = b.run(replaced(kExtension, "  auto c =",
                                  "  TORCH_CHECK(m % 16 == 0, \"M is no multiple of 16: \", m);\n"
                                  "  auto c ="),
                         "sizes = [32, 33]");
  INFO(ran.err);
  const auto cells = ran.json().at("cells");
  CHECK(cells.at(0).at("verdict") == "pass");
  CHECK(cells.at(1).at("verdict") == "unsupported");
  CHECK(cells.at(1).at("reason") == "M is no multiple of 16: 33");
}

TEST_CASE("tensors of a batch have three dimensions") {
  const judged_extension b;
  const std::string batched = R"(#include <torch/extension.h>
__global__ void bmm_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (col >= n) return;
  a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + col];
  c[row * n + col] = sum;
}
torch::Tensor bmm(torch::Tensor a, torch::Tensor b) {
  const int m = a.size(1), k = a.size(2), n = b.size(2);
  auto c = torch::empty({a.size(0), m, n}, a.options());
  bmm_kernel<<<dim3((n + 31) / 32, m, a.size(0)), 32>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                        c.data_ptr<float>(), m, n, k);
  return c;
}
)";
  const std::string problem = "sizes = ['33x40x17']\nbatch = ";
  CHECK(b.verdict(b.run(batched, problem + "3", "full")) == "pass ");
  CHECK(b.verdict(b.run(batched, problem + "1")) == "pass ");
  CHECK(contains(b.verdict(b.run(kExtension, problem + "3")), "unsupported "));
  const std::string writes =
      replaced(replaced(replaced(batched, "torch::Tensor b)", "torch::Tensor b, torch::Tensor c)"),
                        "auto c = torch::empty({a.size(0), m, n}, a.options());", ""),
               "torch::Tensor bmm", "void bmm");
  CHECK(b.verdict(b.run(replaced(writes, "return c;", ""), problem + "3")) == "pass ");
}

TEST_CASE("what a function lacks, and which one is meant, is said") {
  const judged_extension b;
  const auto refused = [&](const std::string& text) {
    const auto ran = b.run(text);
    CHECK(ran.code == 2);
    return ran.err;
  };
  const std::string source = kExtension, launched = "  C10_CUDA_KERNEL_LAUNCH_CHECK();\n";
  CHECK_THAT(refused(replaced(source, launched, "  c = torch::matmul(a, b);\n")),
             ContainsSubstring("product.cu:32:") &&
                 ContainsSubstring("note: torch::matmul is not there: operators of PyTorch are not "
                                   "available"));
  CHECK_THAT(refused(replaced(source, launched, "  c = c.softmax(1);\n")),
             ContainsSubstring("note: Tensor::softmax is not there"));
  const std::string second =
      "torch::Tensor second(torch::Tensor a, torch::Tensor b) { return product(a, b); }\n";
  const std::string unbound = replaced(source, "&product,", "&elsewhere,") + second;
  CHECK_THAT(refused(unbound),
             ContainsSubstring("product.cu: error: has several functions that take "
                               "tensors, product, second: name one in its first "
                               "lines, `// kzoo: function=product`"));
  const auto chosen = b.run("// kzoo: function=second\n" + unbound);
  CHECK(b.verdict(chosen) == "pass ");
  CHECK(chosen.json().at("cells").at(0).at("variant") == "second");
  const auto unbound_one = b.run("// kzoo: function=second\n" + source + second);
  CHECK(unbound_one.json().at("cells").at(0).at("variant") == "second");
  CHECK_THAT(refused("// kzoo: function=third\n" + unbound),
             ContainsSubstring("has no function third that takes two or three tensors; those that "
                               "do: product, second"));
  CHECK_THAT(refused(replaced(source, "const torch::Tensor& b)", "torch::Tensor b, int tiles)")),
             ContainsSubstring("product.cu:22: error: product cannot be called for a product: its "
                               "parameter tiles is no tensor"));
  CHECK_THAT(refused("// kzoo: libraries=cublas\n" + source),
             ContainsSubstring("where cublas would start kernels: make it a plugin"));
  CHECK_THAT(refused(replaced(source, launched, "  cublasSgemm(nullptr);\n")),
             ContainsSubstring("note: product calls cuBLAS, whose kernels would run") &&
                 !ContainsSubstring("are not there in the simulator"));
}

TEST_CASE("a function may start its kernel in a header, and have the kernel's name") {
  const judged_extension b;
  std::string source =
      replaced(kExtension, "torch::Tensor product(", "torch::Tensor product_kernel(");
  source = replaced(source, "&product,", "&product_kernel,");
  const std::size_t kernel = source.find("template <int kTile>"),
                    host = source.find("torch::Tensor product_kernel");
  b.folder.write("kernels/device.cuh",
                 "#pragma once\n// k<<<1, 2>>>(a)\n" + source.substr(kernel, host - kernel));
  std::string launch = "#pragma once\n#include \"../kernels/device.cuh\"\n";
  launch +=
      "inline void start(const float* a, const float* b, float* c, int m, int n, int k) {\n"
      "  const dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);\n"
      "  void (*const table[])(const float*, const float*, float*, int, int, int) = "
      "{product_kernel<16>};\n  table[0]<<<grid, block>>>(a, b, c, m, n, k);\n"
      "  cudaDeviceSynchronize();\n}\n";
  b.folder.write("host/launch.cuh", launch);
  std::string text =
      source.substr(0, kernel) + "#include \"host/launch.cuh\"\n" + source.substr(host);
  const std::size_t from = text.find("  product_kernel<16><<<"),
                    to = text.find("  C10_CUDA_KERNEL");
  text.replace(from, to - from,
               "  start(a.data_ptr<float>(), b.data<float>(), c.data_ptr<float>(), m, n, k);\n");
  CHECK(b.verdict(b.run(text)) == "pass ");
  // The header counts as the source does.
  b.folder.write("host/launch.cuh", replaced(launch, "(a, b, c,", "(a, a, c,"));
  CHECK_THAT(b.verdict(b.run(text)), ContainsSubstring("wrong "));
  b.folder.write("host/launch.cuh", replaced(launch, "table[0]", "tables[0]"));
  CHECK(contains(b.run(text).err, "host/launch.cuh:6:"));
}

TEST_CASE("an extension may be a string in Python") {
  const judged_extension b;
  const std::string extension = kExtension;
  const std::string source = extension.substr(0, extension.find("PYBIND11_MODULE")) +
                             "at::Tensor other(at::Tensor a, at::Tensor b) { return a; }\n";
  const std::string problems = b.folder.write("p.toml", "[problem]\nsizes = [33]\n");
  const auto judged = [&](const std::string& text, const std::string& options) {
    const auto ran = runner("judge " + b.folder.write("solution.py", text) +
                            " --device cpu --verify quick --json " + options);
    INFO(ran.err);
    return ran.json();
  };
  const std::string begin = "from torch.utils.cpp_extension import load_inline\ncuda = r\"\"\"\n";
  const std::string end = "\"\"\"\nm = load_inline('m', '', cuda, functions=['product'])\n";
  CHECK(judged(begin + source + end, "--problems " + problems).at("status") == "PASSED");
  const auto wrong = judged(begin + replaced(source, "return c;", "return no_c;") + end, "");
  CHECK(wrong.at("status") == "COMPILE_ERROR");
  CHECK(contains(wrong.at("reason"), "solution.py:35:"));
  CHECK(contains(judged("import triton\n", "").at("reason"), "no CUDA C++ in a string"));
  const auto declined = judged("# kzoo: types=f64\n" + begin + source + end, "");
  CHECK(contains(declined.at("reason"),
                 "it computes f64, not f32; an experiment with problems for it is named by "
                 "--problems"));
}

TEST_CASE("what older extensions ask of tensors is there") {
  const judged_extension b;
  std::string text =
      replaced(kExtension, "TORCH_CHECK(x.is_cuda()", "TORCH_CHECK(x.type().is_cuda()");
  text = replaced(
      text, "  auto c =",
      "  if (a.options().dtype() != torch::kFloat32) std::cout << a.options();\n  auto c =");
  text = replaced(text, "&product,", "torch::wrap_pybind_function(product),");
  CHECK(b.verdict(b.run(text)) == "pass ");
}

TEST_CASE("a function that takes tensors compiles for a GPU", "[.nvcc]") {
  nvcc();
  const judged_extension b;
  for (const char* text : {kExtension, kExtensionInParts}) {
    const auto ran = runner("compile " + b.folder.write("product.cu", text) + " --arch 80 -o " +
                            b.folder.path().string());
    INFO(ran.err);
    CHECK(ran.code == 0);
  }
}

// A program that calls cuBLAS, and knows nothing of libkzoo. For each call it prints what became of
// it: "NAME: right" where C is the product, "NAME: passed on" where cuBLAS got it with the
// arguments that the program gave. Its matrices are in host memory.

#include "fake_cublas.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

// Column-major, A and B with rows to spare.
struct product {
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  int m = 17, n = 23, k = 31, lda = 40, ldb = 41, ldc = 42;
  float alpha = 1.5f, beta = 0;
  std::vector<float> a = std::vector<float>(41 * 41), b = std::vector<float>(42 * 42),
                     c = std::vector<float>(43 * 43, std::numeric_limits<float>::quiet_NaN());

  product() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = float(int(i * 7 % 11) - 5);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = float(int(i * 5 % 13) - 6);
  }

  // All sums are whole numbers that fp32 holds.
  bool is_right(const float* from_a, const float* from_b, const float* got) const {
    for (int col = 0; col < n; ++col) {
      for (int row = 0; row < m; ++row) {
        float sum = 0;
        for (int i = 0; i < k; ++i) {
          sum += (transa == CUBLAS_OP_N ? from_a[i * lda + row] : from_a[row * lda + i]) *
                 (transb == CUBLAS_OP_N ? from_b[col * ldb + i] : from_b[i * ldb + col]);
        }
        if (got[col * ldc + row] != alpha * sum) return false;
      }
    }
    return true;
  }
  bool is_right() const { return is_right(a.data(), b.data(), c.data()); }
};

template <class T>
long long number(T argument) {
  return (long long)(argument);
}

void tell(const std::string& name, const std::string& what) {
  std::printf("%s: %s\n", name.c_str(), what.c_str());
}

// Calls `function`, whose name is `symbol`, and tells what became of it.
template <class Function, class... Argument>
void call(const std::string& title, const product& p, const char* symbol, Function function,
          Argument... arguments) {
  const int before = fake_cublas_calls();
  const cublasStatus_t status = function(arguments...);
  if (status != CUBLAS_STATUS_SUCCESS) return tell(title, "status " + std::to_string(status));
  if (fake_cublas_calls() == before) return tell(title, p.is_right() ? "right" : "WRONG");
  const std::array<long long, sizeof...(arguments)> given{number(arguments)...};
  const fake_cublas_call& got = *fake_cublas_last();
  const bool same = std::strcmp(got.name, symbol) == 0 &&
                    std::memcmp(got.arguments, given.data(), sizeof given) == 0;
  tell(title, same ? "passed on" : "PASSED ON WITH OTHER ARGUMENTS");
}

void sgemm(const std::string& title, cublasHandle_t handle, product p,
           const std::function<void(product&)>& change = {}) {
  if (change) change(p);
  call(title, p, "cublasSgemm_v2", cublasSgemm_v2, handle, p.transa, p.transb, p.m, p.n, p.k,
       &p.alpha, p.a.data(), p.lda, p.b.data(), p.ldb, &p.beta, p.c.data(), p.ldc);
}

void gemm_ex(const std::string& title, cublasHandle_t handle, cudaDataType type_b,
             cublasComputeType_t compute) {
  product p;
  using function = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                      int, int, const void*, const void*, cudaDataType, int,
                                      const void*, cudaDataType, int, const void*, void*,
                                      cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  call(title, p, "cublasGemmEx", static_cast<function>(&cublasGemmEx), handle, p.transa, p.transb,
       p.m, p.n, p.k, &p.alpha, p.a.data(), CUDA_R_32F, p.lda, p.b.data(), type_b, p.ldb, &p.beta,
       p.c.data(), CUDA_R_32F, p.ldc, compute, CUBLAS_GEMM_DEFAULT);
}

void shapes(cublasHandle_t handle) {
  sgemm("nn", handle, {});
  sgemm("tn", handle, {}, [](product& p) { p.transa = CUBLAS_OP_T; });
  sgemm("nt", handle, {}, [](product& p) { p.transb = CUBLAS_OP_T; });
  sgemm("ct", handle, {}, [](product& p) { p.transa = CUBLAS_OP_C, p.transb = CUBLAS_OP_T; });
  sgemm("no rows", handle, {}, [](product& p) { p.m = 0; });
  sgemm("no depth", handle, {}, [](product& p) { p.k = 0; });
  sgemm("negative", handle, {}, [](product& p) { p.n = -1; });
  sgemm("short lines", handle, {}, [](product& p) { p.lda = 3; });
  sgemm("unknown operation", handle, {},
        [](product& p) { p.transa = static_cast<cublasOperation_t>(7); });
  sgemm("alpha 0", handle, {}, [](product& p) { p.alpha = 0; });
  sgemm("no handle", nullptr, {});

  // Matrices that start anywhere, as parts of others do.
  product p;
  const int before = fake_cublas_calls();
  cublasSgemm_v2(handle, p.transa, p.transb, p.m, p.n, p.k, &p.alpha, p.a.data() + 1, p.lda,
                 p.b.data() + 3, p.ldb, &p.beta, p.c.data() + 5, p.ldc);
  const bool right = p.is_right(p.a.data() + 1, p.b.data() + 3, p.c.data() + 5);
  tell("not aligned", fake_cublas_calls() > before ? "passed on" : right ? "right" : "WRONG");

  const auto sgemm_64 = [](const std::string& title, cublasHandle_t on) {
    product q;
    call(title, q, "cublasSgemm_v2_64", cublasSgemm_v2_64, on, q.transa, q.transb, q.m, q.n, q.k,
         &q.alpha, q.a.data(), q.lda, q.b.data(), q.ldb, &q.beta, q.c.data(), q.ldc);
  };
  sgemm_64("64-bit", handle);
  sgemm_64("64-bit without a handle", nullptr);
}

void batches(cublasHandle_t handle) {
  product p;
  p.n = 10;
  const std::vector<float> two_b(2 * 450, 1.0f);
  std::copy_n(p.b.data(), 450, const_cast<float*>(two_b.data()));
  std::vector<float> c(2 * 450);
  const auto run = [&](long long stride_a, long long stride_c) {
    const int before = fake_cublas_calls();
    cublasSgemmStridedBatched(handle, p.transa, p.transb, p.m, p.n, p.k, &p.alpha, p.a.data(),
                              p.lda, stride_a, two_b.data(), p.ldb, 450, &p.beta, c.data(), p.ldc,
                              stride_c, 2);
    if (fake_cublas_calls() > before) return "passed on";
    return p.is_right(p.a.data(), two_b.data(), c.data()) &&
                   p.is_right(p.a.data() + stride_a, two_b.data() + 450, c.data() + stride_c)
               ? "right"
               : "WRONG";
  };
  tell("batch with one A", run(0, 450));
  tell("batch with overlapping A", run(p.lda, 450));
  tell("batch with overlapping C", run(0, 10));
}

void modes(cublasHandle_t handle) {
  gemm_ex("GemmEx", handle, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  gemm_ex("GemmEx TF32", handle, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
  gemm_ex("GemmEx pedantic", handle, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC);
  gemm_ex("GemmEx of f16", handle, CUDA_R_16F, CUBLAS_COMPUTE_32F);
  for (const auto& [name, mode] :
       {std::pair{"TF32 mode", CUBLAS_TF32_TENSOR_OP_MATH},
        std::pair{"pedantic mode", CUBLAS_PEDANTIC_MATH},
        std::pair{"no reduced sums", CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION},
        std::pair{"default mode", CUBLAS_DEFAULT_MATH}}) {
    cublasSetMathMode(handle, mode);
    sgemm(name, handle, {});
  }
  // No memory of this process, as device memory is.
  product p;
  const auto* on_device = reinterpret_cast<const float*>(16);
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE);
  call("device pointers", p, "cublasSgemm_v2", cublasSgemm_v2, handle, p.transa, p.transb, p.m, p.n,
       p.k, on_device, p.a.data(), p.lda, p.b.data(), p.ldb, on_device, p.c.data(), p.ldc);
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_HOST);
  sgemm("host pointers", handle, {});
}

void handles(cublasHandle_t handle) {
  cublasHandle_t other = nullptr;
  cublasCreate_v2(&other);
  cublasSetStream_v2(other, reinterpret_cast<cudaStream_t>(64));
  sgemm("another handle", other, {});
  cublasDestroy_v2(other);
  sgemm("after it is destroyed", handle, {});

  alignas(256) static std::array<float, 1024> memory{};
  const auto used = [&] {
    const bool is = memory[0] != 0;
    memory[0] = 0;
    return is ? "used" : "not used";
  };
  cublasSetWorkspace_v2(handle, memory.data(), sizeof memory);
  sgemm("with a workspace", handle, {});
  tell("the workspace", used());
  cublasSetStream_v2(handle, nullptr);
  sgemm("on another stream", handle, {});
  tell("the workspace then", used());
  cublasSetWorkspace_v2(handle, memory.data(), 4);
  sgemm("with a small workspace", handle, {});
  tell("the small workspace", used());
}

void threads(cublasHandle_t handle) {
  std::array<int, 4> right{};
  std::vector<std::thread> all;
  for (int& of : right) {
    all.emplace_back([&of, handle] {
      for (int i = 0; i < 50; ++i) {
        product p;
        p.k = 1 + i % 9;
        cublasSgemm_v2(handle, p.transa, p.transb, p.m, p.n, p.k, &p.alpha, p.a.data(), p.lda,
                       p.b.data(), p.ldb, &p.beta, p.c.data(), p.ldc);
        of += p.is_right() ? 1 : 0;
      }
    });
  }
  for (std::thread& t : all) t.join();
  tell("threads", std::to_string(right[0] + right[1] + right[2] + right[3]) + " of 200 right");
}

// Products of many kinds, for a recording.
void kinds(cublasHandle_t handle) {
  const auto packed = [](product& p) { p.lda = p.ldc = p.m, p.ldb = p.k; };
  for (int i = 0; i < 3; ++i) sgemm("packed", handle, {}, packed);
  sgemm("not packed", handle, {});
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  sgemm("TF32 mode", handle, {}, packed);
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  sgemm("no rows", handle, {}, [](product& p) { p.m = 0; });
  gemm_ex("unusual types", handle, CUDA_R_8I, CUBLAS_COMPUTE_32F);

  product p;
  const double one = 1, tenth = 0.1;
  const auto* a = reinterpret_cast<const double*>(p.a.data());
  call("f64", p, "cublasDgemm_v2", cublasDgemm_v2, handle, CUBLAS_OP_T, CUBLAS_OP_N, 64, 32, 16,
       &one, a, 16, a, 16, &tenth, reinterpret_cast<double*>(p.c.data()), 64);
  const __half half = __float2half(0.5f), zero = __float2half(0);
  const auto* h = reinterpret_cast<const __half*>(p.a.data());
  call("f16", p, "cublasHgemm", cublasHgemm, handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 4, 2, &half, h, 8,
       h, 2, &zero, reinterpret_cast<__half*>(p.c.data()), 8);
  const float alpha = 1, beta = 0;
  using function = cublasStatus_t (*)(
      cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
      cudaDataType, int, long long, const void*, cudaDataType, int, long long, const void*, void*,
      cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t);
  call("batch", p, "cublasGemmStridedBatchedEx", static_cast<function>(&cublasGemmStridedBatchedEx),
       handle, CUBLAS_OP_N, CUBLAS_OP_T, 16, 24, 40, &alpha, p.a.data(), CUDA_R_16BF, 16, 0LL,
       p.b.data(), CUDA_R_16BF, 24, 960LL, &beta, p.c.data(), CUDA_R_32F, 16, 384LL, 12,
       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);

  cublasLtMatmulDesc_t how = nullptr;
  cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  const auto matmul = [&](const char* title, std::uint32_t epilogue, float times_c) {
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatrixLayout_t of_a = nullptr, of_b = nullptr, of_d = nullptr;
    cublasLtMatrixLayoutCreate(&of_a, CUDA_R_16BF, 128, 256, 128);
    cublasLtMatrixLayoutCreate(&of_b, CUDA_R_16BF, 128, 64, 128);
    cublasLtMatrixLayoutCreate(&of_d, CUDA_R_16BF, 256, 64, 256);
    call(title, p, "cublasLtMatmul", cublasLtMatmul, cublasLtHandle_t{}, how, &alpha, p.a.data(),
         of_a, p.b.data(), of_b, &times_c, p.b.data(), of_d, p.c.data(), of_d,
         static_cast<const cublasLtMatmulAlgo_t*>(nullptr), nullptr, std::size_t{0},
         cudaStream_t{});
  };
  matmul("Lt", CUBLASLT_EPILOGUE_GELU_BIAS, 0);
  matmul("Lt elsewhere", CUBLASLT_EPILOGUE_DEFAULT, 1);
  matmul("Lt gradient", CUBLASLT_EPILOGUE_BGRADA, 0);
}

}  // namespace

// Also called from a module that a program loads.
extern "C" int call_cublas(const char* what) {
  cublasHandle_t handle = nullptr;
  cublasCreate_v2(&handle);
  const std::string name = what;
  if (name == "shapes") shapes(handle);
  if (name == "batches") batches(handle);
  if (name == "modes") modes(handle);
  if (name == "handles") handles(handle);
  if (name == "threads") threads(handle);
  if (name == "kinds") kinds(handle);
  if (name == "elsewhere") {
    if (chdir("/") != 0) return 1;
    sgemm("one", handle, {});
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    waitpid(child, nullptr, 0);
    return access("asked.toml", F_OK) == 0 ? 1 : 0;
  }
  if (name == "one") sgemm("one", handle, {});
  if (name == "aligned")
    sgemm("aligned", handle, {},
          [](product& p) { p.m = 16, p.n = 24, p.k = 32, p.ldb = p.ldc = 44; });
  cublasDestroy_v2(handle);
  return 0;
}

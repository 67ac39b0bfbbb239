#include "takeover.hpp"

#include "real_cublas.hpp"
#include "recording.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <kzoo/kzoo.h>

#include <cuda_runtime_api.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace kzoo::preload {
namespace {

struct workspace {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

// Of the process. Never destroyed: calls may come from other libraries' destructors.
struct state {
  std::mutex mutex;
  std::map<const void*, opened> handles;  // by CUDA context
  std::map<cublasHandle_t, workspace> workspaces;
  report calls;
  std::unique_ptr<recording> asked;  // nullptr: nothing is recorded
};
state& process() {
  static auto& all = *[] {
    auto* made = new state;
    if (const char* file = recording_file()) made->asked = std::make_unique<recording>(file);
    return made;
  }();
  return all;
}

// A plugin may call cuBLAS itself, which must not come back here.
thread_local const char* calls_of = nullptr;

void say(const std::string& text) { std::fputs(("kzoo_blas: " + text + "\n").c_str(), stderr); }

// When it is loaded, for a program may change its folder.
__attribute__((constructor)) void begin_recording() { process(); }

__attribute__((destructor)) void report_at_exit() {
  if (process().asked) process().asked->write();
  if (is_verbose()) std::fputs(process().calls.text().c_str(), stderr);
}

// Handles of libkzoo hold instances and memory of one context, and a device may have several.
const void* current_context() {
  if (on_cpu()) return nullptr;
  using get_current = int (*)(void**);
  static const auto get = [] {
    void* function = nullptr;
    constexpr unsigned kSince = 4000;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, kSince, cudaEnableDefault,
                                     &found);
    return reinterpret_cast<get_current>(function);
  }();
  void* context = nullptr;
  if (get != nullptr) get(&context);
  return context;
}

const opened& current_zoo() {
  const void* context = current_context();
  state& all = process();
  const std::lock_guard lock(all.mutex);
  const auto [known, is_new] = all.handles.try_emplace(context);
  if (is_new) {
    known->second = open_zoo();
    const std::string& why = known->second.why_not;
    if (!why.empty()) say("everything is passed on to cuBLAS: " + why);
  }
  return known->second;
}

// What a function of the handle says of it.
template <class T>
using getter = cublasStatus_t (*)(cublasHandle_t, T*);
template <class T>
T property(getter<T> get, cublasHandle_t handle, T otherwise) {
  T value = otherwise;
  if (get == nullptr || get(handle, &value) != CUBLAS_STATUS_SUCCESS) return otherwise;
  return value;
}

// CUBLAS_PEDANTIC_MATH where it is not known.
unsigned math_mode(const blas_call& c) {
  constexpr auto kNotReduced =
      static_cast<unsigned>(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  static const auto get = real<getter<cublasMath_t>>("cublasGetMathMode");
  const auto mode = property(get, c.handle, CUBLAS_PEDANTIC_MATH);
  return static_cast<unsigned>(mode) & ~kNotReduced;
}
bool has_host_scalars(const blas_call& c) {
  static const auto get = real<getter<cublasPointerMode_t>>("cublasGetPointerMode_v2");
  return property(get, c.handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_POINTER_MODE_HOST;
}

// Why cuBLAS is to compute the product, whatever kernels there are; nullptr if there is no reason.
const char* objection_to(const blas_call& c) {
  if (calls_of != nullptr) return calls_of;
  if (records_alone()) return "recorded alone";
  if (c.handle == nullptr || c.alpha == nullptr || c.beta == nullptr) return "null pointers";
  if (c.type_a != CUDA_R_32F || c.type_b != CUDA_R_32F || c.type_c != CUDA_R_32F)
    return "elements other than fp32";
  if (c.compute != CUBLAS_COMPUTE_32F) return "a compute type other than CUBLAS_COMPUTE_32F";
  const auto is_known = [](cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
  };
  if (!is_known(c.transa) || !is_known(c.transb)) return "unknown operations";
  if (c.m <= 0 || c.n <= 0 || c.k <= 0 || c.batch <= 0) return "sizes that are not above 0";
  // Of the modes that cuBLAS has, the default one computes in fp32 without further demands.
  if (math_mode(c) != CUBLAS_DEFAULT_MATH) return "a math mode other than the default";
  if (!has_host_scalars(c)) return "alpha and beta in device memory";
  // cuBLAS does not read A and B then.
  if (*static_cast<const float*>(c.alpha) == 0) return "an alpha of 0";
  return nullptr;
}

// Whether all columns (these matrices are column-major) can be read 16 bytes at a time.
bool has_aligned_columns(const blas_call& c) {
  constexpr std::int64_t kVector = 16, kElements = kVector / sizeof(float);
  const auto is_aligned = [](const void* x, std::int64_t length, std::int64_t ld) {
    return reinterpret_cast<std::uintptr_t>(x) % kVector == 0 && length % kElements == 0 &&
           ld % kElements == 0;
  };
  return is_aligned(c.a, c.transa == CUBLAS_OP_N ? c.m : c.k, c.lda) &&
         is_aligned(c.b, c.transb == CUBLAS_OP_N ? c.k : c.n, c.ldb) && is_aligned(c.c, c.m, c.ldc);
}

workspace workspace_of(cublasHandle_t handle) {
  state& all = process();
  const std::lock_guard lock(all.mutex);
  const auto known = all.workspaces.find(handle);
  return known == all.workspaces.end() ? workspace{} : known->second;
}

kzoo_status compute(kzoo_handle zoo, const blas_call& c, void* stream) {
  kzoo_call how{};
  how.struct_size = sizeof how;
  how.stream = stream;
  how.batch = c.batch;
  how.stride_a = c.stride_a;
  how.stride_b = c.stride_b;
  how.stride_c = c.stride_c;
  const auto call = [&] {
    return kzoo_gemm_ex(zoo, static_cast<kzoo_operation>(c.transa),
                        static_cast<kzoo_operation>(c.transb), c.m, c.n, c.k, c.alpha, c.a,
                        KZOO_F32, c.lda, c.b, KZOO_F32, c.ldb, c.beta, c.c, KZOO_F32, c.ldc, &how);
  };
  const workspace own = workspace_of(c.handle);
  how.workspace = own.memory;
  how.workspace_bytes = own.bytes;
  const kzoo_status status = call();
  if (status != KZOO_WORKSPACE_TOO_SMALL || own.memory == nullptr) return status;
  how.workspace = nullptr;
  return call();
}

std::string reason(kzoo_status status) {
  switch (status) {
    case KZOO_UNSUPPORTED: return "problems that no kernel takes";
    case KZOO_DECLINED: return "problems for which cuBLAS is chosen";
    case KZOO_WORKSPACE_TOO_SMALL: return "no workspace in a graph capture";
    case KZOO_INVALID_SIZE: return "leading dimensions or strides that libkzoo does not take";
    case KZOO_NULL_POINTER: return "null pointers";
    case KZOO_UNAVAILABLE: return "a kernel that cannot be prepared";
    default: return kzoo_status_name(status);
  }
}

}  // namespace

std::optional<cublasStatus_t> take(const blas_call& call) {
  if (is_recorded() && call.handle != nullptr) {
    const bool is_tf32 = math_mode(call) == CUBLAS_TF32_TENSOR_OP_MATH;
    record(product_of(call, {has_host_scalars(call), is_tf32, ""}));
  }
  report& calls = process().calls;
  const auto pass_on = [&](const std::string& why) {
    if (is_verbose()) calls.passed_on(why);
    return std::nullopt;
  };
  if (const char* why = objection_to(call)) return pass_on(why);
  const inside scope("a kernel's own calls");
  const opened& zoo = current_zoo();
  if (zoo.handle == nullptr) return pass_on("no kernels to choose from");
  if (zoo.by_dispatch && call.batch > 1)
    return pass_on("batches, for which dispatch is seldom faster");
  if (zoo.by_dispatch && !has_aligned_columns(call))
    return pass_on("columns that are not of whole 16 bytes, for which dispatch is seldom faster");
  cudaStream_t stream = nullptr;
  const auto get_stream = real<decltype(&cublasGetStream_v2)>("cublasGetStream_v2");
  if (get_stream == nullptr || get_stream(call.handle, &stream) != CUBLAS_STATUS_SUCCESS)
    return pass_on("a handle without a stream");
  const kzoo_status status = compute(zoo.handle, call, stream);
  if (status == KZOO_OK) {
    if (is_verbose()) calls.took(kzoo_last_kernel());
    return CUBLAS_STATUS_SUCCESS;
  }
  if (status == KZOO_ERROR || status == KZOO_LAUNCH_FAILED) {
    // C may have been written to, so that cuBLAS would add to what is not the program's.
    say(kzoo_last_error());
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return pass_on(reason(status));
}

bool is_recorded() { return calls_of == nullptr && process().asked != nullptr; }
void record(const asked_product& product) { process().asked->add(product); }

inside::inside(const char* whose) : before_(calls_of) { calls_of = whose; }
inside::~inside() { calls_of = before_; }

void set_workspace(cublasHandle_t handle, void* memory, std::size_t bytes) {
  constexpr std::uintptr_t kAlignment = 256;
  if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % kAlignment != 0)
    return forget_workspace(handle);
  state& all = process();
  const std::lock_guard lock(all.mutex);
  all.workspaces[handle] = {memory, bytes};
}

void forget_workspace(cublasHandle_t handle) {
  state& all = process();
  const std::lock_guard lock(all.mutex);
  all.workspaces.erase(handle);
}

}  // namespace kzoo::preload

// One call of a function that takes tensors: its memory, its stream, and the kernels that it
// starts.
//
// The function is called with a session: the stream and the memory of one run. The first tensor
// that is made with C's shape and type gets C's memory; others come from the workspace. A dry
// session has no memory and launches nothing: it finds out how much workspace the function needs,
// and whether it takes the problem.
#pragma once

#include <kzoo/abi.h>
#include <kzoo/cuda.hpp>
#include <kzoo/error.hpp>
#include <kzoo/launch.hpp>
#include <kzoo/tensor_types.hpp>

#if defined(KZOO_REAL_CUDA)
#include <cuda_runtime.h>
#else
#include <kzoo/sim/cuda_headers/cuda_runtime.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kzoo::tensors {

using c10::IntArrayRef;
using c10::ScalarType;

template <class... Words>
std::string text_of(const Words&... words) {
  std::ostringstream out;
  (out << ... << words);
  return out.str();
}
template <class... Words>
[[noreturn]] void fail(const Words&... words) {
  throw error(KZOO_ERROR, text_of(words...));
}
template <class... Words>
[[noreturn]] void check_failed(const char* condition, const Words&... words) {
  if constexpr (sizeof...(Words) == 0)
    fail("TORCH_CHECK(", condition, ") failed");
  else
    fail(words...);
}

inline ScalarType scalar_type(kzoo_type type) {
  using enum ScalarType;
  constexpr std::array kTypes{Undefined, Float, Half,          BFloat16,    Int,
                              Double,    Char,  Float8_e4m3fn, Float8_e5m2, Undefined};
  static_assert(kTypes.size() == KZOO_I4 + 1);
  return kTypes.at(type);
}

inline std::size_t bytes_of(IntArrayRef sizes, ScalarType type) {
  std::size_t bytes = c10::elementSize(type);
  for (const std::int64_t size : sizes) {
    if (size < 0) fail("a tensor of sizes ", sizes);
    bytes *= static_cast<std::size_t>(size);
  }
  return bytes;
}

// One call of the function. In a dry call, addresses are meaningless.
struct session {
  bool is_dry = false;
  stream_t stream{};
  unsigned char* workspace = nullptr;
  std::size_t capacity = 0, used = 0;  // bytes of the workspace
  void* c = nullptr;                   // until a tensor has it
  std::vector<std::int64_t> sizes_of_c;
  ScalarType type_of_c{};

  // Takes uninitialised memory for a tensor.
  void* take(IntArrayRef sizes, ScalarType type) {
    if (c != nullptr && type == type_of_c && sizes == IntArrayRef(sizes_of_c))
      return std::exchange(c, nullptr);
    constexpr std::size_t kAligned = 256;
    const std::size_t begin = used;
    used += (bytes_of(sizes, type) + kAligned - 1) / kAligned * kAligned;
    if (is_dry) return no_memory();
    if (used > capacity) fail("its tensors need more memory than in its first call");
    return workspace + begin;
  }
  static void* no_memory() { return reinterpret_cast<void*>(std::uintptr_t{4096}); }
};
inline thread_local session* current = nullptr;

// Function attributes that a dry call sets, for the runs after it: the function may set them once.
class later {
 public:
  static void add(std::function<void()> set) {
    const std::lock_guard lock(mutex());
    list().push_back(std::move(set));
  }
  static void now() {
    const std::lock_guard lock(mutex());
    for (; !list().empty(); list().erase(list().begin())) list().front()();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::vector<std::function<void()>>& list() {
    static std::vector<std::function<void()>> l;
    return l;
  }
};

inline session& here() {
  if (current == nullptr) fail("a tensor is made, or a kernel is started, outside of the function");
  return *current;
}

#if defined(KZOO_REAL_CUDA)
inline void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  const std::string text = cudaGetErrorString(status);
  cudaGetLastError();  // reported here
  throw error(KZOO_ERROR, text);
}
#endif

// Fills memory on the stream of the run.
inline void fill(void* at, int value, std::size_t bytes) {
  if (here().is_dry) return;
#if defined(KZOO_REAL_CUDA)
  must(::cudaMemsetAsync(at, value, bytes, here().stream));
#else
  std::memset(at, value, bytes);
#endif
}
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (here().is_dry) return;
#if defined(KZOO_REAL_CUDA)
  must(::cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, here().stream));
#else
  std::memcpy(to, from, bytes);
#endif
}

// The run's stream if `named` is one of CUDA's default streams, else `named`.
inline stream_t stream_for(stream_t named) {
  constexpr std::uintptr_t kLastDefault = 2;  // cudaStreamPerThread
  return reinterpret_cast<std::uintptr_t>(named) <= kLastDefault ? here().stream : named;
}

inline launch_config config_of(dim3 grid, dim3 block, std::size_t shared = 0,
                               stream_t stream = {}) {
  return {.grid = grid, .block = block, .dynamic_shared = shared, .stream = stream_for(stream)};
}

#if !defined(KZOO_REAL_CUDA)
// The most dynamic shared memory, in bytes, that the function allowed any kernel. A kernel that is
// started as a call may have as much.
inline std::size_t most_shared = 0;
#endif

// Starts a kernel, by its address or as a call.
struct starter {
  launch_config config;

  template <class... P, class... A>
  requires(sizeof...(P) == sizeof...(A)) &&
      (std::is_constructible_v<P, A&> && ...) void operator()(void (*kernel)(P...),
                                                              A&... given) const {
    kzoo::launch(config, kernel, given...);
  }

#if !defined(KZOO_REAL_CUDA)
  template <class Call>
  static void call_it(const Call* call) {
    (*call)();
  }
  template <class Call>
  void call(const Call& c) const {
    if (config.dynamic_shared > 0 && config.dynamic_shared <= most_shared)
      allow_dynamic_shared(&call_it<Call>, most_shared);
    kzoo::launch(config, &call_it<Call>, &c);
  }
#endif
};

// `start`: a function that starts a kernel by the starter, with the given values.
template <class Start, class... A>
void launch(const launch_config& config, const Start& start, A&&... given) {
  if (!here().is_dry) start(starter{config}, given...);
}

// The body of `start`, a generic lambda. The kernel may be a template whose arguments are deduced
// from the values: it has no address before the call.
#if defined(KZOO_REAL_CUDA)
#define KZOO_CALLED(...)                                                           \
  {                                                                                \
    __VA_ARGS__<<<kzoo_launch.config.grid, kzoo_launch.config.block,               \
                  kzoo_launch.config.dynamic_shared, kzoo_launch.config.stream>>>( \
        kzoo_argument...);                                                         \
    ::kzoo::tensors::must(::cudaGetLastError());                                   \
  }
#else
#define KZOO_CALLED(...) kzoo_launch.call([&] { __VA_ARGS__(kzoo_argument...); });
#endif
#define KZOO_LAUNCHED(...)                                                  \
  {                                                                         \
    if constexpr (requires { kzoo_launch(__VA_ARGS__, kzoo_argument...); }) \
      kzoo_launch(__VA_ARGS__, kzoo_argument...);                           \
    else                                                                    \
      KZOO_CALLED(__VA_ARGS__)                                              \
  }

// Replacements for calls of CUDA's runtime in the source. None of them waits; the stream keeps the
// order.
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(stream_t) { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, stream_t = {}) {
  fill(at, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  return cudaMemsetAsync(at, value, bytes);
}
template <class Kind>
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, Kind, stream_t = {}) {
  copy(to, from, bytes);
  return cudaSuccess;
}
template <class Kind>
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, Kind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind);
}
#if defined(KZOO_REAL_CUDA)
using ::cudaGetErrorName;
using ::cudaGetErrorString;
inline cudaError_t cudaGetLastError() { return here().is_dry ? cudaSuccess : ::cudaGetLastError(); }
inline cudaError_t cudaPeekAtLastError() {
  return here().is_dry ? cudaSuccess : ::cudaPeekAtLastError();
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute what, int value) {
  const auto set = [=] {
    return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), what, value);
  };
  if (!here().is_dry) return set();
  later::add([=] { must(set()); });
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** given,
                             std::size_t shared = 0, cudaStream_t stream = nullptr) {
  if (here().is_dry) return cudaSuccess;
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, given, shared,
                            stream_for(stream));
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** given,
                                        std::size_t shared = 0, cudaStream_t stream = nullptr) {
  if (here().is_dry) return cudaSuccess;
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, given,
                                       shared, stream_for(stream));
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                               A&&... given) {
  if (here().is_dry) return cudaSuccess;
  cudaLaunchConfig_t on_stream = *config;
  on_stream.stream = stream_for(config->stream);
  return ::cudaLaunchKernelEx(&on_stream, kernel, std::forward<A>(given)...);
}
#else
inline cudaError_t cudaGetLastError() { return cudaSuccess; }  // a launch that fails throws
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), int what, int bytes) {
  constexpr int kDynamicShared = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize
  if (what != kDynamicShared) return cudaSuccess;
  const auto set = [kernel, most = static_cast<std::size_t>(bytes)] {
    allow_dynamic_shared(kernel, most);
    most_shared = std::max(most_shared, most);
  };
  if (here().is_dry)
    later::add(set);
  else
    set();
  return cudaSuccess;
}
#endif

}  // namespace kzoo::tensors

#if !defined(KZOO_REAL_CUDA)
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaMemcpyKind { cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4 };
#endif

// Launches a kernel on a GPU or on the simulator.
//
//   __global__ void scale(float* x, float factor, int n);
//   ...
//   kzoo::launch({.grid = dim3((n + 255) / 256), .block = dim3(256), .stream = stream},
//                scale, x, 2.0f, n);
//
// cuda: enqueues and returns. cpu: the kernel has finished when launch returns. Errors inside it (a
// divergent barrier, an exception) are thrown here.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <kzoo/cuda.hpp>
#include <kzoo/error.hpp>
#include <kzoo/launch_config.hpp>
#include <kzoo/launch_limits.hpp>

#if defined(KZOO_REAL_CUDA)
#include <kzoo/detail/launch_cuda.hpp>
#else
#include <kzoo/detail/launch_sim.hpp>
#endif

namespace kzoo {

namespace detail {

template <class Pointer>
using to_mutable = std::remove_const_t<std::remove_pointer_t<std::remove_cvref_t<Pointer>>>*;

// Instantiated per argument, so that the compiler names the wrong one: kArgument counts from 1.
template <std::size_t kArgument, class Parameter, class Argument>
struct launch_argument {
  static constexpr bool kConverts = std::is_constructible_v<Parameter, Argument>;
  static constexpr bool kLosesConst = !kConverts &&
                                      std::is_pointer_v<std::remove_cvref_t<Argument>> &&
                                      std::is_constructible_v<Parameter, to_mutable<Argument>>;
  static_assert(!kLosesConst,
                "kzoo::launch: this argument points to const elements, as A and B do; make the "
                "kernel's parameter a pointer to const as well");
  static_assert(kConverts || kLosesConst,
                "kzoo::launch: this argument does not convert to the kernel's parameter");
};

template <class Parameters, class Arguments>
struct launch_arguments;
template <class... P, class... A>
requires(sizeof...(P) == sizeof...(A)) struct launch_arguments<std::tuple<P...>, std::tuple<A...>> {
  template <std::size_t... kIndex>
  static constexpr bool all_convert(std::index_sequence<kIndex...>) {
    return (launch_argument<kIndex + 1, P, A>::kConverts && ...);
  }
  static constexpr bool kFit = all_convert(std::make_index_sequence<sizeof...(P)>());
};
template <class Parameters, class Arguments>
struct launch_arguments {
  static_assert(std::tuple_size_v<Parameters> == std::tuple_size_v<Arguments>,
                "kzoo::launch: one argument for each parameter of the kernel");
  static constexpr bool kFit = false;
};

}  // namespace detail

// Converts arguments to the kernel's parameter types. If the launch needs more than the device has,
// throws kzoo::error(KZOO_LAUNCH_FAILED) with the reason and clears CUDA's error state. Callable
// from any host thread, not from a kernel.
template <class... P, class... A>
void launch(const launch_config& config, void (*kernel)(P...), A&&... args) {
  if constexpr (detail::launch_arguments<std::tuple<P...>, std::tuple<A...>>::kFit) {
    std::tuple<P...> parameters(std::forward<A>(args)...);
    if (const std::string problem =
            detail::shape_problem(config.grid, config.block, config.max_threads);
        !problem.empty()) {
      throw error(KZOO_LAUNCH_FAILED, problem);
    }
    if (const std::string problem = detail::cluster_problem(config.grid, config.cluster);
        !problem.empty()) {
      throw error(KZOO_LAUNCH_FAILED, problem);
    }
    detail::launch_checked(config, kernel, parameters);
  }
}

// Lets `kernel` use up to `bytes` of dynamic shared memory; needed beyond 48 KB. Never lowers the
// limit: another instance may need it. Slow on cuda: call it when a variant is created, not for
// each run. From any thread. Throws kzoo::error(KZOO_LAUNCH_FAILED).
template <class... P>
void allow_dynamic_shared(void (*kernel)(P...), std::size_t bytes) {
  detail::allow_dynamic_shared(reinterpret_cast<const void*>(kernel), bytes);
}

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda
// The block's dynamic shared memory, 1024-byte aligned, uninitialised (the simulator fills it with
// NaNs). All calls in a kernel return the same memory for any T.
template <class T>
__device__ inline T* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(1024) unsigned char kzoo_dynamic_shared_bytes[];
  return reinterpret_cast<T*>(kzoo_dynamic_shared_bytes);
#else
  return static_cast<T*>(sim::self().dynamic_shared);
#endif
}
#endif

}  // namespace kzoo

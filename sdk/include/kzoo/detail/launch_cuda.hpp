// launch() on a GPU. A successful launch costs only cudaLaunchKernel; the device is queried for a
// reason only after a failure. Included by launch.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <tuple>

#include <cuda_runtime.h>

#include <kzoo/error.hpp>
#include <kzoo/launch_config.hpp>
#include <kzoo/launch_limits.hpp>
#include <kzoo/launch_list.hpp>

namespace kzoo::detail {

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}

inline std::string words(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

inline std::string explain_launch(const launch_config& config, const void* kernel,
                                  cudaError_t status) {
  const std::string failed = "launch failed: " + words(status);
  cudaFuncAttributes f{};
  if (const cudaError_t asked = cudaFuncGetAttributes(&f, kernel); asked != cudaSuccess) {
    return asked == status ? failed : failed + "; the kernel cannot be queried: " + words(asked);
  }
  const std::size_t threads =
      static_cast<std::size_t>(config.block.x) * config.block.y * config.block.z;
  const auto registers = threads * static_cast<std::size_t>(f.numRegs);
  const auto most = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxRegistersPerBlock));
  const bool too_many_threads = threads > static_cast<std::size_t>(f.maxThreadsPerBlock);
  const std::string built_for = std::to_string(threads) +
                                " threads per block where the kernel is built for at most " +
                                std::to_string(f.maxThreadsPerBlock);
  if (registers > most) {
    return failed + ": " + std::to_string(threads) + " threads x " + std::to_string(f.numRegs) +
           " registers = " + std::to_string(registers) + " > " + std::to_string(most) +
           " registers per block";
  }
  if (too_many_threads) return failed + ": " + built_for;
  const auto allowed = static_cast<std::size_t>(f.maxDynamicSharedSizeBytes);
  if (config.dynamic_shared > allowed) {
    return shared_problem(config.dynamic_shared, f.sharedSizeBytes, allowed);
  }
  return failed;
}

// Null before CUDA 12.3.
inline const char* symbol_of(const void* kernel) {
  const char* symbol = nullptr;
#if CUDART_VERSION >= 12030
  if (cudaFuncGetName(&symbol, kernel) != cudaSuccess) cudaGetLastError();
#endif
  return symbol;
}

// Adds a successful launch to the list, if there is one.
inline void note_launch(const launch_config& config, const void* kernel) {
  if (wanted_launches == nullptr) return;
  kzoo_launch* entry = next_launch(config, symbol_of(kernel));
  cudaFuncAttributes f{};
  if (entry == nullptr || cudaFuncGetAttributes(&f, kernel) != cudaSuccess) return;
  constexpr int kWarp = 32;
  const int threads = static_cast<int>(config.block.x * config.block.y * config.block.z);
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, config.dynamic_shared);
  entry->static_shared = f.sharedSizeBytes;
  entry->local_bytes = f.localSizeBytes;
  entry->registers = static_cast<std::uint32_t>(f.numRegs);
  entry->resident_warps = static_cast<std::uint32_t>(blocks * ((threads + kWarp - 1) / kWarp));
  entry->most_warps =
      static_cast<std::uint32_t>(device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / kWarp);
}

// Clusters and dependent launches are attributes of an extended launch.
inline cudaError_t launch_on_device(const launch_config& config, const void* function,
                                    void** arguments) {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t extended{};
  if (config.cluster.x * config.cluster.y * config.cluster.z > 1) {
    cudaLaunchAttribute& cluster = attributes[extended.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = config.cluster.x;
    cluster.val.clusterDim.y = config.cluster.y;
    cluster.val.clusterDim.z = config.cluster.z;
  }
  if (config.dependent) {
    cudaLaunchAttribute& dependent = attributes[extended.numAttrs++];
    dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    dependent.val.programmaticStreamSerializationAllowed = 1;
  }
  if (extended.numAttrs == 0) {
    return cudaLaunchKernel(function, config.grid, config.block, arguments, config.dynamic_shared,
                            config.stream);
  }
  extended.gridDim = config.grid;
  extended.blockDim = config.block;
  extended.dynamicSmemBytes = config.dynamic_shared;
  extended.stream = config.stream;
  extended.attrs = attributes;
  return cudaLaunchKernelExC(&extended, function, arguments);
}

// `arguments` points to the kernel's arguments, in order.
inline void launch_pointers(const launch_config& config, const void* kernel, void** arguments) {
  const cudaError_t status = launch_on_device(config, kernel, arguments);
  if (status == cudaSuccess) return note_launch(config, kernel);
  const std::string text = explain_launch(config, kernel, status);
  cudaGetLastError();  // reported here; must not appear as the failure of a later call
  throw error(KZOO_LAUNCH_FAILED, text);
}

template <class... P>
void launch_checked(const launch_config& config, void (*kernel)(P...), std::tuple<P...>& values) {
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {const_cast<void*>(static_cast<const void*>(&value))..., nullptr};
        launch_pointers(config, reinterpret_cast<const void*>(kernel), pointers);
      },
      values);
}

inline void allow_dynamic_shared(const void* kernel, std::size_t bytes) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  cudaFuncAttributes f{};
  if (cudaFuncGetAttributes(&f, kernel) != cudaSuccess) {
    cudaGetLastError();  // the following call reports the error
  } else if (static_cast<std::size_t>(std::max(f.maxDynamicSharedSizeBytes, 0)) >= bytes) {
    return;
  }
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status == cudaSuccess) return;
  const auto device =
      static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  cudaGetLastError();
  const std::size_t most = device > f.sharedSizeBytes ? device - f.sharedSizeBytes : 0;
  const std::string problem = opt_in_problem(bytes, most);
  throw error(KZOO_LAUNCH_FAILED,
              problem.empty() ? "allow_dynamic_shared failed: " + words(status) : problem);
}

}  // namespace kzoo::detail

#pragma once
// CUDA errors as exceptions with CUDA's own texts, and control of streams. Compiled by nvcc too,
// hence without fmt.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace kzoo::devices::cuda {

inline std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
}

inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears a non-sticky error, so that it is reported once
  throw failure(std::string(doing) + ": " + describe(error));
}

// `name`: for the message if the device has no such attribute.
inline int attribute(cudaDeviceAttr which, int ordinal, const char* name) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), name);
  return value;
}

// Makes all later work of this process, on any stream, wait for the recorded event. Throws failure,
// as does the next function. Both do nothing if the driver lacks cuCtxWaitEvent or
// cuCtxRecordEvent.
void hold_streams_until(cudaEvent_t event);
// Makes the stream wait for all earlier work of this process. Records `event` for it.
void wait_for_streams(cudaStream_t stream, cudaEvent_t event);

}  // namespace kzoo::devices::cuda

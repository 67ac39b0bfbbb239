#pragma once
// Controls other streams of this process while a kernel is timed.

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// Makes all later work of this process, on any stream, wait for the recorded event.
void hold_streams_until(cudaEvent_t event);
// Makes the stream wait for all earlier work of this process. Records `event` for it.
void wait_for_streams(cudaStream_t stream, cudaEvent_t event);

// Both throw failure. They do nothing if the driver lacks cuCtxWaitEvent or cuCtxRecordEvent.

}  // namespace kzoo::devices::cuda

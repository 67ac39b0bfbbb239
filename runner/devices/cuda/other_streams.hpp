#pragma once
// Controls other streams of this process while a kernel is timed.

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// Makes everything that this process enqueues from now on, on any stream, wait for the recorded
// event.
void hold_streams_until(cudaEvent_t event);
// Makes the stream wait for all work that this process has enqueued so far, on any stream. Records
// `event` for it.
void wait_for_streams(cudaStream_t stream, cudaEvent_t event);

// Both throw failure. They do nothing if the driver lacks cuCtxWaitEvent or cuCtxRecordEvent.

}  // namespace kzoo::devices::cuda

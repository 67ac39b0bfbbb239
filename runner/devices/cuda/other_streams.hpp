#pragma once
// What other streams of this process get to do while a kernel is timed.

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// All that this process enqueues from now on, on whatever stream, begins after the event, which has
// been recorded.
void hold_streams_until(cudaEvent_t event);
// What is enqueued on the stream from now on begins after all that this process has enqueued until
// now, on whatever stream. `event` is used for that.
void wait_for_streams(cudaStream_t stream, cudaEvent_t event);

// Both throw failure, and do nothing where the driver is older than its functions for that,
// cuCtxWaitEvent and cuCtxRecordEvent.

}  // namespace kzoo::devices::cuda

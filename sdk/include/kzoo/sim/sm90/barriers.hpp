// mbarriers, named barriers and clusters (sm_90) in the simulator, and fences of the async proxy.
// Behind mbarrier.hpp, warpgroup.hpp, cluster.hpp.
#pragma once

#include <cstdint>
#include <source_location>

namespace kzoo::sim::sm90 {

using here = std::source_location;

void mbarrier_init(std::uint64_t& barrier, unsigned arrivals, here where);
// Arrives, and makes the phase wait for `bytes` of copies.
void mbarrier_arrive(std::uint64_t& barrier, unsigned bytes, here where);
// Arrives at the barrier with the same address in another block of the cluster.
void mbarrier_arrive_in(std::uint64_t& barrier, unsigned rank, here where);
void mbarrier_wait(std::uint64_t& barrier, unsigned parity, here where);
void fence_mbarrier_init();
void fence_async_proxy();
// From now on writes of cp.async and stmatrix are noted, up to fence_async_proxy(). Returns true.
// Called by modules with wgmma or TMA; others are simulated faster.
bool follow_async_proxy();
// Notes that a lane of the caller's warp has written shared memory, for fence_async_proxy().
void note_write_of_lane(unsigned lane, const void* shared, unsigned bytes, here where);

// If `waits`, returns whether `vote` was true for any of the threads.
bool named_barrier(int id, unsigned threads, bool waits, bool vote, here where);

// Changes the registers of the calling thread. A request waits until others have released enough.
void change_registers(unsigned count, bool requests, here where);

unsigned cluster_rank();
void cluster_sync(here where);
// Reads the float at the same address in the shared memory of another block of the cluster.
float load_of_block(const float* shared, unsigned rank, here where);
// Writes into the shared memory of another block of the cluster, at the same address, and counts
// the bytes at its barrier.
void store_to_block(const void* value, const void* shared, unsigned bytes, std::uint64_t& barrier,
                    unsigned rank, here where);

// PTX's address of dynamic shared memory.
unsigned address_in_shared(const void* shared, here where);

}  // namespace kzoo::sim::sm90

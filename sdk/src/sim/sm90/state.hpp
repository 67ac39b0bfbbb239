// The asynchronous parts of blocks (sm_90): copies by TMA, MMAs of warpgroups, and the barriers
// that wait for both. Everything here happens on the OS thread that runs the blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <kzoo/sim/sm90/tma.hpp>
#include <kzoo/sim/sm90/wgmma.hpp>

#include "../in_flight.hpp"

namespace kzoo::sim {
struct cta;
struct thread;
class block_runner;
}  // namespace kzoo::sim

namespace kzoo::sim::sm90 {

// An address of a block's shared memory: its dynamic bytes begin at 0, its static bytes at kStatic.
using shared_offset = unsigned;
inline constexpr shared_offset kStatic = 1u << 18;
inline constexpr shared_offset kNowhere = ~0u;

// 16 bytes of shared memory.
inline constexpr unsigned kGranule = 16;
struct granule {
  std::uint64_t written = 0;  // the time of the last write by `writer` through the generic proxy
  here change, read;          // the last write, copy or MMA
  std::uint32_t code = 0;     // its offset in the plugin, if xray has recorded that write
  std::uint16_t writer = 0;   // linear thread index
  std::uint16_t copies = 0;   // copies that have not arrived
  std::uint16_t reads = 0;    // reads by MMAs that nobody has waited for
  std::uint32_t seen = 0;     // hash of the contents that the async proxy has read or written
  std::uint32_t fences = 0;   // the block's fences until then
};

struct copy_into_shared {
  matrix_map map{};                     // a box comes from a matrix
  const unsigned char* from = nullptr;  // contiguous bytes come from here
  unsigned bytes = 0;
  box_place place{};
  cta* in = nullptr;
  shared_offset to = 0, barrier = 0;
  const thread* by = nullptr;
  here where;
};

struct store_from_shared {
  matrix_map map;
  box_place place;
  shared_offset from;
  std::uint64_t hash;  // the tile's
  here where;
};

// A fragment of A in a thread's registers, as the last MMA or wgmma_fence() has seen it.
struct seen_fragment {
  const unsigned* at;
  std::array<unsigned, 4> words;
};

// A thread's own state.
struct thread_state {
  shared_offset barrier = 0;       // the mbarrier that it waits for
  unsigned parity = 0;             // the phase of it
  int named_barrier = 0;           // the barrier that it waits at
  std::uint64_t fenced = 0;        // the time of its last fence_async_proxy()
  std::uint64_t instructions = 0;  // MMAs of wgmma so far
  unsigned registers = 0;          // registers that it has, or waits for; 0: as at the launch
  unsigned more_registers = 0;     // that it waits for
  here registers_changed;
  std::vector<seen_fragment> fragments;
  in_flight<store_from_shared> stores;
};

// 64 x n sums that MMAs are adding to.
struct accumulators {
  int n;
  std::vector<float> values;
  std::array<float*, 128> owners;  // by thread: null until it has reached the instruction
  here where;
};

enum class instruction : unsigned char { mma, fence, commit, wait };

// An instruction that at least one thread of a warpgroup has reached.
struct warpgroup_step {
  instruction kind;
  unsigned pending;
  wgmma_call call;
  here where;
  unsigned arrived = 0;
  std::shared_ptr<accumulators> sums{};
  std::vector<const unsigned*> fragments{};  // A in registers, and its contents
  std::vector<unsigned> fragment_words{};
  std::uint64_t hash = 0;  // the operands' in shared memory
};

struct warpgroup_state {
  std::vector<warpgroup_step> steps;
  std::uint64_t first = 0;  // number of the first of them
  std::vector<std::shared_ptr<accumulators>> in_flight;
  std::vector<thread*> waiting;
  bool fenced = false;  // since accumulators were last handed back
};

struct named_barrier_state {
  unsigned arrived = 0, expected = 0;
  bool vote = false;
  std::vector<thread*> waiting;
};

// An initialised mbarrier.
struct known_barrier {
  shared_offset at;
  std::uint64_t bits;      // its contents, unless something else has overwritten them
  const thread* unfenced;  // who has initialised it without a fence since; null: fenced
  here where;
  std::vector<const thread*> late{};  // waited for the last phase, and have not run since its end
};

struct block_state {
  std::vector<granule> granules;  // dynamic, then static shared memory
  std::size_t dynamic_granules = 0;
  std::vector<warpgroup_state> warpgroups;
  std::array<named_barrier_state, 16> named;
  std::vector<known_barrier> barriers;
  std::uint64_t begun = 0;  // the time when the block began
  std::uint32_t fences = 0,
                fences_before = 0;   // fence_async_proxy(), by any thread; before it began
  std::uint64_t free_registers = 0;  // released
  std::vector<thread*> at_registers;
  bool abandoned = false;  // with something in flight

  granule& granule_at(shared_offset at) {
    return granules[at < kStatic ? at / kGranule : dynamic_granules + (at - kStatic) / kGranule];
  }
  void prepare(std::size_t dynamic_bytes, std::size_t static_bytes, std::size_t threads);
  void begin(std::uint64_t now);
};

struct cluster_state {
  std::uint64_t clock = 0;               // counts writes and fences of all blocks so far
  std::vector<copy_into_shared> copies;  // in flight, oldest first
  std::vector<thread*> at_mbarriers;
  std::vector<thread*> at_cluster_barrier;
  std::vector<float> a, b;  // operands of the MMA that is computed

  void abandon() {
    copies.clear();
    at_mbarriers.clear();
    at_cluster_barrier.clear();
  }
};

extern bool follows_async_proxy;

std::string place_text(const here& where);   // "k.cu:7"
std::string address_text(shared_offset at);  // "byte 7 of dynamic shared memory"
std::string wait_text(const thread& t);      // what it waits for at an mbarrier
std::string named_barrier_text(const thread& t);
std::string registers_text(const thread& t);
std::uint64_t hash_of(std::uint64_t before, const unsigned char* granule);

// The swizzle of 32, 64 or 128 bytes; 0: none.
unsigned swizzled(unsigned address, unsigned width);

// Ends the launch for an address outside the block's shared memory.
shared_offset offset_or_fail(thread& t, const void* shared, std::size_t bytes, const char* who,
                             const here& where);
// Ends the launch if the cluster has no such block, or if it has ended.
cta& block_of_cluster(thread& t, unsigned rank, const char* who, const here& where);

// Notes the write of a thread through the generic proxy.
void note_write(thread& t, shared_offset at, unsigned bytes, const here& where);
// Like note_write(), for a store of the running thread to shared memory; ignores other stores.
// `code`: the store's offset in the plugin, which the analysis turns into a line.
void note_store(const volatile void* to, std::size_t bytes, std::uint32_t code);
// Ends the launch if a copy into the 16 bytes has not arrived, or if a write there needs a fence.
// For `overwrites`, also if an MMA reads them.
void check_settled(thread& t, cta& in, shared_offset at, bool overwrites, const char* who,
                   const here& where);
// The async proxy reads or has written the 16 bytes.
void see(cta& in, shared_offset at);
// Ends the launch if an MMA reads the 16 bytes.
void check_unread(thread& t, cta& in, shared_offset at, const char* who, const here& where);

// Ends the launch if the barrier cannot be used by the thread.
void check_barrier(thread& t, cta& in, shared_offset at, const here& where);
// Adds arrivals and missing bytes to the phase of a barrier; `by`: null for a copy. Returns what is
// wrong, or nothing.
std::string add_to_phase(cta& in, shared_offset at, const thread* by, int arrivals,
                         std::int64_t bytes);
std::string barrier_text(shared_offset at, const here& where);

// A copy in flight arrives.
void finish_copy(block_runner& runner, std::size_t number);

// The fault of a cluster whose threads have all ended; empty if there is none.
std::string problem_at_end(block_runner& runner);
std::string barrier_problem_at_end(cta& in);
std::string store_problem_at_end(const thread& t);
std::string register_problem_at_end(const cta& in);
std::string mma_problem_at_end(const cta& in);

}  // namespace kzoo::sim::sm90

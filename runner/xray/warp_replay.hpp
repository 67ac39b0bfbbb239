#pragma once
// Combines the logs of a warp's lanes into the instructions of one warp. The simulator runs lanes
// one after the other, a GPU runs lanes at the same place together. Each step runs the deepest
// calls and, among them, the lowest address. Diverged lanes thus meet where their paths join.

#include "xray/counters.hpp"

#include <kzoo/xray.h>

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace kzoo::xray {

// Nested calls by their call sites. 0: the kernel's caller.
class call_contexts {
 public:
  std::uint32_t enter(std::uint32_t from, std::uint32_t call_site);
  std::uint32_t leave(std::uint32_t from) const { return nodes_[from].parent; }
  std::uint32_t depth(std::uint32_t context) const { return nodes_[context].depth; }
  // The call sites, innermost first.
  std::vector<std::uint32_t> path(std::uint32_t context) const;

 private:
  struct node {
    std::uint32_t parent, call_site, depth;
  };
  std::vector<node> nodes_{{0, 0, 0}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
  std::pair<std::uint32_t, std::uint32_t> last_{~0u, ~0u};  // last enter(): arguments, result
  std::uint32_t last_entered_ = 0;
};

struct warp_step {
  const kzoo_xray_event* event;  // the first active lane's
  std::uint32_t context;
  warp_access where;
};

class replay_visitor {
 public:
  virtual void accessed(const warp_step& step) = 0;  // reads, writes, atomics
  virtual void started(const warp_step& step) = 0;   // TMA, wgmma
  virtual void fence(std::uint32_t mask) = 0;
  virtual void out_of_bounds(const warp_step& step) = 0;  // its addresses are indices
  virtual void synchronized(std::uint32_t mask) = 0;      // the lanes have met

 protected:
  ~replay_visitor() = default;
};

class warp_replay {
 public:
  explicit warp_replay(call_contexts& contexts) : contexts_(contexts) {}
  // `at`: the context of each lane, carried from interval to interval.
  void run(const kzoo_xray_interval& interval, std::array<std::uint32_t, kWarp>& at,
           replay_visitor& visitor);

 private:
  void update_key(unsigned lane);
  void step(std::uint32_t mask, replay_visitor& visitor);

  call_contexts& contexts_;
  std::array<kzoo_xray_lane, kWarp> lanes_{};
  std::array<std::uint64_t, kWarp> keys_{};
  std::array<std::uint32_t, kWarp>* at_ = nullptr;
};

// Merges loads of neighbouring words as nvcc does. It unrolls a loop that reads a row of shared
// memory word by word. Four words in 16 aligned bytes of every lane become one load. The simulator
// runs the loop as written. The merger therefore waits for neighbours until the warp's next barrier
// or store to shared memory, which no load crosses.
class merged_loads {
 public:
  // Whether the lanes' loads of 4 bytes have equal offsets in 16 bytes, so that they may be merged.
  static bool same_phase(const warp_access& a);

  // Adds a load of 4 bytes per lane, with same_phase(). Repeated loads of an address count once.
  void add(std::uint32_t site, const warp_access& a);

  // Calls emit(site, access) for the merged loads of 16, 8 and 4 bytes, and clears them.
  template <class Emit>
  void take(const Emit& emit) {
    for (const auto& [of, g] : groups_) {
      warp_access a = g.base;
      const auto put = [&](unsigned word, unsigned words) {
        a.bytes = words * kBankBytes;
        for (unsigned lane = 0; lane < kWarp; ++lane)
          a.address[lane] = g.base.address[lane] + std::uint64_t{word} * kBankBytes;
        emit(std::get<0>(of), a);
      };
      if (g.words == 0xf) {
        put(0, 4);
        continue;
      }
      for (unsigned word = 0; word < 4; word += 2) {
        const unsigned pair = g.words >> word & 3;
        if (pair == 3) put(word, 2);
        if (pair == 1) put(word, 1);
        if (pair == 2) put(word + 1, 1);
      }
    }
    groups_.clear();
  }

 private:
  struct group {
    warp_access base;    // addresses rounded down to 16 bytes
    unsigned words = 0;  // a bit for each loaded word of the four
  };
  // Site, active lanes, the first lane's 16 bytes, and a hash of the other lanes' relative to them.
  using key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  std::map<key, group> groups_;
};

}  // namespace kzoo::xray

#pragma once
// Combines the logs of a warp's lanes into the instructions of one warp. The simulator runs lanes
// one after the other, a GPU runs lanes at the same place together. Each step runs the deepest
// calls and, among them, the lowest address. Diverged lanes thus meet where their paths join.

#include "xray/transactions.hpp"

#include <kzoo/xray.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kzoo::xray {

// Nested calls by their call sites. 0: the kernel's caller.
class call_contexts {
 public:
  std::uint32_t enter(std::uint32_t from, std::uint32_t call_site);
  std::uint32_t leave(std::uint32_t from) const { return nodes_[from].parent; }
  std::uint32_t depth(std::uint32_t of) const { return nodes_[of].depth; }
  // The call sites, innermost first.
  std::vector<std::uint32_t> path(std::uint32_t of) const;

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
  const kzoo_xray_event* event;  // of the first active lane
  std::uint32_t context;
  warp_access where;
};

class replay_visitor {
 public:
  virtual void accessed(const warp_step& step) = 0;  // reads, writes, atomics
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
  void run(const kzoo_xray_interval& what, std::array<std::uint32_t, kWarp>& at,
           replay_visitor& visitor);

 private:
  void update_key(unsigned lane);
  void step(std::uint32_t mask, replay_visitor& visitor);

  call_contexts& contexts_;
  std::array<kzoo_xray_lane, kWarp> lanes_{};
  std::array<std::uint64_t, kWarp> keys_{};
  std::array<std::uint32_t, kWarp>* at_ = nullptr;
};

}  // namespace kzoo::xray

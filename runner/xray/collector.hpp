#pragma once
// Counts what an analysed build records.

#include "xray/counters.hpp"
#include "xray/merged_loads.hpp"
#include "xray/transactions.hpp"
#include "xray/warp_replay.hpp"

#include <kzoo/xray.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace kzoo::xray {

// Where something in the library's code is: an access, and the calls that led to it, innermost
// first. In bytes from the library's beginning, of the instruction after it.
struct code_place {
  std::uint32_t pc = 0;
  std::vector<std::uint32_t> callers;
  auto operator<=>(const code_place&) const = default;
};

// The accesses of one kind at one place.
struct site_counts {
  request_counts single;      // as the source has them
  request_counts merged;      // neighbouring loads merged as nvcc does: merged_loads.hpp
  unsigned merged_width = 0;  // of the widest of them, bytes per lane
  bool mergeable = false;     // all were loads that can be merged
  access_pattern worst;

  void add(const site_counts& o);
};

struct site_key {
  code_place place;
  access kind{};
  unsigned width = 0;
  auto operator<=>(const site_key&) const = default;
};

struct collected_launch {
  launch about;  // without lines
  std::map<site_key, site_counts> sites;
};

class block_counter;

// Receives the records of one run. Must outlive it.
class collector {
 public:
  collector();
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // Accesses to these bytes are global ones; all others, but for shared memory, are not counted.
  void add_global(const void* begin, std::size_t bytes);
  // What an analysed build is attached to.
  const kzoo_xray_sink& sink() const { return sink_; }
  // The launches so far, in order.
  std::vector<collected_launch> take();

 private:
  void begin_launch(const kzoo_xray_launch& l);
  block_counter& begin_worker(const kzoo_xray_range& static_shared);
  void gather();

  kzoo_xray_sink sink_;
  std::vector<kzoo_xray_range> global_;
  std::vector<collected_launch> launches_;
  std::mutex mutex_;  // of the following
  std::vector<std::unique_ptr<block_counter>> workers_;
};

}  // namespace kzoo::xray

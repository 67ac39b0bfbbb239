#pragma once
// Counts what an analysed build records.

#include "xray/counters.hpp"
#include "xray/global_shadow.hpp"
#include "xray/hazards.hpp"
#include "xray/merged_loads.hpp"
#include "xray/transactions.hpp"
#include "xray/warp_replay.hpp"

#include <kzoo/xray.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kzoo::xray {

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
  launch about;  // without lines and findings
  std::map<site_key, site_counts> sites;
  std::vector<hazard_record> hazards;
};

// How many blocks of a launch are run: this share, but at least one, and no more than `most`.
struct sampling {
  double share = 1;
  std::uint64_t most = ~0ull;
};

class block_counter;

// Receives the records of one run. Must outlive it.
class collector {
 public:
  collector();
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // Accesses to these are global ones; all others, but for shared memory, are not counted.
  void add_global(const global_buffer& buffer) { global_.add(buffer); }
  // Of each launch only some blocks are run, spread over the grid, and counts are scaled to all.
  void sample(const sampling& s) { sampling_ = s; }
  // These are no __shared__ variables, though they are among them: bytes from the first of them.
  void ignore(std::vector<kzoo_xray_range> ranges) { ignored_ = std::move(ranges); }
  // What an analysed build is attached to.
  const kzoo_xray_sink& sink() const { return sink_; }
  // The launches so far, in order.
  std::vector<collected_launch> take();

 private:
  void begin_launch(const kzoo_xray_launch& l);
  block_counter& begin_worker(const kzoo_xray_range& static_shared);
  void gather();
  void choose_blocks(std::uint64_t blocks);

  kzoo_xray_sink sink_;
  hazard_log hazards_;
  global_shadow global_{hazards_};
  std::vector<kzoo_xray_range> ignored_;
  sampling sampling_;
  std::vector<bool> chosen_;  // empty: all blocks
  std::vector<collected_launch> launches_;
  std::mutex mutex_;  // of the following
  std::vector<std::unique_ptr<block_counter>> workers_;
};

}  // namespace kzoo::xray

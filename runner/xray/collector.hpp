#pragma once

#include "xray/counters.hpp"
#include "xray/hazards.hpp"
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
  request_counts single;      // as in the source
  request_counts merged;      // neighbouring loads merged as nvcc does: warp_replay.hpp
  unsigned merged_width = 0;  // the widest merged load, bytes per lane
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

// How many blocks of a launch run: this share, but at least one and at most `most`.
struct sampling {
  double share = 1;
  std::uint64_t most = ~0ull;
};

class block_counter;

// Receives the records of a run. Must outlive it.
class collector {
 public:
  collector();
  ~collector();
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // Accesses to the buffer are global. Accesses to neither a buffer nor shared memory do not count.
  void add_global(const global_buffer& buffer) { global_.add(buffer); }
  // Runs only some blocks of each launch, spread over the grid, and scales the counts to all.
  void sample(const sampling& s) { sampling_ = s; }
  // Ranges among the __shared__ variables that hold other data; bytes from the first variable.
  void ignore(std::vector<kzoo_xray_range> ranges) { ignored_ = std::move(ranges); }
  const kzoo_xray_sink& sink() const { return sink_; }
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
  std::mutex mutex_;  // guards workers_
  std::vector<std::unique_ptr<block_counter>> workers_;
};

}  // namespace kzoo::xray

#pragma once
// The counts of an analysis, in Nsight Compute's terms: docs/xray.md defines each.

#include "core/kernel_name.hpp"
#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "os/enums.hpp"
#include "process/source_frames.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::xray {

enum class access : std::uint8_t {
  global_load,
  global_store,
  global_atomic,
  async_copy,  // from global to shared memory, without a register in between
  tma_load,
  tma_store,
  shared_load,
  shared_store,
  shared_atomic,
  wgmma  // operands in shared memory
};
constexpr std::string_view names_of(access) {
  return "global load, global store, global atomic, cp.async, TMA load, TMA store, shared load, "
         "shared store, shared atomic, wgmma";
}

constexpr bool is_shared(access a) { return a >= access::shared_load; }
constexpr const char* passes_name(access a) { return is_shared(a) ? "wavefronts" : "sectors"; }

// Sums over requests. A request is one instruction of one warp.
struct request_counts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;   // active lanes
  std::uint64_t bytes = 0;   // distinct bytes that the lanes access
  std::uint64_t passes = 0;  // sectors of global memory, wavefronts of shared memory
  std::uint64_t ideal = 0;   // the fewest passes for these bytes

  request_counts& operator+=(const request_counts& o) {
    requests += o.requests;
    lanes += o.lanes;
    bytes += o.bytes;
    passes += o.passes;
    ideal += o.ideal;
    return *this;
  }
  double passes_each() const { return double(passes) / double(requests); }
  double ideal_each() const { return double(ideal) / double(requests); }
  std::uint64_t excess() const { return passes - ideal; }
};

// The request of a line with the most passes: its lanes' addresses, relative to the lowest.
struct access_pattern {
  std::uint32_t mask = 0;  // the active lanes
  unsigned bytes = 0;      // per lane
  unsigned passes = 0;
  std::array<std::uint32_t, 32> offsets{};
};

using process::source_frame;

struct line_counts {
  source_frame where;                // the innermost line outside the SDK
  std::vector<source_frame> called;  // from where, innermost first
  access kind{};
  unsigned width = 0;  // bytes per lane
  request_counts counts;
  access_pattern worst;
};

// An access that is wrong on a GPU.
struct finding {
  std::string what;             // "race in shared memory"
  std::string advice;           // a sentence: what to do
  std::string detail;           // the first: "threads 0 and 33 of block 2"
  source_frame where, earlier;  // earlier: the earlier access of a race; else empty
  std::uint64_t count = 0;

  // "mine.cu:21"; for a race "mine.cu:21 and mine.cu:18".
  std::string places() const {
    return place_text(where) + (earlier.line == 0 ? "" : " and " + place_text(earlier));
  }
};

struct launch {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t blocks = 0;      // the grid's
  std::uint64_t blocks_run = 0;  // fewer if blocks were sampled
  std::uint64_t barriers = 0;    // instructions of warps that wait for their block
  std::uint64_t uncounted = 0;   // accesses by whole-warp operations such as wmma
  std::vector<line_counts> lines;
  std::vector<finding> findings;
  std::string error;  // how the launch failed after a finding; else empty

  request_counts total(access a) const {
    request_counts sum;
    for (const line_counts& l : lines)
      if (l.kind == a) sum += l.counts;
    return sum;
  }
};

struct analysed {
  kernel_id kernel;
  kzoo::problem problem;
  std::optional<std::vector<launch>> found;  // empty if the analysis failed: see reason
  kzoo::verdict verdict = verdict::pass;
  std::string reason;
};

struct document {
  std::string experiment;  // its file
  std::vector<analysed> cells;
};

// Advice for a line that needs more passes than its bytes do.
std::optional<std::string> advice_on(const line_counts& l);

// The sector or bank of each lane in the line's worst request, a dot if inactive: "0 0 . 1 ...".
std::string picture_of(const line_counts& l);
constexpr const char* picture_unit(access a) { return is_shared(a) ? "banks" : "sectors"; }

// The cost of a warp's request. Rules for shared memory were found on an H200: docs/xray.md.

inline constexpr unsigned kWarp = 32, kSectorBytes = 32, kBanks = 32, kBankBytes = 4;

// An instruction of a warp: the active lanes, and the address at which each accesses `bytes`.
struct warp_access {
  std::uint32_t mask = 0;
  unsigned bytes = 0;
  std::array<std::uint64_t, kWarp> address{};

  bool active(unsigned lane) const { return (mask >> lane & 1) != 0; }
};

struct cost {
  unsigned passes = 0;  // sectors, or wavefronts
  unsigned ideal = 0;   // the fewest for the same bytes
  unsigned bytes = 0;   // distinct bytes
};

cost global_cost(const warp_access& a);
cost shared_cost(const warp_access& a, bool load);

}  // namespace kzoo::xray

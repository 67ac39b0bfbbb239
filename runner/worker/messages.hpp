#pragma once
// The worker protocol: its operations, one list for both ends of the channel, and their arguments
// and replies. session.hpp lists the requests.

#include "core/problem.hpp"
#include "data/contents.hpp"
#include "data/matrix.hpp"
#include "os/enums.hpp"
#include "results/plugin.hpp"
#include "timing/summary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::worker {

KZOO_ENUM(operation, open, supports, prepare, refill, run, sample, sustain, end_to_end, profile,
          copy_result, longest_pause, destroy, free_memory);

// Completes "it crashed while ...".
constexpr std::string_view doing(operation op) {
  constexpr std::array<std::string_view, kAllOf<operation>.size()> kWords{
      "the library was loaded",
      "the variant was asked whether it supports the problem",
      "the variant was created",
      "its matrices were refilled",
      "the kernel ran",
      "the kernel was timed",
      "the kernel ran again and again",
      "it was timed from end to end",
      "the kernel was profiled",
      "its result was copied",
      "pauses of the device were measured",
      "the variant was destroyed",
      "its memory was freed"};
  static_assert(!kWords.back().empty());
  return kWords[static_cast<std::size_t>(op)];
}

struct input_changes {
  data::changes seen;
  // Index of an element that a kernel wrote and restored; -1: none.
  std::int64_t restored = -1;
};

// Memory that a kernel changed although it must not write there.
struct changes {
  std::vector<input_changes> inputs;  // A, B and named_operands()
  data::changes c, workspace;         // c: only around C
  std::uint64_t workspace_bytes = 0;
  std::int64_t between = 0;  // changed words between the allocations
};

// The workspace as a matrix of one row, so that it has redzones too.
inline data::matrix workspace_spec(std::uint64_t bytes) {
  constexpr std::uint64_t kKey = 4;
  const auto words = static_cast<std::int64_t>(bytes / 4 + (bytes % 4 != 0));
  return {KZOO_F32, data::content::poison, 1, words, words, kKey};
}

// The part of C to copy to shared memory, unless its digest is one of `known`.
struct output_request {
  std::vector<std::uint64_t> known;
  bool wanted = true;
  // Only these rows, without padding; if empty, the whole buffer.
  std::vector<std::int64_t> rows;
};

struct output_report {
  std::uint64_t digest = 0;
  bool known = false;
  data::survey survey;  // counts over the whole buffer
};

// A run on new numbers, of this seed, judged on its device (reference/product_check.hpp).
struct judged_report {
  bool right = true;
  std::uint64_t seed = 0;
  std::int64_t row = -1;        // a wrong row; -1: none, but something else may be wrong
  std::int64_t wrong_rows = 0;  // by their weighted sums
  data::survey survey;          // counts over C
  std::vector<std::uint64_t> earlier_seeds;  // seeds of some earlier runs, if this run is wrong
};

struct run_request {
  output_request output;
  bool idle_device = false;  // synchronize the device before and after, whichever stream has the
                             // work
  bool fresh = false;        // with numbers that no run has had before
};

struct run_report {
  changes changed;
  output_report output;  // when the stream had done its work
  judged_report judged;
  bool unfinished = false;                // C changed afterwards
  double ms = 0;                          // the run's time
  std::vector<results::launch> launches;  // empty unless the plugin launches through the SDK
};

// Each sample has fresh numbers. Sampling stops at a wrong result, which C then still holds, and
// below `least_mhz`, so that the device can recover.
struct sample_request {
  int warmup = 0, samples = 1;
  double warmup_seconds = 0;  // at least, if warmup > 0
  double max_seconds = 0;     // for the samples; at least one is taken
  bool hot = false;           // caches as an identical run left them, instead of flushed
  double least_mhz = 0;
};

struct sample_report {
  std::vector<double> samples_ms;
  std::vector<double> sm_mhz;  // each sample's clock; 0: unknown
  double seconds = 0;          // time of all samples, with the time between them
  double warmup_seconds = 0;   // before the first sample
  double total_seconds = 0;    // time of the whole request
  bool cold_cache = false;
  judged_report judged;  // the last sample's
  changes changed;
};

struct sustain_request {
  double seconds = 0;
};

struct sustain_report {
  std::int64_t runs = 0;
  double ms = 0;                              // time of all runs
  double begin_seconds = 0, end_seconds = 0;  // by the machine's steady clock
  judged_report judged;                       // the last run's
  changes changed;
};

// Bytes in use after all matrices have been freed.
struct memory_report {
  std::int64_t host = 0;
  std::int64_t device = 0;  // beyond the use before the first prepare
  std::int64_t device_free = std::numeric_limits<std::int64_t>::max();  // free device memory
  std::string limits;  // changed limits of the device, now restored
  // Set by the client: a process loads code and tables in its first turn, and keeps them.
  bool of_first_turn = false;
};

// How long another process had the device.
struct pause_report {
  double pause_ms = 0;
};

struct end_to_end_report {
  timing::end_to_end times;
  judged_report judged;  // the judgement of the C that was copied back
};

}  // namespace kzoo::worker

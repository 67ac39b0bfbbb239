#pragma once
// What the two sides of a worker say to each other, apart from the requests in session.hpp.

#include "core/matrix_data.hpp"
#include "core/problem.hpp"
#include "results/launch.hpp"
#include "timing/end_to_end.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kzoo::worker {

// What a kernel changed that is not its own to write.
struct changes {
  data::changes a, b, workspace;
  std::uint64_t workspace_bytes = 0;
};

// Scratch memory as a matrix of one row, so that there are zones around it too.
inline data::matrix workspace_spec(std::uint64_t bytes) {
  constexpr std::uint64_t kKey = 4;
  const auto words = static_cast<std::int64_t>(bytes / 4 + (bytes % 4 != 0));
  return {KZOO_F32, data::content::poison, 1, words, words, kKey};
}

// What of C goes into the window, unless its digest is one of `known`.
struct output_request {
  std::vector<std::uint64_t> known;
  bool wanted = true;
  // These rows without padding, and a survey of the rest; if empty, all of the buffer and no
  // survey.
  std::vector<std::int64_t> rows;
};

struct output_report {
  std::uint64_t digest = 0;
  bool known = false;
  data::survey survey;
};

struct run_report {
  changes changed;
  output_report output;
  bool unfinished = false;  // C has changed after everything that is waited for was over
  std::vector<results::launch> launches;  // of plugins that launch through the SDK
};

// Sampling ends early at a result that is not known, so that it can be judged, unless `any_output`;
// and at a sample whose clock is known and below `least_mhz`, so that the device can have a moment.
struct sample_request {
  int warmup = 0, samples = 1;
  double warmup_seconds = 0;  // at least, where there is any warm-up; with compared clocks
  double max_seconds = 0;     // for the samples; one is always taken
  bool hot = false;           // back to back, caches as the run before left them
  bool compare_clocks = false;
  output_request output;
  bool any_output = false;
  double least_mhz = 0;
};

struct sample_report {
  std::vector<double> samples_ms;
  std::vector<double> sm_mhz;  // of each; 0 where it is not known
  double seconds = 0;          // all samples together, with what is between them
  double warmup_seconds = 0;   // what came before them
  bool cold_cache = false;
  output_report output;               // of the last sample
  double host_ms = 0, stream_ms = 0;  // devices::clocks, 0 where there is one clock or nobody asked
  changes changed;
};

struct end_to_end_report {
  timing::end_to_end times;
  output_report output;  // of the C that came back
};

}  // namespace kzoo::worker

#pragma once
// Measures the peaks of a device with microbenchmarks.

#include "microbenchmarks/microbenchmark.hpp"
#include "roofline/peaks.hpp"

namespace kzoo::microbenchmarks {

// After a warmup, in which clocks settle under load, half of the samples are taken back to back, as
// in a loop, and half each after a pause, as short kernels run on a device that has cooled down: a
// peak must hold for both. Until three samples agree on the best, more are taken after pauses, up
// to five times as many in all.
struct schedule {
  double warmup_seconds = 0.3;
  int samples = 10;  // in each half
  double pause_seconds = 0.02;
};

roofline::measured_peak measure(const microbenchmark& b, const schedule& how = {});

// The peaks of a device before any is measured: its name and the facts that they hold for.
roofline::peaks peaks_for(const results::device& d);

}  // namespace kzoo::microbenchmarks

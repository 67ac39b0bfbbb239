#pragma once
// Measures the peaks of a device with microbenchmarks.

#include "microbenchmarks/microbenchmark.hpp"
#include "roofline/peaks.hpp"

namespace kzoo::microbenchmarks {

// After a warm-up, in which clocks settle, takes half of the samples back to back. The other half
// follows pauses, like short kernels on a cooler device: a peak must hold for both. Takes more
// after pauses, up to five times as many in all, until three agree on the best.
struct schedule {
  double warmup_seconds = 0.3;
  int samples = 10;  // in each half
  double pause_seconds = 0.02;
};

roofline::measured_peak measure(const microbenchmark& b, const schedule& how = {});

// A device's peaks before any measurement: its name and the facts under which they hold.
roofline::peaks peaks_for(const results::device& d);

}  // namespace kzoo::microbenchmarks

#pragma once
// From kernels that keep a device busy to its ceilings.

#include "microbenchmarks/microbenchmark.hpp"
#include "roofline/peaks.hpp"

namespace kzoo::microbenchmarks {

// Clocks have to settle under the load, and then half of the samples come back to back, as in a
// loop, and half each after a pause, as short kernels find a device that has cooled down: a ceiling
// must be above both. Until three samples agree on the best there are more of the latter, up to
// five times as many in all.
struct schedule {
  double warmup_seconds = 0.3;
  int samples = 10;  // of each half
  double pause_seconds = 0.02;
};

roofline::measured_peak measure(const microbenchmark& l, const schedule& how = {});

// Of a device, nothing measured yet: its name, and what else they hold for.
roofline::peaks peaks_for(const results::device& d);

}  // namespace kzoo::microbenchmarks

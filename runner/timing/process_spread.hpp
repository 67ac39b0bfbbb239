#pragma once
// How much the time of a kernel differs from process to process. Part of a time is fixed when a
// process starts, by where its code and its context are in memory, for example; rounds in one
// process cannot show it. It is measured once per device, with one product in many processes.

#include "timing/bootstrap.hpp"

#include <vector>

namespace kzoo::timing {

// The standard deviation of a median between processes: sqrt(ms^2 + (share * median)^2).
struct process_spread {
  double ms = 0;     // the same for kernels of any duration
  double share = 0;  // in proportion to the duration
};

double deviation(const process_spread& s, double median_ms);

// One process's median of a kernel, and what the scatter of its rounds makes of that median.
struct process_median {
  double ms = 0, standard_error = 0;
};

// From medians by kernel, then by process in the order in which they ran, of at least two
// processes: the upper ends of the 90 % intervals of `ms` and of `share`, by their likelihood
// (Wilks 1938).
process_spread fit(const std::vector<std::vector<process_median>>& kernels);

// The same ratio of two medians, measured in two processes, with the spread in its interval.
ratio widened(const ratio& r, const summary& a, const summary& b, const process_spread& s);

}  // namespace kzoo::timing

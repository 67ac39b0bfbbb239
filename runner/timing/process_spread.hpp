#pragma once
// How much a kernel's time differs between processes. Part of a time is fixed at process start,
// e.g. by the addresses of code and context, so rounds in one process cannot show it. It is
// measured once per device, with one GEMM in many processes.

#include "timing/bootstrap.hpp"

#include <vector>

namespace kzoo::timing {

// The standard deviation of a median between processes: sqrt(ms^2 + (share * median)^2).
struct process_spread {
  double ms = 0;     // the same for kernels of any duration
  double share = 0;  // in proportion to the duration
};

double deviation(const process_spread& s, double median_ms);

// A process's median of a kernel, and its standard error from the scatter of rounds.
struct process_median {
  double ms = 0, standard_error = 0;
};

// Fits medians by kernel, then by process in running order, of at least two processes. Returns the
// upper ends of the 90 % intervals of `ms` and `share`, by their likelihood (Wilks 1938).
process_spread fit(const std::vector<std::vector<process_median>>& kernels);

// The ratio of two medians from two processes, with the spread added to its interval.
ratio widened(const ratio& r, const summary& a, const summary& b, const process_spread& s);

}  // namespace kzoo::timing

#pragma once
// How much a kernel's time differs between processes. Part of a time is fixed at process start,
// e.g. by the addresses of code and context, so rounds in one process cannot show it. It is
// measured once per device, with one GEMM in many processes.

#include "timing/bootstrap.hpp"
#include "timing/summary.hpp"

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

// Whether `a` is certainly slower than `fastest`: the interval of their ratio within common rounds
// lies above 1 + `margin`. False before there is an interval. `between`: differences between
// processes, if the two run in processes of their own.
//
// The question is repeated after each round, so chance has several tries. The margin makes it safe:
// an equally fast kernel is excluded only if its interval is wrong by more than the margin, and a
// kernel within the margin never.
bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between);

}  // namespace kzoo::timing

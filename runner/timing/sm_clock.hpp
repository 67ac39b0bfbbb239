#pragma once
// The clock that multiprocessors ran at, from what each of them read before and after some work.

#include <span>

namespace kzoo::timing {

// One multiprocessor at one moment; all 0 where it was not read.
struct clock_stamp {
  unsigned long long cycles = 0;       // of its own clock
  unsigned long long nanoseconds = 0;  // of the GPU's timer
};

// Whole MHz: the median over the multiprocessors that are in both, which have the same places in
// both. 0 where the timer, which advances by `tick` nanoseconds, is too coarse for so short a time.
double sm_clock_mhz(std::span<const clock_stamp> before, std::span<const clock_stamp> after,
                    unsigned long long tick);

}  // namespace kzoo::timing

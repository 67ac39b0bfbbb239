#pragma once
// The SM clock during some work, from two counters that each SM reads before and after it.

#include <span>

namespace kzoo::timing {

// The counters of one SM at one moment; all 0: not read.
struct clock_stamp {
  unsigned long long cycles = 0;       // the SM's cycle counter, clock64()
  unsigned long long nanoseconds = 0;  // the GPU's timer, %globaltimer
};

// The median in whole MHz over SMs that were read both times; an index is one SM in both spans. 0
// if the time is too short for the timer, which advances by `tick` nanoseconds.
double sm_clock_mhz(std::span<const clock_stamp> before, std::span<const clock_stamp> after,
                    unsigned long long tick);

}  // namespace kzoo::timing

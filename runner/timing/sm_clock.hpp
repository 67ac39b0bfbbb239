#pragma once
// The SM clock during some work, and samples that a low clock spoils.

#include <span>

namespace kzoo::timing {

// The counters of one SM at one moment, before or after some work; all 0: not read.
struct clock_stamp {
  unsigned long long cycles = 0;       // the SM's cycle counter, clock64()
  unsigned long long nanoseconds = 0;  // the GPU's timer, %globaltimer
};

// The median in whole MHz over SMs that were read both times; an index is one SM in both spans. 0
// if the time is too short for the timer, which advances by `tick` nanoseconds.
double sm_clock_mhz(std::span<const clock_stamp> before, std::span<const clock_stamp> after,
                    unsigned long long tick);

// A sample's conditions.
struct sample_state {
  double sm_mhz = 0;          // 0: unknown
  bool slowed_down = false;   // by the hardware, or by the driver for the temperature
  bool power_capped = false;  // at the power limit, which is normal for a large problem
};

// Below this share of the highest clock a sample is throttled.
inline constexpr double kLeastClockShare = 0.75;
bool is_throttled(const sample_state& s, double highest_mhz);

// Filters the samples of one cell as they arrive. Discards samples of a GPU that was slowed down by
// its temperature or lack of external power, but at most half as many as are wanted: a device that
// does not recover is measured as it is.
class throttle_filter {
 public:
  // `highest_mhz`: of the device; 0: unknown.
  throttle_filter(double highest_mhz, int wanted)
      : highest_mhz_(highest_mhz), most_discarded_(wanted / 2) {}

  // Whether the sample counts. If not, pause to let the device recover.
  bool accepts(const sample_state& s);
  // Discards nothing from now on.
  void accept_all() { most_discarded_ = discarded_; }

  // Samples below this clock in MHz may be discarded; 0: none.
  double least_mhz() const { return may_discard() ? kLeastClockShare * highest_mhz_ : 0; }
  int discarded() const { return discarded_; }
  // Whether accepted samples include throttled ones.
  bool low_clock() const { return low_clock_; }

 private:
  bool may_discard() const { return discarded_ < most_discarded_; }

  double highest_mhz_;
  int most_discarded_;
  int discarded_ = 0;
  bool low_clock_ = false;
};

}  // namespace kzoo::timing

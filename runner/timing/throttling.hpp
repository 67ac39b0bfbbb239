#pragma once
// Which samples of a GPU count: those that it took at a clock that is the kernel's own, and not
// while it was held back for heat or want of power from outside.

namespace kzoo::timing {

// What is known of one sample besides its time.
struct sample_state {
  double sm_mhz = 0;          // 0: not known
  bool slowed_down = false;   // by the hardware, or for the temperature's sake
  bool power_capped = false;  // by the power limit: a large problem's own doing
};

// Below this share of the highest clock a sample is throttled.
inline constexpr double kLeastClockShare = 0.75;
bool is_throttled(const sample_state& s, double highest_mhz);

// Takes the samples of one cell as they come. It discards throttled ones up to half of the number
// wanted: a device that does not recover is measured as it is.
class throttle_filter {
 public:
  // `highest_mhz` is what the device may reach; 0: not known.
  throttle_filter(double highest_mhz, int wanted)
      : highest_mhz_(highest_mhz), most_discarded_(wanted / 2) {}

  // Whether the sample counts. After one that does not, the device should have a moment.
  bool accepts(const sample_state& s);
  // Discards nothing from now on.
  void accept_all() { most_discarded_ = discarded_; }

  // A sample at a clock below this one, MHz, may be discarded; 0: none is.
  double least_mhz() const { return patient() ? kLeastClockShare * highest_mhz_ : 0; }
  int discarded() const { return discarded_; }
  // Some that count are throttled.
  bool low_clock() const { return low_clock_; }

 private:
  bool patient() const { return discarded_ < most_discarded_; }

  double highest_mhz_;
  int most_discarded_;
  int discarded_ = 0;
  bool low_clock_ = false;
};

}  // namespace kzoo::timing

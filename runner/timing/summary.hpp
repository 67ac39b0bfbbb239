#pragma once
// Statistics of the samples of one cell.

#include "timing/packed.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::timing {

// What kind of time was measured. `simulator` is the duration of the simulation and says nothing
// about a GPU.
enum class clock { gpu, cpu, simulator };
inline constexpr std::array kClocks{clock::gpu, clock::cpu, clock::simulator};
std::string_view clock_name(clock c);

// What the device's caches held when a sample began. cold: none of the operands (flushed); warm:
// not controlled; hot: what an identical run just before had left.
enum class caches { cold, warm, hot };
inline constexpr std::array kCaches{caches::cold, caches::warm, caches::hot};
std::string_view caches_name(caches c);

// Why no further turns were taken: the time is known as precisely as was asked for; the cell's own
// time limit; another kernel is faster beyond doubt; the time limit of the whole run.
enum class stop { precise, out_of_time, slower, budget };
inline constexpr std::array kStops{stop::precise, stop::out_of_time, stop::slower, stop::budget};
std::string_view stop_name(stop s);

struct summary {
  packed_numbers samples_ms;  // in the order taken
  packed_integers rounds;     // of each sample, ascending
  packed_numbers sm_mhz;      // SM clock of each sample, 0: not known; empty: none is known
  int throttled = 0;          // samples that were discarded: timing/throttling.hpp
  bool low_clock = false;     // some of the samples that count are throttled too
  double median_ms = 0, min_ms = 0;
  double spread = 0;  // interquartile range over the median
  // Half the width of the median's 95 % confidence interval, over the median; NaN with too few
  // rounds for an interval.
  double relative_half_width = std::numeric_limits<double>::quiet_NaN();
  timing::clock clock = timing::clock::gpu;
  timing::caches caches = timing::caches::warm;
  timing::stop stopped = stop::precise;

  // It is known less well than others of its problem: to be said wherever it is shown.
  bool stopped_early() const { return stopped == stop::slower || stopped == stop::budget; }
};

// Interpolates linearly between the two nearest ranks (Hyndman and Fan 1996, definition 7). The
// values are ascending and not empty.
double quantile(const std::vector<double>& sorted, double q);
// The 0.5 quantile of samples in any order, at least one; it reorders them.
double median(std::vector<double>& samples);

// The median SM clock of the samples whose clock is known; 0: of none.
double median_mhz(const summary& s);

// The samples of one round, as their median.
struct turn {
  int round;
  double median_ms;
};
std::vector<turn> turns(const summary& s);

// `samples_ms` must not be empty; `rounds` has as many, ascending.
summary summarise(const std::vector<double>& samples_ms, const std::vector<int>& rounds);
// All of that but relative_half_width, which alone takes more than a sort.
summary summarise_without_interval(const std::vector<double>& samples_ms,
                                   const std::vector<int>& rounds);
}  // namespace kzoo::timing

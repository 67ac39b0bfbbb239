#pragma once
// Statistics of the samples of one cell.

#include "timing/packed.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::timing {

// The measured time. `simulator`: the simulation's duration, which says nothing about a GPU.
enum class clock { gpu, cpu, simulator };
inline constexpr std::array kClocks{clock::gpu, clock::cpu, clock::simulator};
std::string_view clock_name(clock c);

// The device's caches when a sample began. cold: without operands (flushed); warm: not controlled;
// hot: as an identical run had just left them.
enum class caches { cold, warm, hot };
inline constexpr std::array kCaches{caches::cold, caches::warm, caches::hot};
std::string_view caches_name(caches c);

// Why no further turns were taken: the requested precision was reached; the cell's time limit;
// another kernel is certainly faster; the whole run's time limit.
enum class stop { precise, out_of_time, slower, budget };
inline constexpr std::array kStops{stop::precise, stop::out_of_time, stop::slower, stop::budget};
std::string_view stop_name(stop s);

struct summary {
  packed_numbers samples_ms;  // in the order taken
  packed_integers rounds;     // of each sample, ascending
  packed_numbers sm_mhz;      // of each sample, 0: unknown; empty: none is known
  int throttled = 0;          // discarded samples: timing/throttling.hpp
  bool low_clock = false;     // some counted samples are throttled too
  double median_ms = 0, min_ms = 0;
  double spread = 0;  // interquartile range over the median
  // Half the median's 95 % confidence interval over the median; NaN with too few rounds.
  double relative_half_width = std::numeric_limits<double>::quiet_NaN();
  timing::clock clock = timing::clock::gpu;
  timing::caches caches = timing::caches::warm;
  timing::stop stopped = stop::precise;

  // Less precise than other cells of its problem, which every display must show.
  bool stopped_early() const { return stopped == stop::slower || stopped == stop::budget; }
};

// Interpolates linearly between the two nearest ranks (Hyndman and Fan 1996, definition 7).
// `sorted` must be ascending and not empty.
double quantile(const std::vector<double>& sorted, double q);
// The 0.5 quantile of samples in any order, at least one; it reorders them.
double median(std::vector<double>& samples);

// The median SM clock of the samples with a known clock; 0: none.
double median_mhz(const summary& s);

// The median of one round's samples.
struct turn {
  int round;
  double median_ms;
};
std::vector<turn> turns(const summary& s);

// `samples_ms` must not be empty; `rounds` has as many elements, ascending.
summary summarise(const std::vector<double>& samples_ms, const std::vector<int>& rounds);
// Like summarise(), but without relative_half_width, which takes more than a sort.
summary summarise_without_interval(const std::vector<double>& samples_ms,
                                   const std::vector<int>& rounds);
}  // namespace kzoo::timing

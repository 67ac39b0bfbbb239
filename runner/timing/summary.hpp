#pragma once
// What a list of samples says.

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::timing {

// Whose time it is. `simulator` says how long the simulation took and nothing about a GPU.
enum class clock { gpu, cpu, simulator };
inline constexpr std::array kClocks{clock::gpu, clock::cpu, clock::simulator};
std::string_view clock_name(clock c);

// What the device's caches held when a sample began: nothing of the operands (flushed), whatever
// there was, or what a run just before had left (back to back).
enum class caches { cold, warm, hot };
inline constexpr std::array kCaches{caches::cold, caches::warm, caches::hot};
std::string_view caches_name(caches c);

struct summary {
  std::vector<double> samples_ms;  // in the order taken
  std::vector<int> rounds;         // of each sample, ascending
  std::vector<double> sm_mhz;      // of each, 0 where it is not known; empty where none is
  int throttled = 0;               // samples that were discarded: timing/throttling.hpp
  bool low_clock = false;          // some of those that count are throttled too
  double median_ms = 0, min_ms = 0;
  double spread = 0;  // interquartile range over the median
  // Half the 95 % interval of the median, over the median; NaN with too few rounds for one.
  double relative_half_width = std::numeric_limits<double>::quiet_NaN();
  timing::clock clock = timing::clock::gpu;
  timing::caches caches = timing::caches::warm;
  bool out_of_time = false;  // the time limit ended it, before all rounds or with too much noise
};

// Between the two nearest ranks, linearly (Hyndman and Fan 1996, definition 7). Not empty, sorted.
double quantile(const std::vector<double>& sorted, double q);
// quantile(0.5) of samples in any order, which it changes.
double median(std::vector<double>& samples);

// Of the multiprocessors, over the samples where it is known; 0 where there are none.
double median_mhz(const summary& s);

// What one round has of it: the median of its samples.
struct turn {
  int round;
  double median_ms;
};
std::vector<turn> turns(const summary& s);

// `samples_ms` must not be empty; `rounds` has as many, ascending.
summary summarise(std::vector<double> samples_ms, std::vector<int> rounds);

}  // namespace kzoo::timing

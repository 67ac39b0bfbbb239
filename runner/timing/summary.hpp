#pragma once
// What a list of samples says.

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::timing {

// Whose time it is. `simulator` says how long the simulation took and nothing about a GPU.
enum class clock { gpu, cpu, simulator };
inline constexpr std::array kClocks{clock::gpu, clock::cpu, clock::simulator};
std::string_view clock_name(clock c);

struct summary {
  std::vector<double> samples_ms;  // in the order taken
  std::vector<double> sm_mhz;      // of each, 0 where it is not known; empty where none is
  int throttled = 0;               // samples that were discarded: timing/throttling.hpp
  bool low_clock = false;          // some of those that count are throttled too
  double median_ms = 0, min_ms = 0;
  double spread = 0;  // interquartile range over the median
  timing::clock clock = timing::clock::gpu;
  bool cold_cache = false;
  bool out_of_time = false;  // the time limit ended it, not the number of samples
};

// Between the two nearest ranks, linearly (Hyndman and Fan 1996, definition 7). Not empty, sorted.
double quantile(const std::vector<double>& sorted, double q);
// quantile(0.5) of samples in any order, which it changes.
double median(std::vector<double>& samples);

// Of the multiprocessors, over the samples where it is known; 0 where there are none.
double median_mhz(const summary& s);

// `samples_ms` must not be empty.
summary summarise(std::vector<double> samples_ms);

}  // namespace kzoo::timing

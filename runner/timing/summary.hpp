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
  double median_ms = 0, min_ms = 0;
  double spread = 0;  // interquartile range over the median
  timing::clock clock = timing::clock::gpu;
  bool cold_cache = false;
  bool out_of_time = false;  // the time limit ended it, not the number of samples
};

// `samples_ms` must not be empty.
summary summarise(std::vector<double> samples_ms);

}  // namespace kzoo::timing

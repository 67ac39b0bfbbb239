
#include "results/experiment.hpp"

namespace kzoo::results {

std::string_view axis_name(pivot_axis a) {
  constexpr std::array<std::string_view, kPivotAxes.size()> kNames{
      "m", "n", "k", "shape", "dtype", "layout", "batch", "problem", "plugin", "variant", "kernel"};
  return kNames[static_cast<std::size_t>(a)];
}

std::string_view value_name(pivot_value v) {
  constexpr std::array<std::string_view, kPivotValues.size()> kNames{"ms", "gflops", "speedup",
                                                                     "error"};
  return kNames[static_cast<std::size_t>(v)];
}

std::string_view power_mode_name(power_mode m) {
  constexpr std::array<std::string_view, kPowerModes.size()> kNames{"burst", "sustained", "both"};
  return kNames[static_cast<std::size_t>(m)];
}

std::string_view mode_name(cache_mode m) {
  constexpr std::array<std::string_view, kCacheModes.size()> kNames{"cold", "hot", "both"};
  return kNames[static_cast<std::size_t>(m)];
}

std::string_view impossible_time_name(impossible_time i) {
  return i == impossible_time::refuse ? "refuse" : "report";
}

}  // namespace kzoo::results

// The names of enumerators in experiment files.

#include "results/experiment.hpp"

namespace kzoo::results {

std::string_view axis_name(pivot_axis a) {
  switch (a) {
    case pivot_axis::m:
      return "m";
    case pivot_axis::n:
      return "n";
    case pivot_axis::k:
      return "k";
    case pivot_axis::shape:
      return "shape";
    case pivot_axis::dtype:
      return "dtype";
    case pivot_axis::layout:
      return "layout";
    case pivot_axis::batch:
      return "batch";
    case pivot_axis::problem:
      return "problem";
    case pivot_axis::plugin:
      return "plugin";
    case pivot_axis::variant:
      return "variant";
    case pivot_axis::kernel:
      return "kernel";
  }
  return "?";
}

std::string_view value_name(pivot_value v) {
  switch (v) {
    case pivot_value::ms:
      return "ms";
    case pivot_value::gflops:
      return "gflops";
    case pivot_value::speedup:
      return "speedup";
    case pivot_value::error:
      return "error";
  }
  return "?";
}

std::string_view power_mode_name(power_mode m) {
  constexpr std::array<std::string_view, kPowerModes.size()> kNames{"burst", "sustained", "both"};
  return kNames[static_cast<std::size_t>(m)];
}

std::string_view mode_name(cache_mode m) {
  switch (m) {
    case cache_mode::cold:
      return "cold";
    case cache_mode::hot:
      return "hot";
    case cache_mode::both:
      return "both";
  }
  return "?";
}

std::string_view impossible_time_name(impossible_time i) {
  return i == impossible_time::refuse ? "refuse" : "report";
}

}  // namespace kzoo::results

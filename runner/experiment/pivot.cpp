// The words of [pivot].

#include "experiment/experiment.hpp"

namespace kzoo::experiment {

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
  }
  return "?";
}

}  // namespace kzoo::experiment

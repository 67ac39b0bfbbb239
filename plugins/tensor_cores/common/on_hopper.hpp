#pragma once
// The base of variants that are built for sm_90a: wgmma, TMA and clusters.

#include <kzoo/plugin.hpp>

namespace common {

struct on_hopper {
  static constexpr unsigned compute_capability = 90;

  static const char* supports(const kzoo_device& d) {
    return d.kind == KZOO_CPU || d.compute_capability == 90
               ? nullptr
               : "it is built for sm_90a, which runs on sm_90 alone";
  }
};

}  // namespace common

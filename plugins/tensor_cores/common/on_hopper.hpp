#pragma once
// The base of variants that are built for sm_90a: wgmma, TMA and clusters.

#include <kzoo/abi.h>

namespace common {

struct on_hopper {
  static constexpr unsigned compute_capability = 90;
  static constexpr const char* not_simulated = "it uses wgmma, which the simulator does not have";

  static const char* supports(const kzoo_device& d) {
    return d.compute_capability == 90 ? nullptr
                                      : "it is built for sm_90a, which runs on sm_90 alone";
  }
};

}  // namespace common

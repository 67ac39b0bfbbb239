#pragma once
// What the model knows about an architecture.

#include <kzoo/abi.h>

#include <array>

namespace dispatch {

struct architecture {
  unsigned compute_capability;
  double cycles_per_us;      // at the highest clock
  double fmas_per_cycle;     // of an SM
  double l2_bytes_per_us;    // of all SMs together
  double dram_bytes_per_us;  // read
  double copy_bytes_per_us;  // read and written
  double launch_us;          // from one launch to the end of the next, of nothing
  double start_us;           // until a block's first bytes are there
  double fixup_us;           // from a block's last FMA to a sum of parts, stored

  // Of the FMAs that an SM could do, those that a tile's main loop reaches with enough warps: the
  // share of FMAs among its instructions, times how often the schedulers issue one.
  std::array<double, 6> tile_efficiency;  // in the order of tiles.hpp
  double ragged;                          // times this, where tiles are copied 4 bytes at a time
  double half_the_warps;                  // times this, with one warp on each scheduler

  // Instructions of a warp for 2 KB of skinny's large operand, with 1, 4, 8 and 16 rows: in strips,
  // and along K.
  std::array<double, 4> strips_instructions, dots_instructions;

  // split_fp16: its product on all SMs, the pass before it, and what both launches take with
  // nothing to do.
  double split_flops_per_us, split_pass_bytes_per_us, split_us;
  double general_step_us;  // 16 steps along K of every_type's smem, with SMs full
};

// One H200. Measured there: cycles, L2, DRAM and copies (peaks), launch, the large tile and
// split_fp16 (docs/measured). Counted in machine code: the other tiles, ragged, instructions; each
// tile's schedulers are taken to issue as often as the large one's. Estimated: the rest.
inline constexpr architecture kHopper{.compute_capability = 90,
                                      .cycles_per_us = 1980,
                                      .fmas_per_cycle = 128,
                                      .l2_bytes_per_us = 5.5e6,
                                      .dram_bytes_per_us = 4.6e6,
                                      .copy_bytes_per_us = 4.2e6,
                                      .launch_us = 2.5,
                                      .start_us = 1.2,
                                      .fixup_us = 1.5,
                                      .tile_efficiency = {0.81, 0.79, 0.77, 0.77, 0.71, 0.55},
                                      .ragged = 0.97,
                                      .half_the_warps = 0.7,
                                      .strips_instructions = {73, 126, 201, 347},
                                      .dots_instructions = {100, 170, 260, 470},
                                      .split_flops_per_us = 260e6,
                                      .split_pass_bytes_per_us = 3e6,
                                      .split_us = 18,
                                      .general_step_us = 1.5};

// Of a device; null where there is none.
inline const architecture* architecture_of(const kzoo_device& d) {
  return d.kind == KZOO_CPU || d.compute_capability == kHopper.compute_capability ? &kHopper
                                                                                  : nullptr;
}

// The simulator has no speed to model. There, what is chosen is what a GPU with 132 SMs would get,
// on any machine.
inline kzoo_device modelled(kzoo_device d) {
  constexpr unsigned kSms = 132;
  if (d.kind == KZOO_CPU) d.threads = kSms;
  return d;
}

}  // namespace dispatch

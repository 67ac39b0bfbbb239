#pragma once
// What the model knows about an architecture.

#include <kzoo/abi.h>

#include <array>
#include <cstdint>

namespace dispatch {

struct architecture {
  unsigned compute_capability;
  double cycles_per_us;         // at the highest clock
  double fmas_per_cycle;        // of an SM
  double l2_bytes_per_us;       // of all SMs together
  double dram_bytes_per_us;     // read
  double a_bytes_per_us;        // A, of which each tile copies its rows 4 bytes at a time
  double a_again_bytes_per_us;  // the same, by the tiles of further columns
  double copy_bytes_per_us;     // read and written
  double copy_us;               // of its launch, until its first bytes are there
  double launch_us;             // from one launch to the end of the next, of nothing
  double start_us;              // beside the launch: until the first FMA, and from the last to C
  double wave_us;               // the same for each further tile of a block
  double fixup_us;              // from a block's last FMA to a sum of parts, stored
  double part_us;            // at least, for the parts that a block reads at a time to add them up
  double part_bytes_per_us;  // as it reads them

  // Of the FMAs that an SM could do, those that a tile's main loop reaches with enough warps.
  std::array<double, 6> tile_efficiency;  // in the order of tiles.hpp
  double pipelined_efficiency;
  std::array<double, 6> alone;   // times this, where an SM has one block and could have more
  std::array<double, 6> ragged;  // times this, where tiles are copied 4 bytes at a time
  double overhang;  // a ragged tile with all its columns past the edge takes so much longer
  // Elements of C that an SM stores one by one.
  std::array<double, 6> elements_per_us;

  // An SM's time for 2 KB of skinny's large operand, with 1, 4, 8 and 16 rows: in strips, and
  // along K.
  std::array<double, 4> strips_us, dots_us;
  double ragged_stages;                 // times this, where they are copied 4 bytes at a time
  std::array<double, 4> stage_sums_us;  // for each part of K, to add it up
  double beside_us;                     // a launch of it beside others

  // split_fp16: its product on all SMs, the pass before it, and what both launches take with
  // nothing to do.
  double split_flops_per_us, split_pass_bytes_per_us, split_us;
  double split_share_us;             // for each further cluster that shares a tile
  double split_stored_bytes_per_us;  // of C
  double general_us;                 // start_us of every_type's smem
  double general_step_us;            // 16 steps along K of its block, at least
  double general_block_us;           // for each that shares the SM
};

// Measured on an H200: cycles, L2, DRAM (peaks), launch. Fitted to times of candidates on an H200,
// 1000 on 108 problems: tiles, what their blocks take beside FMAs, copies, skinny, the general
// kernel. Tiles are predicted within 10 %, skinny within 14 % (root mean square). Fitted to
// split_fp16 on 29 problems, within 20 %: its constants.
inline constexpr architecture kHopper{.compute_capability = 90,
                                      .cycles_per_us = 1980,
                                      .fmas_per_cycle = 128,
                                      .l2_bytes_per_us = 5.5e6,
                                      .dram_bytes_per_us = 4.6e6,
                                      .a_bytes_per_us = 1.97e6,
                                      .a_again_bytes_per_us = 3.05e6,
                                      .copy_bytes_per_us = 3.45e6,
                                      .copy_us = 1.27,
                                      .launch_us = 2.5,
                                      .start_us = 4.05,
                                      .wave_us = 3.1,
                                      .fixup_us = 2.45,
                                      .part_us = 1.1,
                                      .part_bytes_per_us = 0.0945e6,
                                      .tile_efficiency = {0.748, 0.759, 0.755, 0.745, 0.653, 0.525},
                                      .pipelined_efficiency = 0.81,
                                      .alone = {1, 0.52, 1, 0.90, 0.925, 0.955},
                                      .ragged = {0.89, 0.95, 0.935, 0.945, 0.96, 0.90},
                                      .overhang = 0.82,
                                      .elements_per_us = {1850, 1950, 2900, 3250, 3950, 4800},
                                      .strips_us = {0.042, 0.063, 0.0705, 0.118},
                                      .dots_us = {0.043, 0.0615, 0.094, 0.122},
                                      .ragged_stages = 1.4,
                                      .stage_sums_us = {0.040, 0.047, 0.059, 0.128},
                                      .beside_us = 1.35,
                                      .split_flops_per_us = 260e6,
                                      .split_pass_bytes_per_us = 3.7e6,
                                      .split_us = 15,
                                      .split_share_us = 1.3,
                                      .split_stored_bytes_per_us = 1.7e6,
                                      .general_us = 1.45,
                                      .general_step_us = 0.6,
                                      .general_block_us = 0.175};

// Of a device; null where there is none.
inline const architecture* architecture_of(const kzoo_device& d) {
  return d.kind == KZOO_CPU || d.compute_capability == kHopper.compute_capability ? &kHopper
                                                                                  : nullptr;
}

// Where the products of a batch do not all start on 16 bytes, as if none did.
inline kzoo_problem modelled(kzoo_problem p) {
  const auto is_vector = [](std::int64_t stride) { return stride % 4 == 0; };
  if (p.batch > 1 && !(is_vector(p.stride_a) && is_vector(p.stride_b) && is_vector(p.stride_c)))
    p.alignment = sizeof(float);
  return p;
}

// The simulator has no speed to model. There, what is chosen is what a GPU with 132 SMs would get,
// on any machine.
inline kzoo_device modelled(kzoo_device d) {
  constexpr unsigned kSms = 132;
  if (d.kind == KZOO_CPU) d.threads = kSms;
  return d;
}

}  // namespace dispatch

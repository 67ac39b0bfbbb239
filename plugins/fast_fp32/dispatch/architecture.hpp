#pragma once
// What the model knows about an architecture.

#include <kzoo/cuda.hpp>

#include <array>
#include <cstdint>
#include <optional>

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
  double apart_us, apart_bytes_per_us;  // the same in a second launch, by all SMs

  // Of the FMAs that an SM could do, those that a tile's main loop reaches with enough warps.
  std::array<double, 12> tile_efficiency;  // in the order of tiles.hpp
  double pipelined_efficiency;
  std::array<double, 12> alone;   // times this, where an SM has one block and could have more
  std::array<double, 12> ragged;  // times this, where an operand is copied 4 bytes at a time
  double stored_bytes_per_us;     // of C, by an SM
  // Elements of C that an SM stores one by one.
  std::array<double, 12> elements_per_us;

  // An SM's time for 2 KB of skinny's large operand, with 1, 4, 8 and 16 rows: in strips, and
  // along K.
  std::array<double, 4> strips_us, dots_us;
  std::array<double, 4> block_us;       // start and end of a block of it
  double ragged_stages;                 // times this, where they are copied 4 bytes at a time
  std::array<double, 4> stage_sums_us;  // for each part of K, to add it up
  double beside_us;                     // a launch of it beside others

  // split_fp16: its product on all SMs, the pass before it, and what both launches take with
  // nothing to do.
  double split_flops_per_us, split_pass_bytes_per_us, split_us;
  double split_share_us;             // for each further cluster that shares a tile
  double split_stored_bytes_per_us;  // of C
  double split_ragged_bytes_per_us;  // of C, where its rows do not start on 16 bytes
  // rolled's tiles: start_us; a k tile, alone and for each block that shares the SM.
  std::array<double, 5> rolled_us, rolled_alone_us, rolled_each_us;
  double rolled_wave_us;                   // wave_us
  double rolled_fixup_us, rolled_part_us;  // to add up parts: at least, and for each
  double general_us;                       // start_us of every_type's smem
  double general_step_us;                  // 16 steps along K of its block, at least
  double general_block_us;                 // for each that shares the SM
};

// Measured on an H200: cycles, L2, DRAM (peaks). Fitted to times of candidates on H200s, first
// 13000 on 460 problems, then, near the constants of that fit, 7400 on 200 that were drawn at
// random, then 9800 on 400 others: what blocks of tiles take beside FMAs, copies, skinny, rolled,
// the general kernel. From times of split_fp16: its constants.
inline constexpr architecture kHopper{
    .compute_capability = 90,
    .cycles_per_us = 1980,
    .fmas_per_cycle = 128,
    .l2_bytes_per_us = 5.5e6,
    .dram_bytes_per_us = 4.6e6,
    .a_bytes_per_us = 1.81e6,
    .a_again_bytes_per_us = 3.17e6,
    .copy_bytes_per_us = 3.5e6,
    .copy_us = 1.63,
    .launch_us = 2.27,
    .start_us = 3.49,
    .wave_us = 1.02,
    .fixup_us = 2.85,
    .part_us = 0.618,
    .part_bytes_per_us = 32.5e3,
    .apart_us = 4.94,
    .apart_bytes_per_us = 3.78e6,
    .tile_efficiency = {0.804, 0.809, 0.765, 0.745, 0.64, 0.526, 0.758, 0.77, 0.671, 0.631, 0.645,
                        0.713},
    .pipelined_efficiency = 0.84,
    .alone = {1, 0.407, 1, 0.934, 1, 0.94, 0.962, 0.911, 0.906, 0.707, 0.862, 0.85},
    .ragged = {0.994, 0.999, 0.984, 0.976, 0.989, 0.966, 0.983, 0.984, 1, 0.981, 0.999, 0.941},
    .stored_bytes_per_us = 37.9e3,
    .elements_per_us = {12.7e3, 11.9e3, 7.97e+03, 9.59e3, 128e3, 164e3, 22e3, 29.7e3, 54.5e3,
                        57.6e3, 34.5e3, 62.4e3},
    .strips_us = {0.0365, 0.0444, 0.0475, 0.074},
    .dots_us = {0.0527, 0.0639, 0.0492, 0.103},
    .block_us = {0.0474, 0.00365, 0.424, 1.17},
    .ragged_stages = 1.53,
    .stage_sums_us = {0.00341, 0.0659, 0.0783, 0.19},
    .beside_us = 1.49,
    .split_flops_per_us = 260e6,
    .split_pass_bytes_per_us = 3.7e6,
    .split_us = 20,
    .split_share_us = 1.3,
    .split_stored_bytes_per_us = 1.4e6,
    .split_ragged_bytes_per_us = 0.45e6,
    .rolled_us = {2.22, 2.18, 2.08, 2.53, 2.36},
    .rolled_alone_us = {0.657, 0.639, 0.402, 0.533, 0.353},
    .rolled_each_us = {0.529, 0.638, 0.357, 0.31, 0.145},
    .rolled_wave_us = 0.803,
    .rolled_fixup_us = 2.03,
    .rolled_part_us = 0.123,
    .general_us = 1.54,
    .general_step_us = 0.586,
    .general_block_us = 0.187};

// Of a device; nothing where there is none. GPUs of one architecture differ in their memory.
inline std::optional<architecture> architecture_of(const kzoo_device& d) {
  if (d.kind != KZOO_CPU && d.compute_capability != kHopper.compute_capability) return std::nullopt;
  architecture of = kHopper;
#ifdef KZOO_REAL_CUDA
  constexpr double kReached = 0.94;  // of the data sheet's bandwidth, on an H200
  int khz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, d.ordinal) == cudaSuccess &&
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, d.ordinal) == cudaSuccess &&
      khz > 0 && bits > 0)
    of.dram_bytes_per_us = kReached * 2e-3 * khz * bits / 8;  // two transfers in a clock
#endif
  return of;
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

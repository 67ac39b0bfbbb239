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

  // Of the FMAs that an SM could do, those that a tile's main loop reaches with enough warps.
  std::array<double, 8> tile_efficiency;  // in the order of tiles.hpp
  double pipelined_efficiency;
  std::array<double, 8> alone;   // times this, where an SM has one block and could have more
  std::array<double, 8> ragged;  // times this, where tiles are copied 4 bytes at a time
  double overhang;  // a ragged tile with all its columns past the edge takes so much longer
  double stored_bytes_per_us;  // of C, by an SM
  // Elements of C that an SM stores one by one.
  std::array<double, 8> elements_per_us;

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
  double general_us;                 // start_us of every_type's smem
  double general_step_us;            // 16 steps along K of its block, at least
  double general_block_us;           // for each that shares the SM
};

// Measured on an H200: cycles, L2, DRAM (peaks), launch, tiles' efficiency. Fitted to times of
// candidates on an H100, 9700 on 340 problems drawn at random: what tiles' blocks take beside FMAs,
// copies, skinny, the general kernel; within 13 % (root mean square). From times of split_fp16: its
// constants.
inline constexpr architecture kHopper{
    .compute_capability = 90,
    .cycles_per_us = 1980,
    .fmas_per_cycle = 128,
    .l2_bytes_per_us = 5.5e6,
    .dram_bytes_per_us = 4.6e6,
    .a_bytes_per_us = 2.17e6,
    .a_again_bytes_per_us = 3.69e6,
    .copy_bytes_per_us = 3.79e6,
    .copy_us = 2.05,
    .launch_us = 2.5,
    .start_us = 4.05,
    .wave_us = 2.82,
    .fixup_us = 2.23,
    .part_us = 1,
    .part_bytes_per_us = 0.104e6,
    .tile_efficiency = {0.748, 0.79, 0.755, 0.745, 0.653, 0.525, 0.77, 0.748},
    .pipelined_efficiency = 0.81,
    .alone = {1, 0.473, 1, 0.744, 1, 0.955, 0.9, 0.644},
    .ragged = {0.979, 0.97, 0.935, 0.859, 0.794, 0.744, 1, 0.92},
    .overhang = 0.616,
    .stored_bytes_per_us = 40e3,
    .elements_per_us = {5810, 4600, 21.5e3, 38.7e3, 0.216e6, 0.101e6, 4950, 5000},
    .strips_us = {0.00914, 0.0573, 0.0482, 0.118},
    .dots_us = {0.0166, 0.0463, 0.0706, 0.11},
    .block_us = {0.0289, 0.00588, 0.589, 0.341},
    .ragged_stages = 1.27,
    .stage_sums_us = {0.00209, 0.101, 0.0714, 0.117},
    .beside_us = 1.49,
    .split_flops_per_us = 260e6,
    .split_pass_bytes_per_us = 3.7e6,
    .split_us = 20,
    .split_share_us = 1.3,
    .split_stored_bytes_per_us = 1.4e6,
    .split_ragged_bytes_per_us = 0.45e6,
    .general_us = 1.93,
    .general_step_us = 0.726,
    .general_block_us = 0.175};

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

// The limits of a launch, and messages if it exceeds them. Both devices share this code and CUDA's
// words, so that a mistake gives the same message with and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace kzoo {

// For compute capability 7.0 and later; the opt-in maximum is for 9.0.
struct launch_limits {
  unsigned block_threads = 1024;
  unsigned block_z = 64;
  unsigned grid_x = 2147483647;
  unsigned grid_yz = 65535;
  std::size_t shared = std::size_t{48} * 1024;  // bytes a kernel may use without asking
  std::size_t shared_opt_in =
      std::size_t{227} * 1024;  // bytes it may use after allow_dynamic_shared
};

namespace detail {

inline constexpr const char* kInvalidConfiguration =
    "launch failed: cudaErrorInvalidConfiguration (invalid configuration argument): ";
inline constexpr const char* kInvalidValue =
    "launch failed: cudaErrorInvalidValue (invalid argument): ";

template <class Dim3>
std::string shape_text(const Dim3& d) {
  char text[40];
  std::snprintf(text, sizeof text, "(%u,%u,%u)", d.x, d.y, d.z);
  return text;
}

// Empty if grid and block are within the limits, else the whole message.
template <class Dim3>
std::string shape_problem(const Dim3& grid, const Dim3& block, unsigned max_threads,
                          const launch_limits& limits = {}) {
  const auto bad = [](const std::string& what) { return kInvalidConfiguration + what; };
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return bad("empty grid " + shape_text(grid));
  if (block.x == 0 || block.y == 0 || block.z == 0) return bad("empty block " + shape_text(block));
  if (block.z > limits.block_z) {
    return bad("block.z " + std::to_string(block.z) + " > " + std::to_string(limits.block_z));
  }
  // z is at most 64 here, and the product of x and y fits 64 bits; past 32 bits z does not matter.
  const std::uint64_t plane = static_cast<std::uint64_t>(block.x) * block.y;
  const std::uint64_t threads = plane > UINT32_MAX ? plane : plane * block.z;
  if (threads > limits.block_threads) {
    return bad(std::to_string(threads) + " threads per block > " +
               std::to_string(limits.block_threads));
  }
  if (grid.x > limits.grid_x) {
    return bad("grid.x " + std::to_string(grid.x) + " > " + std::to_string(limits.grid_x));
  }
  if (grid.y > limits.grid_yz || grid.z > limits.grid_yz) {
    const bool y = grid.y > limits.grid_yz;
    return bad((y ? "grid.y " : "grid.z ") + std::to_string(y ? grid.y : grid.z) + " > " +
               std::to_string(limits.grid_yz));
  }
  if (max_threads != 0 && threads > max_threads) {
    return "launch failed: " + std::to_string(threads) +
           " threads per block where the kernel is built for at most " +
           std::to_string(max_threads);
  }
  return {};
}

// A cluster's blocks are neighbours in the grid, which therefore holds whole clusters.
template <class Dim3>
std::string cluster_problem(const Dim3& grid, const Dim3& cluster) {
  constexpr unsigned kPortable = 8;  // maximum on every device with clusters
  const auto bad = [&](const std::string& what) {
    return kInvalidConfiguration + ("cluster " + shape_text(cluster)) + what;
  };
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) return bad(" is empty");
  if (cluster.x > kPortable || cluster.y > kPortable || cluster.z > kPortable ||
      cluster.x * cluster.y * cluster.z > kPortable) {
    return bad(" has more than " + std::to_string(kPortable) + " blocks");
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return bad(" does not divide the grid " + shape_text(grid));
  }
  return {};
}

// `fixed`: bytes of the kernel's own __shared__ variables. `allowed`: its current limit of dynamic
// bytes.
inline std::string shared_problem(std::size_t dynamic, std::size_t fixed, std::size_t allowed) {
  if (dynamic <= allowed) return {};
  std::string text = kInvalidValue + std::to_string(dynamic) + " bytes of dynamic shared memory";
  if (fixed != 0) text += " beside " + std::to_string(fixed) + " static ones";
  return text + " > " + std::to_string(allowed) +
         " allowed for this kernel: call kzoo::allow_dynamic_shared(kernel, bytes) before";
}

inline std::string opt_in_problem(std::size_t bytes, std::size_t most) {
  if (bytes <= most) return {};
  return "allow_dynamic_shared failed: cudaErrorInvalidValue (invalid argument): " +
         std::to_string(bytes) + " bytes of dynamic shared memory > " + std::to_string(most) +
         " on this device";
}

}  // namespace detail
}  // namespace kzoo

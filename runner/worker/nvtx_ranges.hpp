#pragma once
// Names on the timeline of Nsight Systems, and for the filters of Nsight Compute, in the NVTX
// domain "kernel-zoo". Where no tool is attached a range is two tests of a pointer, and none is
// inside what is timed; a build without CUDA has none.

#ifdef KZOO_NVTX

#include <nvtx3/nvtx3.hpp>

namespace kzoo::worker {

struct nvtx_domain {
  static constexpr const char* name = "kernel-zoo";
};

// To the end of the block; ranges of a thread nest.
using phase_range = nvtx3::scoped_range_in<nvtx_domain>;
// As long as the object lives, whatever begins or ends meanwhile.
using cell_range = nvtx3::unique_range_in<nvtx_domain>;

}  // namespace kzoo::worker

#else

#include <string>

namespace kzoo::worker {

struct phase_range {
  explicit phase_range(const std::string&) {}
};
struct cell_range {
  explicit cell_range(const std::string&) {}
};

}  // namespace kzoo::worker

#endif

#pragma once
// NVTX ranges in the domain "kernel-zoo", for Nsight Systems' timeline and Nsight Compute's
// filters. Without a tool a range costs two tests of a pointer. No range is inside a timed region.
// A build without CUDA has none.

#ifdef KZOO_NVTX

#include <nvtx3/nvtx3.hpp>

namespace kzoo::worker {

struct nvtx_domain {
  static constexpr const char* name = "kernel-zoo";
};

// Until the end of the scope; a thread's ranges nest.
using phase_range = nvtx3::scoped_range_in<nvtx_domain>;
// Lasts as long as the object; such ranges may overlap.
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

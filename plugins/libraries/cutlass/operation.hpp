#pragma once
// One of CUTLASS's kernels as the plugin uses it. What CUTLASS includes takes a minute to compile,
// so each group of kernels has a source file of its own, and nothing of it is in this header.

#include <kzoo/abi.h>

#include <cstddef>

namespace zoo_cutlass {

struct operation {
  // Bytes of device memory that `run` needs as arguments.workspace.
  std::size_t (*workspace_bytes)(const kzoo_problem&, const kzoo_device&);
  // Enqueues the product, or all products of a batch or of groups. Throws kzoo::error with
  // CUTLASS's reason.
  void (*run)(const kzoo_problem&, const kzoo_device&, const kzoo_arguments&);
};

// fp32 on CUDA cores, any size.
extern const operation kSimt;
// mma.sync with cp.async stages, as on sm_80.
extern const operation kTensorOpTf32;
extern const operation kTensorOpBf16;
// wgmma and TMA, warp-specialized, from the collective builder.
extern const operation kCooperativeBf16;
extern const operation kPingpongBf16;
extern const operation kCooperativeTf32;
extern const operation kCooperativeFp8;
// The same kernels for groups of rows.
extern const operation kGroupedCooperativeBf16;
extern const operation kGroupedCooperativeAcrossBf16;
extern const operation kGroupedPingpongBf16;

}  // namespace zoo_cutlass

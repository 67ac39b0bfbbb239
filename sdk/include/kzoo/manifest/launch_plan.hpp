#pragma once
// A launch for one problem: the manifest's expressions, evaluated. Pure, for any thread.

#include <kzoo/abi.h>
#include <kzoo/manifest/kernel_manifest.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kzoo::manifest {

struct launch_plan {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::size_t dynamic_shared = 0, workspace = 0;  // bytes
  std::vector<std::int64_t> values;               // of the variant's arguments; 0 for other kinds
};

// Throws kzoo::error(KZOO_UNSUPPORTED) with the reason if the kernel rejects the problem or cannot
// be launched for it.
launch_plan plan_launch(const kernel_variant& v, const kzoo_problem& p, const kzoo_device& d);

}  // namespace kzoo::manifest

#pragma once
// The data packed behind this library in its file.

#include <kzoo/manifest/kernel_manifest.hpp>

#include <string>

namespace kzoo::manifest {

struct payload {
  kernel_manifest manifest;
  std::string kernels;  // a cubin, a fatbin or PTX
};

// Reads this library's file. Throws std::runtime_error if nothing whole is packed there.
payload own_payload();

}  // namespace kzoo::manifest

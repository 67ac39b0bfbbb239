#pragma once
// The CUDA half of devices.hpp: implemented in cuda/ when the build has CUDA, in no_cuda.cpp if
// not.

#include "devices/devices.hpp"

namespace kzoo::devices {

std::vector<results::device> list_cuda();
std::uint64_t free_cuda_memory(int ordinal);

}  // namespace kzoo::devices

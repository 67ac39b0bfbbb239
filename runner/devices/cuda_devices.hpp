#pragma once
// The CUDA half of devices.hpp: in cuda/, or in no_cuda.cpp if the build has no CUDA.

#include "devices/devices.hpp"

namespace kzoo::devices {

std::vector<results::device> list_cuda();
std::uint64_t free_cuda_memory(int ordinal);

}  // namespace kzoo::devices

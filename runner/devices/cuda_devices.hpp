#pragma once
// The CUDA half of devices.hpp: implemented in cuda/ if the build has CUDA, otherwise in
// no_cuda.cpp.

#include "devices/devices.hpp"

namespace kzoo::devices {

std::vector<results::device> list_cuda();
std::uint64_t free_cuda_memory(int ordinal);

}  // namespace kzoo::devices

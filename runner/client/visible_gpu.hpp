#pragma once
// Hides the GPUs that a worker does not need.

#include "results/device.hpp"

#include <string>
#include <string_view>

namespace kzoo::client {

// CUDA_VISIBLE_DEVICES for a process that sees only one GPU, as cuda:0. `ours`: its value in this
// process. `ordinal`: the GPU's number here. Returns entry `ordinal` of `ours` or, if `ours` is
// empty, the number itself: both processes order the GPUs alike.
std::string visible_alone(std::string_view ours, int ordinal);

// "CUDA_VISIBLE_DEVICES=…"; "" for the CPU, and if no other GPU is visible.
std::string hiding_all_but(const results::device& d);

}  // namespace kzoo::client

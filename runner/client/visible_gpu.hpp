#pragma once
// Hides the GPUs of this machine that a worker has no business with.

#include "results/device.hpp"

#include <string>
#include <string_view>

namespace kzoo::client {

// What CUDA_VISIBLE_DEVICES must be in a process that is to see one GPU alone, as its cuda:0.
// `ours` is what it is here, and `ordinal` the GPU's number here: with it, the entry of that
// number; without it ("" or not set), the number itself, since both processes order the GPUs alike.
std::string visible_alone(std::string_view ours, int ordinal);

// That as a setting, "CUDA_VISIBLE_DEVICES=…"; "" for the CPU, and where no other GPU can be seen.
std::string hiding_all_but(const results::device& d);

}  // namespace kzoo::client

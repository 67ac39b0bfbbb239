#pragma once
// Which devices this machine has, and what they are.

#include "results/device.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::devices {

// A device that was asked for is not there. what() is two sentences: why, and what to do.
class absent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// cpu first, then the GPUs.
std::vector<results::device> list();

// "cpu", "cuda", "cuda:N", or "auto": the first GPU, else the CPU. "cuda:all" is the first GPU
// here. Throws absent.
results::device find(const std::string& name);

// All that a run on "cuda:all" is spread over; for any other name the one of find(). Throws absent,
// and std::invalid_argument where they are of several models.
std::vector<results::device> find_all(const std::string& name);
// The latter.
void check_one_model(const std::vector<results::device>& all);

// One sentence why there is no CUDA device, one what to do; empty when there is one.
std::string why_no_cuda();

// Bytes of device memory that can be allocated now.
std::uint64_t free_memory(const results::device& d);

// "cpu" or "cuda": the folder that a device's plugins are in.
const char* kind_name(kzoo_device_kind kind);

}  // namespace kzoo::devices

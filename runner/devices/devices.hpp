#pragma once
// Finds and describes the devices of this machine.

#include "results/plugin.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::devices {

// A requested device does not exist. what() is two sentences: why, and what to do.
class absent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The CPU, then the GPUs.
std::vector<results::device> list();

// `name`: "cpu", "cuda:N"; "cuda" and "cuda:all": the first GPU; "auto": the first GPU, else the
// CPU. Throws absent.
results::device find(const std::string& name);

// All GPUs for "cuda:all", else find(). Throws absent, and like check_one_model().
std::vector<results::device> find_all(const std::string& name);
// Throws std::invalid_argument if the devices are of several models.
void check_one_model(const std::vector<results::device>& all);

// Why there is no CUDA device, and what to do, in one sentence each; absent if there is one.
std::optional<std::string> why_no_cuda();

// Bytes of device memory that can be allocated now.
std::uint64_t free_memory(const results::device& d);

// "cpu" or "cuda": also the folder of the plugins for this kind of device.
const char* kind_name(kzoo_device_kind kind);

// The CUDA half: in cuda/, or in devices.cpp if the build has no CUDA.
std::vector<results::device> list_cuda();
std::uint64_t free_cuda_memory(int ordinal);

}  // namespace kzoo::devices

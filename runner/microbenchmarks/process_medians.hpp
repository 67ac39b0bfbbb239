#pragma once
// The times of one product at several sizes in a process of its own: what timing::process_spread of
// a GPU is measured with. On a CPU, whatever else the machine does differs more than processes do.

#include "results/device.hpp"
#include "timing/process_spread.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::microbenchmarks {

// The first argument of such a process; the second is the device's id.
inline constexpr std::string_view kProductsCommand = "__time_products";
// Writes one line for each size to stdout. Returns the exit code.
int time_products(std::string_view device_id);

// What one process has written, by size. Throws devices::failure with the output if it is something
// else.
std::vector<timing::process_median> read_medians(const std::string& output);

// Enqueues C = A B for row-major n x n matrices, n a multiple of 32, on the stream of a backend.
void enqueue_product(const float* a, const float* b, float* c, int n, void* stream);

}  // namespace kzoo::microbenchmarks

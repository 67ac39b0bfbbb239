#pragma once
// Times one GEMM at several sizes in a separate process, to measure a GPU's timing::process_spread.
// On a CPU other load causes larger differences than processes do.

#include "results/device.hpp"
#include "timing/process_spread.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::microbenchmarks {

// The first argument of such a process.
inline constexpr std::string_view kProductsCommand = "__time_products";
// The command line that starts `program`, a runner, for a device.
std::vector<std::string> products_command(const std::string& program, const std::string& device_id);
// The main function of the process. `request`: its last argument.
int time_products(std::string_view request);

// Medians by size from a process's output. Throws failure, also for malformed output.
std::vector<timing::process_median> read_medians(const std::string& output,
                                                 const std::string& how_ended);

// Enqueues C = A B for row-major n x n matrices, n a multiple of 32, on the stream of a backend.
void enqueue_product(const float* a, const float* b, float* c, int n, void* stream);

}  // namespace kzoo::microbenchmarks

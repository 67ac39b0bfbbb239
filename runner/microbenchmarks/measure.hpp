#pragma once
// Kernels that saturate one resource of a device, and the peaks that are measured with them.

#include "devices/devices.hpp"
#include "results/plugin.hpp"
#include "roofline/roofline.hpp"
#include "timing/summary.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::microbenchmarks {

struct run_time {
  double seconds = 0;
  double clock_mhz = 0;  // SM clock; 0: unknown
};

struct microbenchmark {
  roofline::resource resource{};
  std::string kernel;         // what it runs, in words
  double amount = 0;          // operations or bytes of one repetition
  double sample_seconds = 0;  // long enough to make launch costs negligible
  std::function<run_time(std::int64_t repetitions)> run;
};

// All microbenchmarks of a device. Shared resources, such as memory, live as long as any of them.
// all() and run() may throw devices::failure.
std::vector<microbenchmark> all(const results::device& d);
std::vector<microbenchmark> on_cpu();
std::vector<microbenchmark> on_cuda(
    const results::device& d);  // devices::absent in a build without CUDA

// After a warm-up, in which clocks settle, takes half of the samples back to back. The other half
// follows pauses, like short kernels on a cooler device: a peak must hold for both. Takes more
// after pauses, up to five times as many in all, until three agree on the best.
struct schedule {
  double warmup_seconds = 0.3;
  int samples = 10;  // in each half
  double pause_seconds = 0.02;
};

roofline::measured_peak measure(const microbenchmark& b, const schedule& how = {});

// A device's peaks before any measurement: its name and the facts under which they hold.
roofline::peaks peaks_for(const results::device& d);

// Times one GEMM at several sizes in a separate process, to measure a GPU's timing::process_spread.
// On a CPU other load causes larger differences than processes do. Such a process has this first
// argument.
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

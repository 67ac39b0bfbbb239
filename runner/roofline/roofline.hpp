#pragma once
// The roofline model (Williams, Waterman, Patterson 2009): a device's measured peaks, the lower
// bound that they set for the time of a problem, and times below it.

#include "core/problem.hpp"
#include "os/enums.hpp"
#include "timing/summary.hpp"

#include <kzoo/abi.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::roofline {

// fp32, fp64, int32: FMAs of CUDA cores or of a CPU's vector units. tf32, fp16, bf16: tensor cores
// with such inputs and fp32 accumulators. Others: memory traffic by reading DRAM, copying within
// DRAM (bytes read and written both count), or reading the L2.
KZOO_ENUM(resource, fp32, fp64, int32, tf32, fp16, bf16, read, copy, l2_read);
// "FLOP", "OP" or "B": the unit of a rate, per second.
std::string_view unit_of(resource r);
// The resource that bounds kernels of this precision; nothing for fp64, fp8 and fp16 accumulators.
std::optional<resource> resource_of(kzoo_precision precision);
// Products of the resource per product: 3 for fp32_split and fp32_normwise, else 1.
double products_of(kzoo_precision precision);

// The speed of one sample. An FMA is two operations.
struct pace {
  double rate = 0;       // operations or bytes per second
  double clock_mhz = 0;  // SM clock during the sample; 0: unknown
};

struct measured_peak {
  roofline::resource resource{};
  std::string kernel;  // what the microbenchmark ran, in words
  pace best;
  double spread = 0;          // (best - slowest) / best, over all samples
  std::vector<pace> samples;  // in the order taken; not stored with results
};

// None comes from a data sheet.
struct peaks {
  std::string device;                        // its name
  std::map<std::string, std::string> facts;  // conditions under which the peaks hold
  std::string measured;                      // UTC, ISO 8601
  std::vector<measured_peak> all;            // several if a resource has several microbenchmarks
  // How much times differ between processes; absent: not measured.
  std::optional<timing::process_spread> spread{};

  // The highest peak of a resource; null: not measured.
  const measured_peak* find(resource r) const;
  // The highest peak in this precision, in operations per second; nothing: not measured.
  std::optional<double> peak(kzoo_precision precision) const;
};

// The lower bound: max(operations / peak, compulsory bytes / bandwidth).
struct floor {
  double ms = 0;
  roofline::resource resource{};  // the limiting resource: arithmetic or memory
  double amount = 0;              // operations or bytes
  double rate = 0;                // its measured peak: per second
};

// Counts 2 M N K operations in the declared precision. Cold caches add compulsory DRAM traffic:
// reading each input, reading C if beta is not 0, and writing C. As much of C as fits in the L2 may
// stay there when timing ends, and does not count. Nothing if no peak applies, or if alpha is 0.
std::optional<floor> floor_of(const peaks& measured, const problem& p, kzoo_precision declared,
                              bool cold_cache);

// The arithmetic peak in operations per second of the problem; nothing: no measured peak bounds it,
// and the floor is only the memory traffic's.
std::optional<double> peak_of(const peaks& measured, const problem& p, kzoo_precision declared);

// Operations per byte of the compulsory traffic with a cold cache.
double intensity_of(const peaks& measured, const problem& p);
// The memory rate that the floor uses; nothing: not measured.
std::optional<double> memory_rate(const peaks& measured);

// "53.4 TFLOP/s".
std::string rate_text(resource r, double per_second);
// "137 GFLOP at the measured 53.4 TFLOP/s".
std::string text_of(const floor& f);

// Peaks are measured, hence not exact: a time may be below its floor by this share.
inline constexpr double kTolerance = 0.02;
bool is_below(double ms, const floor& f);

// Tells the kernel's author why a time below the floor is refused.
std::string why_impossible(double ms, const floor& f, kzoo_precision declared);

}  // namespace kzoo::roofline

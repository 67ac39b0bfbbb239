#pragma once
// Measured peak rates of a device's resources: the roofs of the roofline model (Williams, Waterman,
// Patterson 2009). None comes from a data sheet.

#include "timing/process_spread.hpp"

#include <kzoo/abi.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::roofline {

// fp32, fp64, int32: FMAs of CUDA cores or of a CPU's vector units. tf32, fp16, bf16: tensor cores
// with such inputs and fp32 accumulators. Others: memory traffic by reading DRAM, copying within
// DRAM (bytes read and written both count), or reading the L2.
enum class resource { fp32, fp64, int32, tf32, fp16, bf16, read, copy, l2_read };
inline constexpr std::array kResources{resource::fp32, resource::fp64, resource::int32,
                                       resource::tf32, resource::fp16, resource::bf16,
                                       resource::read, resource::copy, resource::l2_read};
std::string_view resource_name(resource r);
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

}  // namespace kzoo::roofline

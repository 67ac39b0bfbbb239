#pragma once
// The peak rates of a device, resource by resource: the roofs of the roofline model (Williams,
// Waterman, Patterson 2009). All of them are measured; none comes from a data sheet.

#include "timing/process_spread.hpp"

#include <kzoo/abi.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::roofline {

// fp32, fp64, int32: FMAs of the CUDA cores, or of a CPU's vector units. tf32, fp16, bf16: tensor
// cores with such inputs and fp32 accumulators. The others are memory traffic: reading DRAM,
// copying within DRAM (bytes read and bytes written both count), reading the L2.
enum class resource { fp32, fp64, int32, tf32, fp16, bf16, read, copy, l2_read };
inline constexpr std::array kResources{resource::fp32, resource::fp64, resource::int32,
                                       resource::tf32, resource::fp16, resource::bf16,
                                       resource::read, resource::copy, resource::l2_read};
std::string_view resource_name(resource r);
// "FLOP", "OP" or "B": the unit of which a rate has so many per second.
std::string_view unit_of(resource r);
// The resource that a kernel of this declared precision computes with; nothing for an unknown one.
std::optional<resource> resource_of(kzoo_precision precision);
// How many products of that resource one product of the precision takes at least: 3 fp16 products
// for one of fp32_split, 1 for all others.
double products_of(kzoo_precision precision);

// The speed of one sample. An FMA is two operations.
struct pace {
  double rate = 0;       // operations or bytes per second
  double clock_mhz = 0;  // SM clock during the sample; 0: not known
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
  std::map<std::string, std::string> facts;  // what must be the same for them to hold
  std::string measured;                      // UTC, ISO 8601
  std::vector<measured_peak> all;            // several for a resource with several microbenchmarks
  // How much times differ from process to process; absent: not measured.
  std::optional<timing::process_spread> spread{};

  // The highest peak of a resource; null: not measured.
  const measured_peak* find(resource r) const;
  // The highest peak in this precision, in operations per second; nothing: not measured.
  std::optional<double> peak(kzoo_precision precision) const;
};

}  // namespace kzoo::roofline

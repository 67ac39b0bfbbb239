#pragma once
// How fast a device was seen to be, resource by resource: the roof over every kernel on it
// (Williams, Waterman, Patterson 2009). All of it is measured; no data sheet is asked.

#include <kzoo/abi.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::roofline {

// fp32, fp64, int32: multiply-adds of ordinary cores. tf32, fp16, bf16: tensor cores that take such
// inputs and sum in fp32. The others are traffic: DRAM that is read, DRAM that is copied (read and
// written both count), L2 that is read.
enum class resource { fp32, fp64, int32, tf32, fp16, bf16, read, copy, l2_read };
inline constexpr std::array kResources{resource::fp32, resource::fp64, resource::int32,
                                       resource::tf32, resource::fp16, resource::bf16,
                                       resource::read, resource::copy, resource::l2_read};
std::string_view resource_name(resource r);
// "FLOP", "OP" or "B": what there is so many of, per second.
std::string_view unit_of(resource r);
// What computes where this is declared; nothing for a precision that is not known.
std::optional<resource> resource_of(kzoo_precision precision);

// How fast one sample was. A multiply-add is two operations.
struct pace {
  double rate = 0;       // operations or bytes per second
  double clock_mhz = 0;  // of the multiprocessors meanwhile; 0 where it is not known
};

struct measured_peak {
  roofline::resource resource{};
  std::string kernel;  // what was run, in words
  pace best;
  double spread = 0;          // how far below the best the slowest sample is, as a share of it
  std::vector<pace> samples;  // in the order taken; results do not keep them
};

struct peaks {
  std::string device;                        // its name
  std::map<std::string, std::string> facts;  // what else must be the same for them to hold
  std::string measured;                      // UTC, ISO 8601
  std::vector<measured_peak> all;            // a resource may have several, by different kernels

  // The highest of a resource; null where it was not measured.
  const measured_peak* find(resource r) const;
  // Of what computes in this precision; nothing where that was not measured.
  std::optional<double> peak(kzoo_precision precision) const;
};

}  // namespace kzoo::roofline

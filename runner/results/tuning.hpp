#pragma once
// Kernels that come in many sizes: the parameters that they are tuned over.

#include "core/location.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

struct tuned_parameter {
  std::string name;
  std::vector<std::int64_t> values;
  location where;
};

// The parameters with all the values that are tried, and what must hold of them.
struct tuning_space {
  struct restriction {
    std::string text;  // an expression of the parameters, which is not 0
    location where;
  };
  std::vector<tuned_parameter> parameters;
  std::vector<restriction> restrictions;
  location where;
};

struct parameter_value {
  std::string name;
  std::int64_t value = 0;

  bool operator==(const parameter_value&) const = default;
};

// One choice of a value for each parameter.
using tuning_point = std::vector<parameter_value>;

// "BM64_BN128", which names the variant.
std::string point_name(const tuning_point& point);

// The variant of a point: its name where a build of the source has one variant; else the variant's
// own id before it, "rows_BM64_BN128".
bool is_variant_of(std::string_view variant, std::string_view point);

}  // namespace kzoo::results

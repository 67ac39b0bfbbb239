#pragma once
// The tuning parameters of a kernel.

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

// The values of all parameters to try, and the restrictions on them.
struct tuning_space {
  struct restriction {
    std::string text;  // an expression of the parameters that must not be 0
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

// A value for each parameter.
using tuning_point = std::vector<parameter_value>;

// "BM64_BN128", which names the variant.
std::string point_name(const tuning_point& point);

// Whether the variant belongs to a configuration: its id is the name, or, if a build has several
// variants, the variant's own id and the name, "rows_BM64_BN128".
bool is_variant_of(std::string_view variant, std::string_view point);

}  // namespace kzoo::results

#pragma once
// Values of a manifest with their own syntax. Errors are reported where the value stands.

#include "experiment/reader.hpp"

#include <kzoo/manifest/kernel_manifest.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// An expression or a number. Without variables it is checked here, else for each problem.
std::optional<std::string> expression_text(const experiment::value& v, std::int64_t least,
                                           std::int64_t most);

// "A", "B", "C", "workspace", "null", "alpha:f32", "beta", a tensor map, an operand of the
// epilogue, or an expression: "ceil_div(K, 64):i64". `usual`: the default type of expressions.
std::optional<argument> read_argument(const experiment::value& v,
                                      const std::vector<tensor_map>& maps, number_type usual);

// Whether a tensor map may have this name: no other argument may use it.
bool is_map_name(std::string_view name);

}  // namespace kzoo::manifest

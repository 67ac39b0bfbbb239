#pragma once
// Values of a manifest that have a syntax of their own: expressions and arguments. What is wrong is
// reported where the value stands.

#include "experiment/reader.hpp"

#include <kzoo/manifest/kernel_manifest.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// An expression, or a number instead of one. `least` and `most` are checked here where it depends
// on no variable, and otherwise for each problem.
std::optional<std::string> expression_text(const experiment::value& v, std::int64_t least,
                                           std::int64_t most);

// "A", "B", "C", "workspace", "null", "alpha:f32", "beta", the name of a tensor map or of an
// operand of the epilogue, or an expression with the type of the parameter: "ceil_div(K, 64):i64".
// `usual`: that of expressions that name none.
std::optional<argument> read_argument(const experiment::value& v,
                                      const std::vector<tensor_map>& maps, number_type usual);

// Whether a tensor map may have this name: one that no other argument has.
bool is_map_name(std::string_view name);

}  // namespace kzoo::manifest

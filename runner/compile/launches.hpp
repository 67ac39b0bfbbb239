#pragma once
// The host code that starts kernels, as a plugin has it.

#include <string>
#include <string_view>

namespace kzoo::compile {

// The source with its launches, which have <<<>>>, as calls of the SDK, and with the functions of
// CUDA's runtime that the SDK has instead. `simulated`: also with what the simulator has in place
// of `extern __shared__`. Lines keep their numbers.
std::string with_launches_called(std::string_view source, bool simulated);

}  // namespace kzoo::compile

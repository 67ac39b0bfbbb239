// Errors for instructions that are not simulated.
#pragma once

#include <kzoo/cuda.hpp>

#if !defined(KZOO_REAL_CUDA)

#include <string>

namespace kzoo::detail {

// Ends the launch. Ignores the instruction's arguments.
template <class... Arguments>
[[noreturn]] inline void not_simulated(const char* instruction, const Arguments&...) {
  sim::fail((std::string("the simulator does not have ") + instruction).c_str());
}

}  // namespace kzoo::detail

#endif

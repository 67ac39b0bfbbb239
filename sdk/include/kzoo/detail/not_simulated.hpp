// What the simulator answers to instructions that it has no meaning for.
#pragma once

#include <kzoo/cuda.hpp>

#if !defined(KZOO_REAL_CUDA)

#include <string>

namespace kzoo::detail {

// Ends the launch. The arguments are those of the instruction, and are not looked at.
template <class... Arguments>
[[noreturn]] inline void not_simulated(const char* instruction, const Arguments&...) {
  sim::fail((std::string("the simulator does not have ") + instruction).c_str());
}

}  // namespace kzoo::detail

#endif

#pragma once
// Files of compiled kernels: cubins, fatbins, PTX.

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// Why CUDA cannot load the file, from its first bytes and length; "" if it may.
std::string flaw_in(std::string_view bytes);

// The mangled names in a cubin or PTX. None for a fatbin, whose parts are compressed.
std::vector<std::string> kernel_names(std::string_view bytes);

// Kernels that match `entry`: "_Z5sgemmILi64EEvPf", or in C++ "sgemm<64>" or "void
// sgemm<(int)64>(float*)". Ignores function parameters and the types of numbers.
std::vector<std::string> kernels_called(const std::string& entry,
                                        const std::vector<std::string>& names);

}  // namespace kzoo::manifest

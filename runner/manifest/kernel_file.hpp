#pragma once
// Files of compiled kernels: cubins, fatbins, PTX.

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::manifest {

// Why the file holds no kernels that CUDA could load, as far as its first bytes and its length
// tell; "" if it may. The driver checks the rest.
std::string flaw_in(std::string_view bytes);

// The names in a cubin or PTX, mangled as there. None for a fatbin, whose parts are compressed.
std::vector<std::string> kernel_names(std::string_view bytes);

// Those that `entry` names: "_Z5sgemmILi64EEvPf", or as C++ has it, "sgemm<64>" or
// "void sgemm<(int)64>(float*)", of which parameters and the types of numbers do not matter.
std::vector<std::string> kernels_called(const std::string& entry,
                                        const std::vector<std::string>& names);

}  // namespace kzoo::manifest

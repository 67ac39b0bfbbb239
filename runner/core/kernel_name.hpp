#pragma once
// Names of __global__ functions, for people.

#include <string>

namespace kzoo {

// Demangles like c++filt; returns other names unchanged.
std::string demangled(const std::string& name);
// Shortens "void (anonymous namespace)::f<(int)8, float>(T1)" to "f<8, float>".
std::string short_kernel_name(std::string demangled);

}  // namespace kzoo

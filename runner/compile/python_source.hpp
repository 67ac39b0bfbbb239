#pragma once
// A Python file that has CUDA C++ in its strings, as PyTorch's load_inline takes it.

#include <string>
#include <string_view>

namespace kzoo::compile {

// The code in the strings that have a kernel or include a header, in the lines that it has there,
// and its `# kzoo:` lines. What `functions=[…]` names is bound. "": no string has a kernel.
std::string cuda_code_in(std::string_view python);

}  // namespace kzoo::compile
